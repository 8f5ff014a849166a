"""What every blob store promises, on memory, on a disk, and on a real S3 endpoint."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest

from stores.blobs.disk import DiskBlobs
from stores.blobs.s3 import PART_BYTES, S3Blobs
from stores.memory.blobs import MemoryBlobs
from stores.protocols.blobs import BlobStore
from tests.support.s3 import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, S3Server
from tributary.domain.errors import DependencyUnavailable, NotFound

BIGGER_THAN_A_PART = b"0123456789abcdef" * (PART_BYTES // 16) + b"and a rest"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    with S3Server() as server:
        yield server


def s3_blobs(server: S3Server, bucket: str, local: DiskBlobs | None) -> S3Blobs:
    return S3Blobs(
        local,
        bucket=bucket,
        endpoint=server.endpoint,
        region=REGION,
        access_key_id=ACCESS_KEY_ID,
        secret_access_key=SECRET_ACCESS_KEY,
    )


@pytest.fixture
def bucket(s3_server: S3Server) -> str:
    return s3_server.new_bucket()


@pytest.fixture(params=["memory", "disk", "s3 and disk", "s3 alone"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    if request.param == "memory":
        return MemoryBlobs()
    if request.param == "disk":
        return DiskBlobs(tmp_path / "storage")
    local = DiskBlobs(tmp_path / "storage") if request.param == "s3 and disk" else None
    return s3_blobs(request.getfixturevalue("s3_server"), request.getfixturevalue("bucket"), local)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(b"the bytes of a file")
    return path


async def pieces(stream: AsyncIterator[bytes]) -> Sequence[bytes]:
    return [piece async for piece in stream]


async def test_what_was_put_comes_back(blobs: BlobStore, source: Path) -> None:
    await blobs.put_file("org/a1", source)
    assert await blobs.get("org/a1") == b"the bytes of a file"
    assert b"".join(await pieces(blobs.stream("org/a1"))) == b"the bytes of a file"


async def test_a_large_blob_comes_back_whole_and_streams_in_bounded_pieces(blobs: BlobStore, source: Path) -> None:
    source.write_bytes(BIGGER_THAN_A_PART)
    await blobs.put_file("org/large", source)
    assert await blobs.get("org/large") == BIGGER_THAN_A_PART
    streamed = await pieces(blobs.stream("org/large"))
    assert b"".join(streamed) == BIGGER_THAN_A_PART
    assert max(map(len, streamed)) <= 4 * 2**20


async def test_a_blob_that_was_put_again_has_the_new_bytes(blobs: BlobStore, source: Path) -> None:
    await blobs.put_file("org/a1", source)
    source.write_bytes(b"other bytes")
    assert await blobs.get("org/a1") == b"the bytes of a file"
    await blobs.put_file("org/a1", source)
    assert await blobs.get("org/a1") == b"other bytes"


async def test_putting_leaves_the_source_where_it_is(blobs: BlobStore, source: Path) -> None:
    await blobs.put_file("org/a1", source)
    assert source.read_bytes() == b"the bytes of a file"


async def test_a_missing_blob_is_not_found_before_the_first_piece(blobs: BlobStore) -> None:
    with pytest.raises(NotFound):
        await blobs.get("org/missing")
    with pytest.raises(NotFound):
        await anext(blobs.stream("org/missing"))


async def test_the_folder_of_a_blob_is_no_blob(blobs: BlobStore, source: Path) -> None:
    await blobs.put_file("org/a1", source)
    with pytest.raises(NotFound):
        await blobs.get("org")


async def test_deleted_blobs_are_gone_and_the_others_stay(blobs: BlobStore, source: Path) -> None:
    for key in ("org/a1", "org/a2", "org/a3"):
        await blobs.put_file(key, source)
    await blobs.delete(["org/a1", "org/a3"])
    for key in ("org/a1", "org/a3"):
        with pytest.raises(NotFound):
            await blobs.get(key)
    assert await blobs.get("org/a2") == b"the bytes of a file"


async def test_deleting_what_is_missing_is_no_error(blobs: BlobStore, source: Path) -> None:
    await blobs.put_file("org/a1", source)
    await blobs.delete(["org/missing", "org/a1", "org/a1"])
    await blobs.delete([])
    with pytest.raises(NotFound):
        await blobs.get("org/a1")


@pytest.mark.parametrize("key", ["", "/a", "a/", "a//b", "../a", "a/../b", "Größe", "A", "a b", ".hidden", "x" * 201])
async def test_a_key_that_is_none_of_ours_is_a_bug(blobs: BlobStore, source: Path, key: str) -> None:
    with pytest.raises(ValueError, match="no storage key"):
        await blobs.put_file(key, source)
    with pytest.raises(ValueError, match="no storage key"):
        await blobs.get(key)


async def test_many_blobs_can_be_written_and_read_at_a_time(blobs: BlobStore, source: Path) -> None:
    keys = [f"org/{number}" for number in range(20)]
    await asyncio.gather(*(blobs.put_file(key, source) for key in keys))
    found = await asyncio.gather(*(blobs.get(key) for key in keys))
    assert set(found) == {b"the bytes of a file"}


async def test_a_store_that_works_passes_its_check(blobs: BlobStore) -> None:
    await blobs.check()


# On the disk


async def test_a_staged_file_becomes_a_blob_without_a_copy(tmp_path: Path) -> None:
    blobs = DiskBlobs(tmp_path)
    await blobs.check()
    staged = blobs.incoming / "upload"
    staged.write_bytes(b"bytes")
    await blobs.put_file("org/a1", staged)
    assert staged.samefile(tmp_path / "blobs" / "org" / "a1")
    await blobs.put_file("org/a1", staged)
    staged.unlink()
    assert await blobs.get("org/a1") == b"bytes"
    assert list(blobs.incoming.iterdir()) == []


async def test_a_file_from_elsewhere_may_change_after_it_was_stored(tmp_path: Path, source: Path) -> None:
    blobs = DiskBlobs(tmp_path / "storage")
    await blobs.put_file("org/a1", source)
    with source.open("r+b") as file:
        file.write(b"XXX")
    assert await blobs.get("org/a1") == b"the bytes of a file"


async def test_a_cancelled_put_leaves_nothing(tmp_path: Path, source: Path) -> None:
    blobs = DiskBlobs(tmp_path / "storage")
    source.write_bytes(bytes(2**25))
    put = asyncio.create_task(blobs.put_file("org/a1", source))
    await asyncio.sleep(0)
    put.cancel()
    with pytest.raises(asyncio.CancelledError):
        await put
    assert [path for path in (tmp_path / "storage").rglob("*") if path.is_file()] == []


async def test_a_disk_that_can_not_be_written_is_our_error(tmp_path: Path, source: Path) -> None:
    (tmp_path / "storage").write_bytes(b"a file where the folder should be")
    blobs = DiskBlobs(tmp_path / "storage")
    with pytest.raises(DependencyUnavailable):
        await blobs.put_file("org/a1", source)
    with pytest.raises(DependencyUnavailable):
        await blobs.check()


# On S3


async def test_a_blob_that_another_machine_stored_is_read_from_the_bucket(
    s3_server: S3Server, bucket: str, tmp_path: Path, source: Path
) -> None:
    here = s3_blobs(s3_server, bucket, DiskBlobs(tmp_path / "here"))
    there = s3_blobs(s3_server, bucket, DiskBlobs(tmp_path / "there"))
    await here.put_file("org/a1", source)
    assert await there.get("org/a1") == b"the bytes of a file"
    assert b"".join(await pieces(there.stream("org/a1"))) == b"the bytes of a file"


async def test_a_blob_that_is_on_the_disk_is_read_without_the_bucket(
    s3_server: S3Server, bucket: str, tmp_path: Path, source: Path
) -> None:
    local = DiskBlobs(tmp_path / "here")
    await local.put_file("org/a1", source)
    blobs = s3_blobs(s3_server, "no-such-bucket", local)
    assert await blobs.get("org/a1") == b"the bytes of a file"
    assert await pieces(blobs.stream("org/a1")) == [b"the bytes of a file"]


async def test_a_delete_reaches_disk_and_bucket(s3_server: S3Server, bucket: str, tmp_path: Path, source: Path) -> None:
    local, bare = DiskBlobs(tmp_path / "here"), s3_blobs(s3_server, bucket, None)
    blobs = s3_blobs(s3_server, bucket, local)
    await blobs.put_file("org/a1", source)
    assert await local.get("org/a1") == await bare.get("org/a1")
    await blobs.delete(["org/a1"])
    for store in (local, bare):
        with pytest.raises(NotFound):
            await store.get("org/a1")


async def test_an_upload_that_the_bucket_refuses_leaves_nothing_on_the_disk(
    s3_server: S3Server, tmp_path: Path, source: Path
) -> None:
    local = DiskBlobs(tmp_path / "here")
    blobs = s3_blobs(s3_server, "no-such-bucket", local)
    for data in (b"small", BIGGER_THAN_A_PART):
        source.write_bytes(data)
        with pytest.raises(DependencyUnavailable, match="bucket does not exist"):
            await blobs.put_file("org/a1", source)
        with pytest.raises(NotFound):
            await local.get("org/a1")


async def test_a_missing_bucket_never_looks_like_a_missing_blob(s3_server: S3Server) -> None:
    blobs = s3_blobs(s3_server, "no-such-bucket", None)
    with pytest.raises(DependencyUnavailable):
        await blobs.get("org/a1")
    with pytest.raises(DependencyUnavailable):
        await blobs.delete(["org/a1"])
    with pytest.raises(DependencyUnavailable):
        await blobs.check()


async def test_an_endpoint_that_does_not_answer_is_our_error(source: Path, unused_tcp_port: int) -> None:
    nobody = S3Server(endpoint=f"http://127.0.0.1:{unused_tcp_port}")
    blobs = s3_blobs(nobody, "bucket", None)
    with pytest.raises(DependencyUnavailable):
        await blobs.put_file("org/a1", source)
    with pytest.raises(DependencyUnavailable):
        await anext(blobs.stream("org/a1"))
    with pytest.raises(DependencyUnavailable):
        await blobs.check()


async def test_a_cancelled_upload_leaves_neither_object_nor_hidden_parts(
    s3_server: S3Server, bucket: str, tmp_path: Path, source: Path
) -> None:
    local = DiskBlobs(tmp_path / "here")
    source.write_bytes(BIGGER_THAN_A_PART * 6)
    upload = asyncio.create_task(s3_blobs(s3_server, bucket, local).put_file("org/a1", source))
    while "org/a1" not in await asyncio.to_thread(s3_server.request, "GET", f"{bucket}?uploads"):
        assert not upload.done()
    upload.cancel()
    with pytest.raises(asyncio.CancelledError):
        await upload
    assert "org/a1" not in await asyncio.to_thread(s3_server.request, "GET", f"{bucket}?uploads")
    assert "org/a1" not in await asyncio.to_thread(s3_server.request, "GET", bucket)
    with pytest.raises(NotFound):
        await local.get("org/a1")


# Memory


def growth(*arguments: str) -> int:
    """Bytes by which a process of its own grew during an upload of 50 MB."""
    command = [sys.executable, "-m", "tests.support.upload_growth", *arguments]
    root = Path(__file__).parents[2]
    return int(subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout)


def test_an_upload_of_50_mb_to_the_disk_grows_the_process_by_less_than_8_mb(tmp_path: Path) -> None:
    assert growth(str(tmp_path)) < 8 * 2**20


def test_an_upload_of_50_mb_to_s3_grows_the_process_by_less_than_24_mb(
    s3_server: S3Server, bucket: str, tmp_path: Path
) -> None:
    assert growth(str(tmp_path), s3_server.endpoint, bucket) < 24 * 2**20
