"""What every store of knowledge bases promises, one fact a test."""

import asyncio
from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import pytest

from tests.support.worlds import World, draft, new_document, towards
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.knowledge import DocumentStatus, ParsedDocument, Stage
from tributary.models.protocols import Vectors


async def test_knowledge_bases_come_in_the_order_they_were_asked_for(world: World) -> None:
    first, second = await world.knowledge_base("a"), await world.knowledge_base("b")
    found = await world.knowledge.knowledge_bases(world.organisation_id, [second.id, first.id])
    assert [each.name for each in found] == ["b", "a"]


async def test_an_unknown_knowledge_base_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.knowledge.knowledge_bases(world.organisation_id, [uuid4()])


async def test_a_knowledge_base_of_another_organisation_is_not_found(world: World) -> None:
    foreign = await world.knowledge_base(organisation_id=world.other_id)
    with pytest.raises(NotFound):
        await world.knowledge.knowledge_bases(world.organisation_id, [foreign.id])


async def test_the_oldest_knowledge_base_of_a_name_is_found_by_it(world: World) -> None:
    oldest = await world.knowledge_base("same")
    await world.knowledge_base("same")
    found = await world.knowledge.knowledge_base_named(world.organisation_id, "same")
    assert found is not None
    assert found.id == oldest.id


async def test_a_name_that_nothing_has_finds_none(world: World) -> None:
    assert await world.knowledge.knowledge_base_named(world.organisation_id, "none") is None


async def test_a_page_of_knowledge_bases_goes_on_behind_the_last_one(world: World) -> None:
    made = [await world.knowledge_base(name) for name in "abc"]
    page = await world.knowledge.list_knowledge_bases(world.organisation_id, after=made[0].id, limit=1)
    assert [each.name for each in page] == ["b"]


async def test_an_update_leaves_what_it_does_not_name(world: World) -> None:
    made = await world.knowledge_base("before")
    changed = await world.knowledge.update_knowledge_base(
        world.organisation_id, made.id, name=None, description="about"
    )
    assert (changed.name, changed.description) == ("before", "about")


async def test_updating_an_unknown_knowledge_base_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.knowledge.update_knowledge_base(world.organisation_id, uuid4(), name="x", description=None)


async def test_documents_are_counted(world: World) -> None:
    kb = await world.knowledge_base()
    await world.document(kb)
    found = await world.knowledge.knowledge_bases(world.organisation_id, [kb.id])
    assert found[0].document_count == 1


async def test_a_document_is_read_as_it_was_added(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb, filename='O\'Brien "x" \\ §.md', error={"code": "damaged_file"})
    assert await world.knowledge.document(world.organisation_id, kb.id, added.id) == added


async def test_a_document_for_an_unknown_knowledge_base_is_refused(world: World) -> None:
    kb = await world.knowledge_base()
    with pytest.raises(NotFound):
        await world.knowledge.add_document(new_document(replace(kb, id=uuid4())))


