"""Stored files stay readable while a backup is written, whoever deletes them."""

import os
import time
from pathlib import Path

import pytest

from stores.blobs.pins import Pins
from tributary.files.durable import remove_leftovers


def store(root: Path, key: str, data: bytes = b"bytes") -> Path:
    path = root / "blobs" / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def contents(pins: Pins) -> dict[str, bytes]:
    return {pinned.key: pinned.path.read_bytes() for pinned in pins.pinned()}


@pytest.mark.parametrize("links", [True, False])
def test_a_pinned_file_outlives_its_deletion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool) -> None:
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    path = store(tmp_path, "documents/a/1")
    pins = Pins(tmp_path)
    assert pins.pin(["documents/a/1", "documents/a/2"]) == {"documents/a/2"}
    path.unlink()
    assert contents(pins) == {"documents/a/1": b"bytes"}
    # The next round still has it, and what was stored meanwhile, and nothing that nobody asks for.
    store(tmp_path, "documents/a/3", b"new")
    assert pins.pin(["documents/a/1", "documents/a/3"]) == set()
    assert contents(pins) == {"documents/a/1": b"bytes", "documents/a/3": b"new"}
    assert pins.pin(["documents/a/3"]) == set()
    assert (list(contents(pins)), pins.count()) == (["documents/a/3"], 1)
    pins.remove()
    assert list((tmp_path / "incoming").iterdir()) == []


def refuse(*_: object) -> None:
    raise PermissionError("no links here")


def test_one_file_of_two_rows_is_pinned_once(tmp_path: Path) -> None:
    store(tmp_path, "documents/a/1")
    pins = Pins(tmp_path)
    assert pins.pin(["documents/a/1"] * 2) == set()
    assert pins.count() == 1


def test_what_a_killed_backup_left_is_a_leftover_and_a_working_one_is_not(tmp_path: Path) -> None:
    store(tmp_path, "documents/a/1")
    pins = Pins(tmp_path)
    pins.pin(["documents/a/1"])
    [folder] = (tmp_path / "incoming").iterdir()
    long_ago = time.time() - 1e6
    os.utime(folder, (long_ago, long_ago))
    list(pins.pinned())
    assert remove_leftovers(tmp_path / "incoming", older_than=1e5) == 0
    os.utime(folder, (long_ago, long_ago))
    assert remove_leftovers(tmp_path / "incoming", older_than=1e5) == 1
