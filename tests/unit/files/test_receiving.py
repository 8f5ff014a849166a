"""Uploads on their way to the disk."""

import asyncio
import errno
import hashlib
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, Any

import pytest

from tributary.domain.errors import DependencyUnavailable, EmptyFile, FileTooLarge
from tributary.files.durable import remove_leftovers
from tributary.files.receive import BUFFER_BYTES, Received, receive_stream


async def pieces(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@pytest.mark.parametrize("chunks", [(b"one", b"", b"two"), (b"x" * BUFFER_BYTES, b"y"), (b"z" * 3_000_000,)])
async def test_a_stream_is_stored_with_its_size_and_hash(tmp_path: Path, chunks: tuple[bytes, ...]) -> None:
    received = await receive_stream(pieces(*chunks), tmp_path / "file", limit=2**30)
    data = b"".join(chunks)
    assert (tmp_path / "file").read_bytes() == data
    assert received == Received(len(data), hashlib.sha256(data).hexdigest())


async def test_a_file_of_exactly_the_limit_is_taken(tmp_path: Path) -> None:
    assert (await receive_stream(pieces(b"12345", b"67890"), tmp_path / "file", limit=10)).size == 10


async def test_a_byte_over_the_limit_is_refused_without_reading_on(tmp_path: Path) -> None:
    asked = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            asked.append(1)
            yield b"x" * 1_500_000

    with pytest.raises(FileTooLarge, match=r"larger than 3\.0 MB"):
        await receive_stream(endless(), tmp_path / "file", limit=3 * 2**20)
    assert len(asked) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("chunks", [(), (b"", b"")])
async def test_a_stream_without_bytes_is_refused(tmp_path: Path, chunks: tuple[bytes, ...]) -> None:
    with pytest.raises(EmptyFile):
        await receive_stream(pieces(*chunks), tmp_path / "file", limit=10)
    assert list(tmp_path.iterdir()) == []


async def test_a_stream_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"x" * (BUFFER_BYTES + 1)
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await receive_stream(broken(), tmp_path / "file", limit=2**30)
    assert list(tmp_path.iterdir()) == []


async def test_a_cancelled_upload_leaves_nothing(tmp_path: Path) -> None:
    written = asyncio.Event()

    async def stalled() -> AsyncIterator[bytes]:
        yield b"x" * BUFFER_BYTES
        written.set()
        await asyncio.Event().wait()

    upload = asyncio.create_task(receive_stream(stalled(), tmp_path / "file", limit=2**30))
    await written.wait()
    assert (tmp_path / "file").exists()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        await receive_stream(pieces(b"yours"), tmp_path / "file", limit=10)
    assert (tmp_path / "file").read_bytes() == b"mine"


async def test_a_full_disk_is_told_as_a_store_that_is_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, file: IO[bytes]) -> None:
            self.close = file.close

        def write(self, _: bytes) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    real_open = Path.open

    def full_open(path: Path, mode: str = "r", *arguments: Any) -> Any:
        file = real_open(path, mode, *arguments)
        return Full(file) if mode == "xb" else file

    monkeypatch.setattr(Path, "open", full_open)
    with pytest.raises(DependencyUnavailable):
        await receive_stream(pieces(b"bytes"), tmp_path / "file", limit=10)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_what_is_being_written_stays(tmp_path: Path) -> None:
    for name, age in (("old", 7200), ("new", 0)):
        (tmp_path / name).touch()
        (tmp_path / f"{name} folder").mkdir()
        (tmp_path / f"{name} folder" / "file").touch()
        for path in (tmp_path / name, tmp_path / f"{name} folder"):
            os.utime(path, (time.time() - age,) * 2)
    assert remove_leftovers(tmp_path, older_than=3600) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "new folder"]
    assert remove_leftovers(tmp_path / "missing", older_than=0) == 0