async def test_a_document_is_not_found_in_another_knowledge_base(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(NotFound):
        await world.knowledge.document(world.organisation_id, other.id, added.id)


async def test_a_document_is_not_found_by_another_organisation(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(NotFound):
        await world.knowledge.document(world.other_id, kb.id, added.id)


async def test_a_page_of_documents_goes_on_behind_the_last_one(world: World) -> None:
    kb = await world.knowledge_base()
    added = [await world.document(kb, filename=f"{n}.md") for n in range(3)]
    page = await world.knowledge.list_documents(world.organisation_id, kb.id, after=added[0].id, limit=1)
    assert [each.filename for each in page] == ["1.md"]


async def test_title_and_importance_change_by_themselves(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb, title="Before")
    changed = await world.knowledge.update_document(world.organisation_id, kb.id, added.id, title=None, importance=0.9)
    assert changed.title == "Before"
    assert changed.importance == pytest.approx(0.9)


async def test_the_text_of_a_document_comes_back_with_its_pages(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.write(added, ["first page", "second page"])
    text = await world.knowledge.document_text(world.organisation_id, kb.id, added.id)
    assert [text.text[page.start : page.end] for page in text.pages] == ["first page", "second page"]


async def test_the_text_of_a_document_that_is_not_parsed_yet_is_a_conflict(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(Conflict):
        await world.knowledge.document_text(world.organisation_id, kb.id, added.id)


async def test_chunks_come_in_the_order_they_were_asked_for(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "one", "two", "three")
    found = await world.knowledge.chunks(world.organisation_id, [ids[2], ids[0]])
    assert [chunk.text for chunk in found] == ["three", "one"]


async def test_a_chunk_knows_its_place_in_the_document(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "one", "two", filename="place.md")
    (chunk,) = await world.knowledge.chunks(world.organisation_id, [ids[1]])
    assert (chunk.filename, chunk.page, chunk.start, chunk.end) == ("place.md", 2, 4, 7)


async def test_chunks_that_are_gone_are_left_out(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "one")
    found = await world.knowledge.chunks(world.organisation_id, [uuid4(), ids[0]])
    assert [chunk.id for chunk in found] == ids


async def test_chunks_of_another_organisation_are_left_out(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "one")
    assert await world.knowledge.chunks(world.other_id, ids) == []


async def test_the_map_shows_the_most_important_documents_first(world: World) -> None:
    kb = await world.knowledge_base()
    for filename, importance in (("low.md", 0.1), ("high.md", 0.9), ("middle.md", 0.5)):
        await world.written(kb, "text", filename=filename, importance=importance)
    (found,) = await world.knowledge.map(world.organisation_id, [kb.id], limit=2)
    assert [document.filename for document in found.documents] == ["high.md", "middle.md"]


async def test_the_map_counts_all_documents_that_can_be_searched(world: World) -> None:
    kb = await world.knowledge_base()
    for _ in range(3):
        await world.written(kb, "text")
    await world.document(kb)
    (found,) = await world.knowledge.map(world.organisation_id, [kb.id], limit=1)
    assert found.document_count == 3


async def test_a_document_that_is_queued_again_stays_in_the_map(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.write(added, ["text"], summary="What it says.")
    await world.knowledge.renew_document(world.organisation_id, kb.id, added.id, replacement=None)
    (found,) = await world.knowledge.map(world.organisation_id, [kb.id], limit=5)
    assert [document.summary for document in found.documents] == ["What it says."]


async def test_the_map_of_an_unknown_knowledge_base_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.knowledge.map(world.organisation_id, [uuid4()], limit=1)


async def test_progress_of_the_current_revision_is_kept(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    kept = await world.knowledge.set_progress(
        world.organisation_id,
        added.id,
        1,
        status=DocumentStatus.FAILED,
        stage=Stage.PARSING,
        progress=0.25,
        error={"code": "damaged_file"},
    )
    found = await world.knowledge.document(world.organisation_id, kb.id, added.id)
    assert (kept, found.status, found.stage, found.progress, found.error) == (
        True,
        DocumentStatus.FAILED,
        Stage.PARSING,
        0.25,
        {"code": "damaged_file"},
    )


async def test_progress_of_an_older_revision_changes_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.knowledge.renew_document(world.organisation_id, kb.id, added.id, replacement=None)
    kept = await world.knowledge.set_progress(
        world.organisation_id, added.id, 1, status=DocumentStatus.READY, stage=Stage.READY, progress=1.0
    )
    found = await world.knowledge.document(world.organisation_id, kb.id, added.id)
    assert (kept, found.status) == (False, DocumentStatus.QUEUED)


async def test_progress_of_a_deleted_document_is_refused(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.knowledge.delete_document(world.organisation_id, kb.id, added.id)
    assert not await world.knowledge.set_progress(
        world.organisation_id, added.id, 1, status=DocumentStatus.READY, stage=Stage.READY, progress=1.0
    )


async def test_writing_a_document_again_replaces_its_chunks(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    former = await world.write(added, ["old one", "old two"])
    current = await world.write(added, ["new"])
    assert former is not None
    assert current is not None
    found = await world.knowledge.chunks(world.organisation_id, [*former.values(), *current.values()])
    assert [chunk.text for chunk in found] == ["new"]


async def test_an_older_revision_writes_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.knowledge.renew_document(world.organisation_id, kb.id, added.id, replacement=None)
    assert await world.write(added, ["stale"], revision=1) is None
    with pytest.raises(Conflict):
        await world.knowledge.document_text(world.organisation_id, kb.id, added.id)


async def test_writing_a_deleted_document_writes_nothing(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.knowledge.delete_document(world.organisation_id, kb.id, added.id)
    assert await world.write(added, ["stale"]) is None


async def test_a_document_without_chunks_can_be_written(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    ids = await world.knowledge.write_document(
        world.organisation_id,
        added.id,
        1,
        parsed=ParsedDocument(""),
        summary="",
        topics=[],
        document_type="",
        summary_vector=None,
        chunks=[],
        vectors=np.zeros((0, 4), np.float32),
    )
    assert ids == {}


@pytest.mark.parametrize(
    "vectors",
    [
        pytest.param(np.full((1, 4), np.nan, np.float32), id="not a number"),
        pytest.param(np.full((1, 4), np.inf, np.float32), id="infinite"),
        pytest.param(np.zeros((1, 4), np.float32), id="zero"),
        pytest.param(np.ones((1, 3), np.float32), id="of another dimension"),
        pytest.param(np.ones((2, 4), np.float32), id="more than chunks"),
    ],
)
async def test_vectors_that_can_not_be_compared_are_refused(world: World, vectors: Vectors) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(Conflict):
        await world.knowledge.write_document(
            world.organisation_id,
            added.id,
            1,
            parsed=ParsedDocument("text"),
            summary="",
            topics=[],
            document_type="",
            summary_vector=None,
            chunks=draft(["text"]),
            vectors=vectors,
        )


async def test_a_summary_vector_of_another_dimension_is_refused(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(Conflict):
        await world.write(added, ["text"], summary_vector=np.ones(3, np.float32))


async def test_renewing_queues_the_next_revision_and_keeps_the_file(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb, status=DocumentStatus.FAILED, error={"code": "damaged_file"})
    renewed, superseded = await world.knowledge.renew_document(world.organisation_id, kb.id, added.id, replacement=None)
    assert (renewed.revision, renewed.status, renewed.error, superseded) == (2, DocumentStatus.QUEUED, None, None)
    assert renewed.storage_key == added.storage_key


async def test_replacing_returns_the_storage_key_that_nothing_needs_any_more(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    other = new_document(kb, filename="second.md", storage_key="documents/second")
    renewed, superseded = await world.knowledge.renew_document(
        world.organisation_id, kb.id, added.id, replacement=other
    )
    assert (renewed.id, renewed.filename, renewed.storage_key) == (added.id, "second.md", "documents/second")
    assert superseded == added.storage_key


async def test_renewing_an_unknown_document_is_not_found(world: World) -> None:
    kb = await world.knowledge_base()
    with pytest.raises(NotFound):
        await world.knowledge.renew_document(world.organisation_id, kb.id, uuid4(), replacement=None)


async def test_deleting_a_document_returns_its_storage_key_and_takes_its_chunks(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb, storage_key="documents/first")
    ids = await world.write(added, ["text"])
    assert ids is not None
    assert await world.knowledge.delete_document(world.organisation_id, kb.id, added.id) == "documents/first"
    assert await world.knowledge.chunks(world.organisation_id, list(ids.values())) == []


async def test_deleting_twice_is_not_found(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    await world.knowledge.delete_document(world.organisation_id, kb.id, added.id)
    with pytest.raises(NotFound):
        await world.knowledge.delete_document(world.organisation_id, kb.id, added.id)


async def test_another_organisation_can_not_delete_a_document(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    with pytest.raises(NotFound):
        await world.knowledge.delete_document(world.other_id, kb.id, added.id)


async def test_deleting_a_knowledge_base_returns_the_storage_keys_of_its_files(world: World) -> None:
    kb = await world.knowledge_base()
    keys = {f"documents/{n}" for n in range(3)}
    for key in keys:
        await world.written(kb, "text", storage_key=key)
    assert set(await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)) == keys


async def test_nothing_of_a_deleted_knowledge_base_is_left(world: World) -> None:
    kb = await world.knowledge_base()
    ids = await world.written(kb, "text")
    await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)
    with pytest.raises(NotFound):
        await world.knowledge.list_documents(world.organisation_id, kb.id, after=None, limit=1)
    assert await world.knowledge.chunks(world.organisation_id, ids) == []


async def test_deleting_a_knowledge_base_leaves_the_others(world: World) -> None:
    kb, kept = await world.knowledge_base(), await world.knowledge_base()
    ids = await world.written(kept, "text")
    await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)
    assert [chunk.id for chunk in await world.knowledge.chunks(world.organisation_id, ids)] == ids


async def test_deleting_an_unknown_knowledge_base_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await world.knowledge.delete_knowledge_base(world.organisation_id, uuid4())


async def _race(world: World) -> list[UUID]:
    """The chunks that are left when writing and deleting a document meet."""
    kb = await world.knowledge_base()
    added = await world.document(kb)
    ids, _ = await asyncio.gather(
        world.write(added, [f"text {n}" for n in range(50)]),
        world.knowledge.delete_document(world.organisation_id, kb.id, added.id),
    )
    hits = await world.search.search(
        world.organisation_id,
        kb.id,
        query="text",
        recent="",
        vector=towards(1),
        embedder=world.embedder,
        limit=10,
    )
    left = await world.knowledge.chunks(world.organisation_id, list((ids or {}).values()))
    return [UUID(hit["chunkId"]) for hit in hits] + [chunk.id for chunk in left]


async def test_a_delete_that_meets_a_write_wins(world: World) -> None:
    assert [await _race(world) for _ in range(5)] == [[]] * 5


async def test_writes_of_one_document_that_meet_leave_the_chunks_of_one(world: World) -> None:
    kb = await world.knowledge_base()
    added = await world.document(kb)
    written = await asyncio.gather(*(world.write(added, [f"version {n}"] * 3) for n in range(4)))
    ids = [chunk_id for each in written if each for chunk_id in each.values()]
    found = await world.knowledge.chunks(world.organisation_id, ids)
    assert len({chunk.text for chunk in found}) == 1
    assert len(found) == 3
