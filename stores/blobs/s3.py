"""Blobs on S3 or anything that speaks its protocol, with a copy on the local disk."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from stores.blobs.disk import DiskBlobs
from stores.blobs.keys import checked_key
from tributary.domain.errors import DependencyUnavailable, NotFound

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

logger = logging.getLogger(__name__)

#: S3's least size of a part, and so what an upload holds in memory; smaller files go in one request.
PART_BYTES = 5 * 2**20
READ_BYTES = 2**20
#: More parts at a time would be faster only to a far server, at 5 MB of memory each.
PARTS_AT_A_TIME = 1
RETRIES: "RetryConfig" = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
CONNECT_TIMEOUT = timedelta(seconds=5)
REQUEST_TIMEOUT = timedelta(seconds=60)
PROBE = "readiness-probe"


class UploadStopped(Exception):
    """Raised into an upload whose caller is gone, so that its parts are removed from the bucket."""


class S3Blobs:
    """Implements `BlobStore`. Writes go to the local disk and to the bucket, reads prefer the disk and fall back to
    the bucket, where another machine may have put the blob. Without `local` there is the bucket alone.

    The key needs `s3:ListBucket`, or a missing object can't be told from a forbidden one. Without a key, the
    environment's AWS identity is used.
    """

    remote = True

    def __init__(
        self,
        local: DiskBlobs | None,
        *,
        bucket: str,
        endpoint: str | None = None,
        region: str = "us-east-1",
        access_key_id: str | None = None,
        secret_access_key: str | None = None,
    ) -> None:
        config: S3Config = {"bucket": bucket, "region": region}
        if endpoint:
            config["endpoint"] = endpoint
        if access_key_id and secret_access_key:
            config["access_key_id"] = access_key_id
            config["secret_access_key"] = secret_access_key
        client: ClientConfig = {
            "allow_http": bool(endpoint and endpoint.startswith("http://")),
            "connect_timeout": CONNECT_TIMEOUT,
            "timeout": REQUEST_TIMEOUT,
        }
        self._local = local
        self._store = S3Store(config=config, client_options=client, retry_config=RETRIES)

    async def put_file(self, key: str, path: Path) -> None:
        size = (await asyncio.to_thread(path.stat)).st_size
        if self._local is not None:
            await self._local.put_file(key, path)
        try:
            await self._upload(checked_key(key), path, size)
        except BaseException:
            if self._local is not None:
                await self._local.delete([key])
            raise

    async def get(self, key: str) -> bytes:
        if self._local is not None:
            try:
                return await self._local.get(key)
            except NotFound:
                logger.debug("%s is not on this machine; reading it from the bucket", key)
        with _translated(key):
            result = await obstore.get_async(self._store, checked_key(key))
            return bytes(await result.bytes_async())

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        if self._local is not None:
            try:
                async for piece in self._local.stream(key):
                    yield piece
            except NotFound:  # raised before the first piece
                logger.debug("%s is not on this machine; reading it from the bucket", key)
            else:
                return
        with _translated(key):
            result = await obstore.get_async(self._store, checked_key(key))
            async for part in result.stream(min_chunk_size=READ_BYTES):
                yield bytes(part)

    async def delete(self, keys: Sequence[str]) -> None:
        checked = [checked_key(key) for key in keys]
        if not checked:
            return
        with _translated("of these"):
            await obstore.delete_async(self._store, checked)
        if self._local is not None:
            await self._local.delete(checked)

    async def check(self) -> None:
        if self._local is not None:
            await self._local.check()
        try:
            with _translated(PROBE):
                await obstore.get_async(self._store, PROBE)  # HEAD would not say that it is the bucket that is missing
        except NotFound:
            return  # the answer of a bucket that works

    async def _upload(self, key: str, path: Path, size: int) -> None:
        with _translated(key, writing=True):
            if size <= PART_BYTES:
                data = await asyncio.to_thread(path.read_bytes)
                await obstore.put_async(self._store, key, data, use_multipart=False)
            else:
                await self._upload_parts(key, path)

    async def _upload_parts(self, key: str, path: Path) -> None:
        """An upload that is left removes the parts it has sent: dropping the call would leave them in the bucket,
        unseen and paid for."""
        stopped = threading.Event()
        work = asyncio.ensure_future(
            obstore.put_async(
                self._store,
                key,
                _pieces(path, stopped),
                chunk_size=PART_BYTES,
                max_concurrency=PARTS_AT_A_TIME,
            )
        )
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            stopped.set()
            await asyncio.wait({work})
            if work.exception() is None:
                await obstore.delete_async(self._store, [key])
            raise


async def _pieces(path: Path, stopped: threading.Event) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while piece := await asyncio.to_thread(file.read, READ_BYTES):
            if stopped.is_set():
                raise UploadStopped
            yield piece
    finally:
        file.close()


@contextmanager
def _translated(key: str, *, writing: bool = False) -> Iterator[None]:
    """The driver's errors as ours. A bucket that is missing looks like an object that is; only a read of an object
    can mean the latter."""
    try:
        yield
    except FileNotFoundError as error:
        if writing or "NoSuchBucket" in str(error):
            raise DependencyUnavailable("The object storage's bucket does not exist.") from error
        raise NotFound("stored file", key) from error
    except BaseError as error:
        logger.warning("the object storage failed: %s", type(error).__name__)
        raise DependencyUnavailable("The object storage can't be used right now.") from error
