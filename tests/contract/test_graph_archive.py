"""What reading a knowledge graph document by document promises, on every engine; and removing it whole."""

from uuid import uuid4

import pytest

from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings, MentionDraft, RelationDraft
from stores.protocols.graph_engines import GraphCounts, GraphDocument
from tests.support.graph_drafts import said, tell
from tests.support.worlds import World


@pytest.fixture
def world(graph_world: World) -> World:
    return graph_world


FULL = GraphDraft(
    entities=(
        EntityDraft("paris", "Paris", "city", "a capital", ("city of light", "lutetia")),
        EntityDraft("seine", "Seine", "river"),
    ),
    relations=(RelationDraft("paris", "lies on", "seine", 1, "Paris lies on the Seine", 2.5),),
    mentions=(
        MentionDraft("paris", 0, 0, 5, subject=True),
        MentionDraft("paris", 1, 20, 25),
        MentionDraft("paris", 1, 40, 45),
        MentionDraft("seine", 1, 60, 65),
    ),
)


async def test_a_document_is_read_as_it_was_written(world: World) -> None:
    kb = await world.knowledge_base()
    document, chunk_ids = await tell(world, kb, FULL)
    [record] = await world.graph.records(world.organisation_id, kb.id, [document.id, uuid4()])
    assert record.document_id == document.id
    assert set(record.chunk_ids) <= set(chunk_ids)
    assert record.draft.entities == FULL.entities
    assert record.draft.relations == FULL.relations
    assert set(record.draft.mentions) == set(FULL.mentions)


async def test_documents_are_listed_with_the_chunk_that_marks_their_version(world: World) -> None:
    kb = await world.knowledge_base()
    told = [await tell(world, kb, said(("A1", "to", f"B{n}"))) for n in range(3)]
    await tell(world, kb, GraphDraft())
    first = await world.graph.documents(world.organisation_id, kb.id, after=None, limit=2)
    rest = await world.graph.documents(world.organisation_id, kb.id, after=first[-1].id, limit=2)
    expected = sorted((GraphDocument(document.id, ids[0]) for document, ids in told), key=lambda each: each.id)
    assert [*first, *rest] == expected


async def test_what_a_graph_holds_is_counted(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, FULL)
    await tell(world, kb, said(("Paris", "lies on", "Seine"), ("Paris", "has", "Louvre")))
    assert await world.graph.counts(world.organisation_id, kb.id) == GraphCounts(
        documents=2, entities=3, relations=2, mentions=8, statements=3
    )
    assert await world.graph.counts(world.other_id, kb.id) == GraphCounts()


async def test_knowledge_bases_that_hold_something_are_listed(world: World) -> None:
    kb, empty = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, kb, FULL)
    listed = await world.graph.knowledge_bases(world.organisation_id)
    assert kb.id in listed
    assert empty.id not in listed
    assert kb.id not in await world.graph.knowledge_bases(world.other_id)


async def test_a_graph_is_removed_whole_and_others_stay(world: World) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, kb, FULL)
    await tell(world, other, FULL)
    await world.graph.remove_knowledge_base(world.organisation_id, kb.id)
    await world.graph.remove_knowledge_base(world.organisation_id, kb.id)
    assert await world.graph.search(world.organisation_id, kb.id, query="Paris") == GraphFindings()
    assert await world.graph.counts(world.organisation_id, kb.id) == GraphCounts()
    assert (await world.graph.counts(world.organisation_id, other.id)).entities == 2


async def test_another_organisation_removes_no_graph(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, FULL)
    await world.graph.remove_knowledge_base(world.other_id, kb.id)
    assert (await world.graph.counts(world.organisation_id, kb.id)).documents == 1


async def test_a_version_that_was_written_again_is_not_stale(world: World) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, FULL)
    [listed] = await world.graph.documents(world.organisation_id, kb.id, after=None, limit=9)
    await world.graph.remove_stale(world.organisation_id, kb.id, GraphDocument(document.id, uuid4()))
    assert (await world.graph.counts(world.organisation_id, kb.id)).documents == 1
    await world.graph.remove_stale(world.organisation_id, kb.id, listed)
    assert await world.graph.counts(world.organisation_id, kb.id) == GraphCounts()
