"""What every staging promises, in memory and on a disk."""

import os
import time
from datetime import timedelta
from pathlib import Path

import pytest

from stores.memory.staging import MemoryStaging
from stores.protocols.staging import Staging
from stores.recent_staging import KEPT_BYTES, RecentStaging
from stores.staging import DiskStaging
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id

DOCUMENT, OTHER = new_id(), new_id()


@pytest.fixture(params=["memory", "disk", "recent"])
def staging(request: pytest.FixtureRequest, tmp_path: Path) -> Staging:
    if request.param == "memory":
        return MemoryStaging()
    disk = DiskStaging(tmp_path / "work")
    return RecentStaging(disk) if request.param == "recent" else disk


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


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_what_a_run_makes_in_its_first_seconds_stays_off_the_disk(tmp_path: Path) -> None:
    clock, disk = Clock(), DiskStaging(tmp_path / "work")
    recent = RecentStaging(disk, patience=2.0, clock=clock)
    await recent.write(DOCUMENT, 1, "parsed", b"text")
    assert await disk.read(DOCUMENT, 1, "parsed") is None
    clock.now += 2.0
    await recent.write(DOCUMENT, 1, "chunks", b"pieces")
    assert await disk.read(DOCUMENT, 1, "parsed") == b"text"
    assert await disk.read(DOCUMENT, 1, "chunks") == b"pieces"
    assert await recent.read(DOCUMENT, 1, "parsed") == b"text"


async def test_what_must_survive_a_crash_or_is_large_goes_to_the_disk_at_once(tmp_path: Path) -> None:
    disk = DiskStaging(tmp_path / "work")
    recent = RecentStaging(disk)
    await recent.write(DOCUMENT, 1, "digest", b"paid for", at_once=True)
    await recent.write(OTHER, 1, "parsed", bytes(KEPT_BYTES + 1))
    assert await disk.read(DOCUMENT, 1, "digest") == b"paid for"
    assert await disk.read(OTHER, 1, "parsed") is not None


async def test_a_run_goes_on_with_what_another_process_left_on_the_disk(tmp_path: Path) -> None:
    disk = DiskStaging(tmp_path / "work")
    await disk.write(DOCUMENT, 1, "parsed", b"text")
    await disk.write(DOCUMENT, 1, "chunks", b"pieces")
    recent = RecentStaging(disk)
    assert await recent.read(DOCUMENT, 1, "parsed") == b"text"
    assert await recent.read(DOCUMENT, 1, "chunks") == b"pieces"


async def test_upkeep_brings_what_was_put_off_to_the_disk(tmp_path: Path) -> None:
    clock, disk = Clock(), DiskStaging(tmp_path / "work")
    recent = RecentStaging(disk, patience=2.0, clock=clock)
    await recent.write(DOCUMENT, 1, "parsed", b"text")
    clock.now += 15.0
    await recent.prune(timedelta(days=3))
    assert await disk.read(DOCUMENT, 1, "parsed") == b"text"
    assert await recent.read(DOCUMENT, 1, "parsed") == b"text"


async def test_upkeep_in_the_middle_of_a_run_takes_nothing_from_it(tmp_path: Path) -> None:
    clock = Clock()
    recent = RecentStaging(DiskStaging(tmp_path / "work"), clock=clock)
    await recent.write(DOCUMENT, 1, "parsed", b"text")
    clock.now += 15.0
    await recent.prune(timedelta(days=3))
    assert await recent.read(DOCUMENT, 1, "vectors-0") is None
    assert await recent.read(DOCUMENT, 1, "parsed") == b"text"
    await recent.write(DOCUMENT, 1, "vectors-0", b"numbers")
    assert await recent.read(DOCUMENT, 1, "vectors-0") == b"numbers"
