"""Uploads on their way to the disk, in constant memory."""

import contextlib
import hashlib
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tributary.domain.attachments import human_size
from tributary.domain.errors import EmptyFile, FileTooLarge
from tributary.files.durable import disk_errors, in_thread, sync_folder

#: What is gathered before a thread writes it: large enough that hops between threads don't count.
BUFFER_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Received:
    """A file that is whole and on the disk. `size` in bytes, `sha256` in hexadecimal."""

    size: int
    sha256: str


async def receive_stream(chunks: AsyncIterator[bytes], target: Path, *, limit: int) -> Received:
    """Writes the chunks to the new file `target` and hashes them on the way. Memory holds one buffer of 1 MB and one
    chunk. The bytes are on the disk when it returns; after any error, or when cancelled, nothing is left of them.

    Raises:
        FileTooLarge: there are more than `limit` bytes; what comes behind them is not read.
        EmptyFile: there are none.
        DependencyUnavailable: the disk is full or can't be written.
        FileExistsError: `target` is there already, and stays as it is.
    """
    sink = _Sink(target)
    try:
        size = await _write(chunks, sink, limit)
        await in_thread(sink.settle)
    except BaseException:
        await in_thread(sink.discard)
        raise
    return Received(size, sink.digest.hexdigest())


class _Sink:
    """The file that is being written. Its methods block, and are called one after the other."""

    def __init__(self, target: Path) -> None:
        self.digest = hashlib.sha256()
        self._target = target
        self._file: IO[bytes] | None = None

    def append(self, buffer: bytearray) -> None:
        with disk_errors():
            if self._file is None:
                self._file = self._target.open("xb")
            self._file.write(buffer)
        self.digest.update(buffer)

    def settle(self) -> None:
        """Puts the bytes on the disk, and the entry of their folder: the row that will name the file must not be all
        that a power cut leaves."""
        assert self._file is not None
        with disk_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            sync_folder(self._target.parent)

    def discard(self) -> None:
        if self._file is None:
            return
        with contextlib.suppress(OSError):  # on a full disk closing fails too; what was written goes all the same
            self._file.close()
        self._target.unlink(missing_ok=True)


async def _write(chunks: AsyncIterator[bytes], sink: _Sink, limit: int) -> int:
    buffer = bytearray()
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise FileTooLarge(f"The file is larger than {human_size(limit)}.")
        buffer += chunk
        if len(buffer) >= BUFFER_BYTES:
            await in_thread(sink.append, buffer)
            buffer.clear()
    if size == 0:
        raise EmptyFile("The file is empty.")
    await in_thread(sink.append, buffer)
    return size
