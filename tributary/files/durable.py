"""Work on the disk that is done to the end: by threads that nobody leaves, and with its bytes on the medium."""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar, TypeVarTuple

from tributary.domain.errors import DependencyUnavailable

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


@contextmanager
def disk_errors() -> Iterator[None]:
    """A disk that is full, gone or read-only as our error. That a name is taken stays what it is: a bug."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise DependencyUnavailable("The file storage can't be used right now.") from error


async def in_thread(function: Callable[[*Ts], T], *arguments: *Ts) -> T:
    """Calls it in a thread and does not return before the thread is done, cancelled or not: nobody may close, remove
    or count on a file that is still being written."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *arguments))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait({work})
        raise


def sync_folder(folder: Path) -> None:
    """Writes a folder's entries to the disk, where the platform can."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_leftovers(folder: Path, *, older_than: float) -> int:
    """Removes what in `folder` nobody changed for `older_than` seconds: files and folders that a killed process had
    begun. How many there were; a missing folder has none."""
    if not folder.is_dir():
        return 0
    removed = 0
    for path in folder.iterdir():
        try:
            stale = time.time() - path.lstat().st_mtime > older_than
        except FileNotFoundError:  # its owner was quicker
            continue
        if stale:
            _remove(path)
            removed += 1
    return removed


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
