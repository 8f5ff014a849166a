"""What every staging promises, in memory and on a disk."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from stores.memory.staging import MemoryStaging
from stores.protocols.staging import Staging
from stores.staging import DiskStaging
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id

DOCUMENT, OTHER = new_id(), new_id()


@pytest.fixture(params=["memory", "disk"])
def staging(request: pytest.FixtureRequest, tmp_path: Path) -> Staging:
    return MemoryStaging() if request.param == "memory" else DiskStaging(tmp_path / "work")


async def test_what_was_written_comes_back(staging: Staging) -> None:
    await staging.write(DOCUMENT, 1, "parsed-1", b"text")
    await staging.write(DOCUMENT, 1, "empty", b"")
    assert await staging.read(DOCUMENT, 1, "parsed-1") == b"text"
    assert await staging.read(DOCUMENT, 1, "empty") == b""


async def test_the_last_write_counts(staging: Staging) -> None:
    await staging.write(DOCUMENT, 1, "parsed", b"old and longer")
    await staging.write(DOCUMENT, 1, "parsed", b"new")
    assert await staging.read(DOCUMENT, 1, "parsed") == b"new"


async def test_documents_revisions_and_names_are_apart(staging: Staging) -> None:
    await staging.write(DOCUMENT, 1, "parsed", b"text")
    assert await staging.read(OTHER, 1, "parsed") is None
    assert await staging.read(DOCUMENT, 2, "parsed") is None
    assert await staging.read(DOCUMENT, 1, "chunks") is None


async def test_clearing_through_a_revision_keeps_the_newer_ones(staging: Staging) -> None:
    for revision in (1, 2, 10):
        await staging.write(DOCUMENT, revision, "parsed", b"text")
    await staging.clear(DOCUMENT, through=2)
    found = [await staging.read(DOCUMENT, revision, "parsed") for revision in (1, 2, 10)]
    assert found == [None, None, b"text"]


async def test_clearing_a_document_clears_that_one_alone(staging: Staging) -> None:
    for document in (DOCUMENT, OTHER):
        await staging.write(document, 1, "parsed", b"text")
    await staging.clear(DOCUMENT)
    await staging.clear(new_id())
    await staging.clear(new_id(), through=3)
    assert await staging.read(DOCUMENT, 1, "parsed") is None
    assert await staging.read(OTHER, 1, "parsed") == b"text"


async def test_pruning_spares_what_is_in_use(staging: Staging) -> None:
    await staging.write(DOCUMENT, 1, "parsed", b"text")
    assert await staging.prune(timedelta(hours=1)) == 0
    assert await staging.prune(timedelta(hours=-1)) == 1
    assert await staging.read(DOCUMENT, 1, "parsed") is None


async def test_a_disk_prunes_by_the_last_write_to_a_document(tmp_path: Path) -> None:
    staging = DiskStaging(tmp_path)
    for document in (DOCUMENT, OTHER):
        await staging.write(document, 1, "parsed", b"text")
    long_ago = time.time() - 7200
    for path in (tmp_path / str(DOCUMENT) / "1", tmp_path / str(DOCUMENT), tmp_path / str(OTHER)):
        os.utime(path, (long_ago, long_ago))
    assert await staging.prune(timedelta(hours=1)) == 1
    assert await staging.read(OTHER, 1, "parsed") == b"text"


async def test_a_product_that_was_cut_short_or_changed_is_missing(tmp_path: Path) -> None:
    staging = DiskStaging(tmp_path)
    for damage in (b"", b"short"):
        await staging.write(DOCUMENT, 1, "parsed", b"the whole text")
        path = tmp_path / str(DOCUMENT) / "1" / "parsed"
        path.write_bytes(damage or path.read_bytes()[:-1])
        assert await staging.read(DOCUMENT, 1, "parsed") is None


async def test_a_disk_that_can_not_be_written_is_a_dependency_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file stands where the folder should")
    with pytest.raises(DependencyUnavailable):
        await DiskStaging(tmp_path / "work").write(DOCUMENT, 1, "parsed", b"text")


async def test_a_name_that_leads_elsewhere_is_a_bug(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="names no product"):
        await DiskStaging(tmp_path).read(DOCUMENT, 1, "../../secret")
