"""Blobs as plain files under a folder.

Written here rather than through obstore's `LocalStore`, which does not put bytes on the disk before it reports
success, and stops a batch of deletions at the first missing key.
"""

import asyncio
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from stores.blobs.keys import checked_key
from tributary.domain.errors import NotFound
from tributary.files.durable import disk_errors, in_thread, sync_folder

PIECE_BYTES = 256 * 1024


class DiskBlobs:
    """Implements `BlobStore`. Files under `incoming` are on the same file system as the blobs: putting one of them
    costs a link and no copy."""

    remote = False

    def __init__(self, root: Path) -> None:
        self._root = root
        self._blobs = root / "blobs"
        #: Where uploads are written before they are blobs.
        self.incoming = root / "incoming"

    async def put_file(self, key: str, path: Path) -> None:
        target = self._path(key)
        try:
            await in_thread(self._put, target, path)
        except asyncio.CancelledError:
            await in_thread(self._delete, [target])
            raise

    async def get(self, key: str) -> bytes:
        with _reading(key):
            return await asyncio.to_thread(self._path(key).read_bytes)

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        with _reading(key):
            file = await asyncio.to_thread(self._path(key).open, "rb")
            try:
                while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                    yield piece
            finally:
                file.close()

    async def delete(self, keys: Sequence[str]) -> None:
        paths = [self._path(key) for key in keys]
        await in_thread(self._delete, paths)

    async def check(self) -> None:
        await asyncio.to_thread(self._probe)

    def _path(self, key: str) -> Path:
        return self._blobs / checked_key(key)

    def _put(self, target: Path, source: Path) -> None:
        with source.open("rb") as file, disk_errors():
            self.incoming.mkdir(parents=True, exist_ok=True)
            target.parent.mkdir(parents=True, exist_ok=True)
            part = self.incoming / f"{secrets.token_hex(16)}.part"
            try:
                self._place(source, file, part)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)  # also when both names were links to one file, which a rename leaves be
            sync_folder(target.parent)

    def _place(self, source: Path, file: IO[bytes], part: Path) -> None:
        """The bytes under a name of ours. Only what is staged here is linked: the file of somebody else could change
        after it was stored."""
        if source.is_relative_to(self.incoming):
            try:
                os.link(source, part)
            except OSError:  # a file system without links
                pass
            else:
                return
        with part.open("xb") as copy:
            shutil.copyfileobj(file, copy, PIECE_BYTES)
            copy.flush()
            os.fsync(copy.fileno())

    def _delete(self, paths: Sequence[Path]) -> None:
        with disk_errors():
            for path in paths:
                path.unlink(missing_ok=True)

    def _probe(self) -> None:
        with disk_errors():
            self.incoming.mkdir(parents=True, exist_ok=True)
            probe = self.incoming / f"{secrets.token_hex(16)}.probe"
            probe.touch()
            probe.unlink()


@contextmanager
def _reading(key: str) -> Iterator[None]:
    with disk_errors():
        try:
            yield
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
            raise NotFound("stored file", key) from error
