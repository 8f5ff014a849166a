"""Blobs in memory: the twin for tests and notebooks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from stores.blobs.keys import checked_key
from tributary.domain.errors import NotFound

PIECE_BYTES = 256 * 1024


class MemoryBlobs:
    """Implements `BlobStore` for one process."""

    remote = False

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put_file(self, key: str, path: Path) -> None:
        data = await asyncio.to_thread(path.read_bytes)
        self._blobs[checked_key(key)] = data

    async def get(self, key: str) -> bytes:
        try:
            return self._blobs[checked_key(key)]
        except KeyError as error:
            raise NotFound("stored file", key) from error

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        data = await self.get(key)
        for start in range(0, len(data), PIECE_BYTES):
            yield data[start : start + PIECE_BYTES]

    async def delete(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._blobs.pop(checked_key(key), None)

    async def check(self) -> None:
        """Memory is always there."""
