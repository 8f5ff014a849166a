"""Stored files kept from being deleted while they are copied."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stores.blobs.keys import checked_key

_SEPARATOR = "+"  # in no storage key


@dataclass(frozen=True, slots=True)
class Pinned:
    """A stored file under a second name, which nobody deletes."""

    key: str
    path: Path
    size: int


class Pins:
    """Links to the files of a disk store (`DiskBlobs`) under `root`. A stored file never changes, so a link is a copy
    that costs nothing; where a file system has no links, it is a copy.

    Links are made in rounds. A round holds the keys that it was given, taken from the store or from the round before.
    What a killed process leaves behind is removed with other leftovers of `incoming`.
    """

    def __init__(self, root: Path) -> None:
        self._blobs = root / "blobs"
        self._folder = root / "incoming" / f"backup-{secrets.token_hex(8)}"
        self._round = 0

    def pin(self, keys: Iterable[str]) -> set[str]:
        """A new round of these keys; those that nobody has any more."""
        before, self._round = self._current(), self._round + 1
        self._current().mkdir(parents=True)
        return {key for key in keys if not self._pin(checked_key(key), before)}

    def pinned(self) -> Iterator[Pinned]:
        """The files of the last round."""
        with os.scandir(self._current()) as entries:
            for entry in entries:
                self._stay()
                yield Pinned(entry.name.replace(_SEPARATOR, "/"), Path(entry.path), entry.stat().st_size)

    def count(self) -> int:
        with os.scandir(self._current()) as entries:
            return sum(1 for _ in entries)

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def _current(self) -> Path:
        return self._folder / str(self._round)

    def _pin(self, key: str, before: Path) -> bool:
        name = key.replace("/", _SEPARATOR)
        return _link(self._blobs / key, self._current() / name) or _link(before / name, self._current() / name)

    def _stay(self) -> None:
        """Says that this folder is in use, or it would be taken for a leftover after a day."""
        os.utime(self._folder)


def _link(source: Path, target: Path) -> bool:
    """Whether `source` is there, and now `target` too."""
    try:
        os.link(source, target)
    except FileExistsError:
        return True  # two rows, one file
    except FileNotFoundError:
        return False
    except OSError:  # a file system without links
        return _copy(source, target)
    return True


def _copy(source: Path, target: Path) -> bool:
    try:
        shutil.copyfile(source, target)
    except FileNotFoundError:
        return False
    return True
