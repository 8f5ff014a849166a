"""Stored files on their way to a process that reads them by path."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

from stores.protocols.blobs import BlobStore
from tributary.domain.errors import NotFound
from tributary.domain.knowledge import Document
from tributary.files.durable import disk_errors, in_thread

BUFFER_BYTES = 2**20


@asynccontextmanager
async def fetched(blobs: BlobStore, document: Document, folder: Path) -> AsyncIterator[Path]:
    """The document's file as a new one below `folder`, in constant memory, for as long as the block runs.

    Raises:
        NotFound: the file is not where it was stored.
        DependencyUnavailable: the disk is full or can't be written.
    """
    path = folder / f".{uuid4().hex}"
    buffer = bytearray()
    try:
        try:
            async for piece in blobs.stream(document.storage_key):
                buffer += piece
                if len(buffer) >= BUFFER_BYTES:
                    await in_thread(_append, path, bytes(buffer))
                    buffer.clear()
        except NotFound as error:
            raise NotFound("The stored file of document", document.id) from error
        await in_thread(_append, path, bytes(buffer))
        yield path
    finally:
        await in_thread(lambda: path.unlink(missing_ok=True))


def _append(path: Path, data: bytes) -> None:
    """Makes the file with its first piece: a short one is written in one go."""
    with disk_errors():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)
