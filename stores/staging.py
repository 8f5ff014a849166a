"""Staging on a local disk."""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import TypeVar
from uuid import UUID, uuid4

from tributary.files.durable import disk_errors, in_thread

T = TypeVar("T")

_DIGEST_BYTES = 16
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class DiskStaging:
    """`Staging` under `folder`: one file a product, in `<document>/<revision>/`.

    A file is written beside its place and renamed into it, so that a killed process leaves none cut short; a checksum
    in front finds those that a crash of the whole machine left unwritten.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def read(self, document_id: UUID, revision: int, name: str) -> bytes | None:
        return await _off_the_loop(lambda: _read(self._path(document_id, revision, name)))

    async def write(  # always at once
        self,
        document_id: UUID,
        revision: int,
        name: str,
        data: bytes,
        *,
        at_once: bool = False,  # noqa: ARG002
    ) -> None:
        await _off_the_loop(lambda: _write(self._path(document_id, revision, name), data))

    async def clear(self, document_id: UUID, *, through: int | None = None) -> None:
        await _off_the_loop(lambda: _clear(self._folder / str(document_id), through))

    async def prune(self, unused_for: timedelta) -> int:
        return await _off_the_loop(lambda: _prune(self._folder, time.time() - unused_for.total_seconds()))

    def _path(self, document_id: UUID, revision: int, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} names no product")
        return self._folder / str(document_id) / str(revision) / name


async def _off_the_loop(work: Callable[[], T]) -> T:
    with disk_errors():
        return await in_thread(work)


def _read(path: Path) -> bytes | None:
    try:
        stored = path.read_bytes()
    except FileNotFoundError:
        return None
    data = stored[_DIGEST_BYTES:]
    return data if _digest(data) == stored[:_DIGEST_BYTES] else None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{uuid4().hex}")
    try:
        with beside.open("xb") as file:
            file.write(_digest(data))
            file.write(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def _clear(folder: Path, through: int | None) -> None:
    if through is None:
        shutil.rmtree(folder, ignore_errors=True)
        return
    for revision in _subfolders(folder):
        if revision.name.isdigit() and int(revision.name) <= through:
            shutil.rmtree(revision, ignore_errors=True)
    try:
        folder.rmdir()
    except OSError:
        return  # it is not there, or a newer revision is


def _prune(folder: Path, before: float) -> int:
    unused = [document for document in _subfolders(folder) if _last_written(document) < before]
    for document in unused:
        shutil.rmtree(document, ignore_errors=True)
    return len(unused)


def _last_written(document: Path) -> float:
    """When a file was last put into any of the document's folders."""
    return max((entry.stat().st_mtime for entry in (document, *_subfolders(document))), default=0.0)


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.is_dir()]
    except FileNotFoundError:
        return []
