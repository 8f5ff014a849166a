"""Prints by how many bytes a process grows at most while it receives a file of 50 MB and stores it.

    python -m tests.support.upload_growth DIR [ENDPOINT BUCKET]

The peak is the kernel's own count of this process (Linux), so no moment is missed.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from stores.blobs.disk import DiskBlobs
from stores.blobs.s3 import S3Blobs
from stores.protocols.blobs import BlobStore
from tests.support.s3 import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY
from tributary.domain.attachments import MAX_FILE_BYTES
from tributary.files.receive import receive_stream

CHUNK = bytes(range(256)) * 256


async def body(size: int) -> AsyncIterator[bytes]:
    """A request body as it comes from the network: pieces of 64 kB."""
    for _ in range(size // len(CHUNK)):
        yield bytes(bytearray(CHUNK))


def memory(line: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) * 1024


async def upload(blobs: BlobStore, incoming: Path, key: str, size: int) -> None:
    staged = incoming / key
    await receive_stream(body(size), staged, limit=MAX_FILE_BYTES)
    await blobs.put_file(key, staged)
    staged.unlink()


async def measure(root: Path, s3: list[str]) -> int:
    disk = DiskBlobs(root)
    await disk.check()
    blobs: BlobStore = disk
    if s3:
        blobs = S3Blobs(
            disk,
            bucket=s3[1],
            endpoint=s3[0],
            region=REGION,
            access_key_id=ACCESS_KEY_ID,
            secret_access_key=SECRET_ACCESS_KEY,
        )
    await upload(blobs, disk.incoming, "first", 2**20)  # connections, threads and imports are there after it
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    await upload(blobs, disk.incoming, "second", MAX_FILE_BYTES)
    return memory("VmHWM") - before


if __name__ == "__main__":
    sys.stdout.write(str(asyncio.run(measure(Path(sys.argv[1]), sys.argv[2:]))))
    sys.stdout.flush()
    # The S3 client's own threads may still be letting go of Python objects; an interpreter that is taken down under
    # them aborts now and then, after all is measured.
    os._exit(0)
