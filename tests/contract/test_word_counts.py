"""Counts of frequent words: kept by upkeep, and searches that find the same with them as without."""

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

import pytest

from stores.postgres import candidates
from stores.postgres.database import Database
from stores.postgres.word_counts import PostgresWordCounts
from tests.support.worlds import World, open_world, towards
from tributary.domain.knowledge import KnowledgeBase
from tributary.domain.retrieval import Hit

LARGE = 40


@pytest.fixture
async def world(dsn: str) -> AsyncIterator[World]:
    async with open_world(dsn) as world:
        yield world


@pytest.fixture
def counts(database: Database) -> PostgresWordCounts:
    """Forty chunks are a large knowledge base here, and a word of ten documents is frequent."""
    return PostgresWordCounts(database, counted_from=LARGE, frequent=10)


async def large(world: World, count: int = LARGE) -> KnowledgeBase:
    """Every document is about pumps, every second about valves, one in twenty about gaskets."""
    kb = await world.knowledge_base()
    for n in range(count):
        words = ["pump"] * (1 + n % 3) + ["valve"] * (n % 2) + ["gasket"] * (n % 20 == 7) + [f"unique{n}"]
        await world.written(kb, " ".join(words))
    return kb


async def find(world: World, kb: KnowledgeBase, query: str, limit: int = 10) -> Sequence[Hit]:
    return await world.search.search(
        kb.organisation_id, kb.id, query=query, recent="", vector=towards(1), embedder=world.embedder, limit=limit
    )


async def kept(database: Database, kb: KnowledgeBase) -> dict[str, int]:
    async with database.organisation(kb.organisation_id) as connection:
        rows = await (await connection.execute("SELECT term, documents FROM frequent_terms")).fetchall()
    return {row["term"]: row["documents"] for row in rows}


async def test_the_frequent_words_of_a_large_knowledge_base_are_counted(
    world: World, database: Database, counts: PostgresWordCounts
) -> None:
    kb = await large(world)
    await counts.tend()
    found = await kept(database, kb)
    assert (found["pump"], found["valve"]) == (LARGE, LARGE // 2)
    assert "gasket" not in found


async def test_a_small_knowledge_base_is_not_counted(
    world: World, database: Database, counts: PostgresWordCounts
) -> None:
    kb = await large(world, LARGE - 1)
    await counts.tend()
    assert await kept(database, kb) == {}


@pytest.mark.parametrize("query", ["pump valve gasket", "pump", "unique5 valve", "nothing of it"])
async def test_scores_are_the_same_with_counts_as_without(world: World, counts: PostgresWordCounts, query: str) -> None:
    kb = await large(world)
    before = await find(world, kb, query)
    await counts.tend()
    after = await find(world, kb, query)
    assert [hit["chunkId"] for hit in after] == [hit["chunkId"] for hit in before]
    assert [hit["text"] for hit in after] == pytest.approx([hit["text"] for hit in before])


@pytest.mark.parametrize("query", ["gasket valve pump", "unique5 valve pump"])
async def test_words_beyond_the_budget_still_count_for_what_was_found(
    world: World, counts: PostgresWordCounts, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = await large(world)
    before = await find(world, kb, query)
    await counts.tend()
    monkeypatch.setattr(candidates, "BUDGET", 1)
    after = await find(world, kb, query)
    assert [hit["chunkId"] for hit in after] == [hit["chunkId"] for hit in before]
    assert [hit["text"] for hit in after] == pytest.approx([hit["text"] for hit in before])


async def test_words_beyond_the_budget_count_for_chunks_that_are_scored_later(
    world: World, counts: PostgresWordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = await large(world)
    await counts.tend()
    monkeypatch.setattr(candidates, "BUDGET", 1)
    judgement = await world.search.judge(
        kb.organisation_id, kb.id, query="gasket pump", recent="", vector=towards(1), embedder=world.embedder, limit=10
    )
    assert await judgement.score([UUID(hit["chunkId"]) for hit in judgement.hits]) == judgement.hits


async def test_a_question_of_frequent_words_alone_finds_what_holds_them(
    world: World, counts: PostgresWordCounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = await large(world)
    await counts.tend()
    monkeypatch.setattr(candidates, "BUDGET", 1)
    hits = await find(world, kb, "pump valve", limit=3)
    chunks = await world.knowledge.chunks(kb.organisation_id, [UUID(hit["chunkId"]) for hit in hits])
    assert all("valve" in chunk.text for chunk in chunks)


async def test_counts_follow_what_grows_and_go_with_what_shrinks(
    world: World, database: Database, counts: PostgresWordCounts
) -> None:
    kb = await large(world)
    await counts.tend()
    grown = await world.document(kb)
    await world.write(grown, ["pump"] * LARGE)
    await counts.tend()
    assert (await kept(database, kb))["pump"] == LARGE + 1
    await world.knowledge.delete_document(kb.organisation_id, kb.id, grown.id)
    documents = await world.knowledge.list_documents(kb.organisation_id, kb.id, after=None, limit=100)
    for document in documents[: LARGE - 5]:
        await world.knowledge.delete_document(kb.organisation_id, kb.id, document.id)
    await counts.tend()
    assert await kept(database, kb) == {}


async def test_counts_go_with_their_knowledge_base(
    world: World, database: Database, counts: PostgresWordCounts
) -> None:
    kb = await large(world)
    await counts.tend()
    await world.knowledge.delete_knowledge_base(kb.organisation_id, kb.id)
    assert await kept(database, kb) == {}


async def test_a_word_of_a_long_document_is_found_wherever_it_stands(world: World) -> None:
    """Its postings fill several rows."""
    kb = await world.knowledge_base()
    await world.written(kb, *("pump" if n == 299 else "pump gasket" for n in range(300)), "silence")
    await world.written(kb, "elsewhere")
    hits = await find(world, kb, "pump", limit=400)
    assert sum(hit["text"] > 0 for hit in hits) == 300
    async with world.knowledge._database.organisation(kb.organisation_id) as connection:  # type: ignore[union-attr]
        statement = "SELECT frequency, cardinality(postings) AS held FROM chunk_postings WHERE term = 'pump'"
        rows = await (await connection.execute(statement)).fetchall()
    assert sorted((row["frequency"], row["held"]) for row in rows) == [(0, 44), (0, 128), (300, 128)]
