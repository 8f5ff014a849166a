"""Indexes of large knowledge bases on a real PostgreSQL: built, taken up, dropped, and what crashes and races leave."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from stores.postgres.database import Database
from stores.postgres.own_indexes import BUILDER_LOCK, PostgresOwnIndexes
from stores.postgres.vector_values import half_vector
from stores.protocols.indexes import Tended
from stores.protocols.knowledge import ImageVectors
from tests.support.worlds import DIMENSION, World, open_world, towards
from tributary.domain.knowledge import KnowledgeBase
from tributary.models.protocols import Vectors

#: Ten chunks make a large knowledge base here.
LARGE = 10
INDEXED_FROM = LARGE * DIMENSION
#: Enough for vectors to lie about many centres, and so many that an index holds their heads alone.
WIDE = 32
LONG = 1_536

_INDEXES = """
SELECT i.relname, x.indisvalid FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
WHERE x.indrelid IN ('chunks'::regclass, 'chunk_images'::regclass) AND i.relname LIKE 'own\\_%'
"""
_WAITS = (
    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tributary indexes' AND wait_event_type = 'Lock'"
)
_AS_GRAPH = """
CREATE INDEX {graph} ON chunks USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops)
WHERE organisation_id = '{organisation}' AND knowledge_base_id = '{knowledge_base}'
"""
_OF_WHOLE = """
CREATE INDEX {whole} ON chunks USING ivfflat ((embedding::halfvec({dimension})) halfvec_cosine_ops) WITH (lists = 1)
WHERE organisation_id = '{organisation}' AND knowledge_base_id = '{knowledge_base}'
"""
#: Chunks as COPY writes them: of one document each, and nothing but the vector matters.
_DOCUMENTS = """
INSERT INTO documents (organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256, storage_key,
                       status, stage, importance, chunk_count)
VALUES (%s, %s, %s, 'a.md', 'A', 'text/markdown', 1, '', '', 'ready', 'ready', 0.5, %s)
"""
_CHUNKS = """
INSERT INTO chunks (organisation_id, id, knowledge_base_id, document_id, ordinal, content, start_offset, end_offset,
                    term_count, embedding)
SELECT %s, number, %s, %s, ordinal, 'a', 0, 1, 1, embedding
FROM unnest(%s::uuid[], %s::integer[], %s::halfvec[]) AS given (number, ordinal, embedding)
"""
_LEFT_HALF_BUILT = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass"


@pytest.fixture
async def world(dsn: str) -> AsyncIterator[World]:
    async with open_world(dsn) as world:
        yield world


@pytest.fixture
def indexes(dsn: str, world: World, database: Database) -> PostgresOwnIndexes:
    return PostgresOwnIndexes(database, dsn, indexed_from=INDEXED_FROM)


def around(count: int) -> list[Vectors]:
    """Directions in the plane, from east to north."""
    angles = np.linspace(0, np.pi / 2, count)
    return [towards(np.cos(angle), np.sin(angle)) for angle in angles]


async def large(world: World, count: int = LARGE) -> KnowledgeBase:
    kb = await world.knowledge_base()
    await world.write(await world.document(kb), [f"chunk {n}" for n in range(count)], around(count))
    return kb


async def nearest(world: World, kb: KnowledgeBase, vector: Vectors, limit: int = 3) -> list[str]:
    hits = await world.search.search(
        kb.organisation_id, kb.id, query="", recent="", vector=vector, embedder=world.embedder, limit=limit
    )
    chunks = await world.knowledge.chunks(kb.organisation_id, [UUID(hit["chunkId"]) for hit in hits])
    return [chunk.text for chunk in chunks]


async def present(dsn: str) -> dict[str, bool]:
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        return dict(await (await connection.execute(_INDEXES)).fetchall())


async def registered(world: World, kb: KnowledgeBase) -> list[tuple[str, int]]:
    """What searches of the knowledge base go by: names and lists."""
    async with world.database.organisation(kb.organisation_id) as connection:
        cursor = await connection.execute("SELECT name, lists FROM own_indexes WHERE knowledge_base_id = %s", (kb.id,))
        return [(row["name"], row["lists"]) for row in await cursor.fetchall()]


def clusters(count: int, dimension: int = WIDE) -> Vectors:
    """Unit vectors about a tenth as many centres, as passages lie about their subjects."""
    random = np.random.default_rng(5)
    centres = random.standard_normal((count // 10, dimension), np.float32)
    noise = 0.6 * random.standard_normal((count, dimension), np.float32)
    vectors = centres[random.integers(0, len(centres), count)] + noise
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors.astype(np.float16), np.float32)


async def filled(dsn: str, world: World, vectors: Vectors) -> KnowledgeBase:
    """A knowledge base whose chunk n has the id n."""
    kb = await world.knowledge.create_knowledge_base(
        world.organisation_id,
        name="clusters",
        description="",
        embedding=world.embedder.name,
        dimension=vectors.shape[1],
    )
    document = uuid4()
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        await register_vector_async(connection)
        await connection.execute(_DOCUMENTS, (kb.organisation_id, document, kb.id, len(vectors)))
        numbers = list(range(len(vectors)))
        given = [UUID(int=number) for number in numbers], numbers, [half_vector(vector) for vector in vectors]
        await connection.execute(_CHUNKS, (kb.organisation_id, kb.id, document, *given))
    return kb


async def until(condition: Callable[[], object]) -> None:
    """Asks again and again; the test's timeout ends it."""
    while not await condition():  # type: ignore[misc]
        await asyncio.sleep(0.01)


@asynccontextmanager
async def held_up(dsn: str, indexes: PostgresOwnIndexes) -> AsyncIterator[asyncio.Task[Tended]]:
    """A round of upkeep that waits with its build until the block ends."""
    async with await AsyncConnection.connect(dsn) as writer, await AsyncConnection.connect(dsn, autocommit=True) as eye:
        # A concurrent build waits for those who write to the table.
        await writer.execute("LOCK TABLE chunks IN ROW EXCLUSIVE MODE")
        building = asyncio.create_task(indexes.tend())

        async def waiting() -> object:
            return (await (await eye.execute(_WAITS)).fetchone()) == (1,)

        await until(waiting)
        yield building
        await writer.rollback()


async def test_a_knowledge_base_that_has_grown_large_gets_an_index_and_a_small_one_does_not(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    await large(world)
    await large(world, LARGE - 1)
    built = (await indexes.tend()).built
    assert await present(dsn) == {built[0]: True}
    assert len(built) == 1


async def test_a_second_round_has_nothing_to_do(world: World, indexes: PostgresOwnIndexes) -> None:
    await large(world)
    await indexes.tend()
    again = await indexes.tend()
    assert (again.built, again.dropped) == ((), ())


async def test_a_search_finds_the_same_with_the_index_as_without(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await large(world, 200)
    before = await nearest(world, kb, towards(1, 1), limit=20)
    await indexes.tend()
    assert await nearest(world, kb, towards(1, 1), limit=20) == before


async def test_the_serving_role_searches_by_the_index_under_its_policies(
    world: World, database: Database, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world, 500)
    (name,) = (await indexes.tend()).built
    async with database.organisation(kb.organisation_id) as connection:
        await connection.execute(
            "SELECT * FROM nearest_chunks(%s, %s, %s, 100)", (kb.organisation_id, kb.id, half_vector(towards(1)))
        )
        scans = "SELECT pg_stat_get_xact_numscans(%s::regclass) AS scans"
        row = await (await connection.execute(scans, (name,))).fetchone()
    assert row == {"scans": 1}


async def test_another_organisation_finds_nothing_by_the_index(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await large(world)
    await indexes.tend()
    assert await nearest(world, replace(kb, organisation_id=world.other_id), towards(1)) == []


async def test_chunks_that_come_after_the_index_are_found_and_deleted_ones_are_not(
    world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    await indexes.tend()
    late = await world.document(kb)
    await world.write(late, ["late"], [towards(-1)])
    assert await nearest(world, kb, towards(-1), limit=1) == ["late"]
    await world.knowledge.delete_document(kb.organisation_id, kb.id, late.id)
    assert "late" not in await nearest(world, kb, towards(-1))


async def test_what_is_left_after_a_bulk_delete_is_still_found(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await world.knowledge_base()
    crowd = await world.document(kb)
    await world.write(crowd, [f"crowd {n}" for n in range(600)], [towards(1, n / 1e4) for n in range(600)])
    await world.write(await world.document(kb), [f"left {n}" for n in range(LARGE)], around(LARGE))
    await indexes.tend()
    await world.knowledge.delete_document(kb.organisation_id, kb.id, crowd.id)
    assert len(await nearest(world, kb, towards(1), limit=100)) == LARGE


async def test_texts_that_are_all_but_equal_do_not_hide_the_others(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await world.knowledge_base()
    texts = [*(f"boilerplate {n}" for n in range(60)), *(f"other {n}" for n in range(LARGE))]
    alike = [towards(1, n / 1e5) for n in range(60)]
    await world.write(await world.document(kb), texts, [*alike, *around(LARGE)])
    await indexes.tend()
    assert len(await nearest(world, kb, towards(1), limit=100)) == 60 + LARGE


async def test_the_index_goes_when_the_knowledge_base_shrinks_and_the_search_goes_on(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await world.write(document, [f"chunk {n}" for n in range(LARGE)], around(LARGE))
    await indexes.tend()
    await world.write(document, ["first", "second"], [towards(1), towards(0, 1)])
    assert len((await indexes.tend()).dropped) == 1
    assert await present(dsn) == {}
    assert await nearest(world, kb, towards(0, 1)) == ["second", "first"]


async def test_a_knowledge_base_at_the_border_keeps_its_index(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await world.write(document, [f"chunk {n}" for n in range(LARGE)], around(LARGE))
    await indexes.tend()
    await world.write(document, [f"chunk {n}" for n in range(LARGE - 2)], around(LARGE - 2))
    assert (await indexes.tend()).dropped == ()


async def test_the_index_goes_with_the_knowledge_base(dsn: str, world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await large(world)
    await indexes.tend()
    await world.knowledge.delete_knowledge_base(kb.organisation_id, kb.id)
    await indexes.tend()
    assert await present(dsn) == {}


async def test_only_the_largest_get_one_where_there_are_too_many(dsn: str, world: World, database: Database) -> None:
    indexes = PostgresOwnIndexes(database, dsn, indexed_from=INDEXED_FROM, at_most=1)
    await large(world, LARGE)
    await indexes.tend()
    larger = await large(world, 2 * LARGE)
    tended = await indexes.tend()
    assert (len(tended.built), len(tended.dropped)) == (1, 1)
    assert len(await nearest(world, larger, towards(1))) == 3


async def test_dimensions_lie_side_by_side(dsn: str, world: World, indexes: PostgresOwnIndexes) -> None:
    await large(world)
    wide = await world.knowledge.create_knowledge_base(
        world.organisation_id, name="wide", description="", embedding=world.embedder.name, dimension=3072
    )
    vectors = np.eye(LARGE, 3072, dtype=np.float32)
    await world.write(await world.document(wide), [f"axis {n}" for n in range(LARGE)], list(vectors))
    assert len((await indexes.tend()).built) == 2
    assert await nearest(world, wide, vectors[7], limit=1) == ["axis 7"]


async def test_pictures_of_a_large_knowledge_base_have_an_index_for_each_model(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await world.knowledge_base()
    texts = [f"picture {n}" for n in range(LARGE)]
    pictures = ImageVectors("local/descriptor", tuple(range(LARGE)), np.stack(around(LARGE)))
    small = ImageVectors("other", (0,), np.ones((1, 7), np.float32))
    ids = await world.write(await world.document(kb), texts, images=[pictures, small])
    assert ids is not None
    tended = await indexes.tend()
    assert len(tended.built) == 2
    probes = np.stack([towards(1), towards(0, 1)])
    found = await world.search.similar_images(
        kb.organisation_id, kb.id, vectors=probes, embedding="local/descriptor", limit=2
    )
    assert {chunk_id for chunk_id, _ in found} == {ids[0], ids[LARGE - 1]}
    assert [cosine for _, cosine in found] == pytest.approx([1.0, 1.0], abs=1e-3)


async def test_chunks_with_several_pictures_come_once_each(world: World, indexes: PostgresOwnIndexes) -> None:
    kb = await world.knowledge_base()
    pictures = ImageVectors("local/descriptor", (0,) * LARGE + (1,) * LARGE, np.stack(around(2 * LARGE)))
    ids = await world.write(await world.document(kb), ["first", "second"], images=[pictures])
    assert ids is not None
    await indexes.tend()
    found = await world.search.similar_images(
        kb.organisation_id, kb.id, vectors=towards(1)[None, :], embedding="local/descriptor", limit=2
    )
    assert [chunk_id for chunk_id, _ in found] == [ids[0], ids[1]]


async def test_what_a_killed_build_left_is_dropped_and_built_again(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    (name,) = (await indexes.tend()).built
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(_LEFT_HALF_BUILT, (name,))
    assert await nearest(world, kb, towards(1), limit=1) == ["chunk 0"]
    tended = await indexes.tend()
    assert (tended.dropped, tended.built) == ((name,), (name,))
    assert await present(dsn) == {name: True}


async def test_an_index_whose_builder_died_before_it_said_so_is_taken_up(
    dsn: str, world: World, database: Database, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    (name,) = (await indexes.tend()).built
    async with database.organisation(kb.organisation_id) as connection:
        await connection.execute("DELETE FROM own_indexes")
    tended = await indexes.tend()
    assert (tended.built, tended.dropped) == ((), ())
    async with database.organisation(kb.organisation_id) as connection:
        rows = await (await connection.execute("SELECT name FROM own_indexes")).fetchall()
    assert [row["name"] for row in rows] == [name]


async def test_an_index_that_is_outgrown_serves_until_its_successor_is_complete(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    (first,) = (await indexes.tend()).built
    await world.write(await world.document(kb), [f"more {n}" for n in range(20 * LARGE)], around(20 * LARGE))
    async with held_up(dsn, indexes) as building:
        assert await registered(world, kb) == [(first, 1)]
    tended = await building
    assert (len(tended.built), tended.dropped) == (1, (first,))
    assert await present(dsn) == {tended.built[0]: True}
    assert await registered(world, kb) == [(tended.built[0], 2)]


async def test_a_graph_of_an_earlier_version_serves_until_lists_have_taken_its_place(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world, 200)
    before = await nearest(world, kb, towards(1, 1), limit=20)
    (name,) = (await indexes.tend()).built
    graph = name.rpartition("_")[0]
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(
            _AS_GRAPH.format(graph=graph, dimension=DIMENSION, organisation=kb.organisation_id, knowledge_base=kb.id)
        )
        await connection.execute(f"DROP INDEX {name}")
        await connection.execute("UPDATE own_indexes SET name = %s, lists = NULL, vectors = NULL", (graph,))

    assert await nearest(world, kb, towards(1, 1), limit=20) == before
    tended = await indexes.tend()
    assert (tended.built, tended.dropped) == ((name,), (graph,))
    assert await present(dsn) == {name: True}
    assert await nearest(world, kb, towards(1, 1), limit=20) == before


async def found_of_five(database: Database, kb: KnowledgeBase, vectors: Vectors, every: int) -> float:
    """The share of the nearest five of some of the vectors that is among the hundred found."""
    found = []
    async with database.organisation(kb.organisation_id) as connection:
        for question in vectors[::every]:
            cursor = await connection.execute(
                "SELECT id FROM nearest_chunks(%s, %s, %s, 100)",
                (kb.organisation_id, kb.id, half_vector(question)),
            )
            rows = [row["id"].int for row in await cursor.fetchall()]
            assert len(rows) == 100
            found.append(len(set(np.argsort(-vectors @ question)[:5]) & set(rows)) / 5)
    return float(np.mean(found))


async def test_of_many_lists_the_nearest_are_read(world: World, dsn: str, database: Database) -> None:
    vectors = clusters(20_000)
    kb = await filled(dsn, world, vectors)
    await PostgresOwnIndexes(database, dsn, indexed_from=INDEXED_FROM).tend()
    [(_, lists)] = await registered(world, kb)
    assert lists == 256
    assert await found_of_five(database, kb, vectors, 500) >= 0.98


async def test_long_vectors_are_found_by_their_heads_and_ordered_as_a_whole(
    world: World, dsn: str, database: Database, indexes: PostgresOwnIndexes
) -> None:
    vectors = clusters(2_000, LONG)
    kb = await filled(dsn, world, vectors)
    (name,) = (await indexes.tend()).built
    assert await found_of_five(database, kb, vectors, 40) >= 0.98
    question = vectors[7]
    async with database.organisation(kb.organisation_id) as connection:
        cursor = await connection.execute(
            "SELECT id FROM nearest_chunks(%s, %s, %s, 5)", (kb.organisation_id, kb.id, half_vector(question))
        )
        nearest_first = [row["id"].int for row in await cursor.fetchall()]
        scans = await (
            await connection.execute("SELECT pg_stat_get_xact_numscans(%s::regclass) AS scans", (name,))
        ).fetchone()
    assert nearest_first == list(np.argsort(-vectors @ question)[:5])
    assert scans == {"scans": 50 + 1}


async def test_an_index_of_whole_long_vectors_serves_until_that_of_their_heads_has_taken_its_place(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await filled(dsn, world, clusters(40, LONG))
    (name,) = (await indexes.tend()).built
    stem, size = name.split("_by")[0], name.rpartition("_")[2]
    whole = f"{stem}_{size}"
    async with await AsyncConnection.connect(dsn, autocommit=True) as connection:
        await connection.execute(
            _OF_WHOLE.format(whole=whole, dimension=LONG, organisation=kb.organisation_id, knowledge_base=kb.id)
        )
        await connection.execute(f"DROP INDEX {name}")
        await connection.execute("UPDATE own_indexes SET name = %s, head = NULL", (whole,))

    async with held_up(dsn, indexes) as building:
        assert await registered(world, kb) == [(whole, 1)]
    assert await building == Tended((name,), (whole,))
    assert await present(dsn) == {name: True}


async def test_vectors_without_a_centre_stay_without_an_index_and_hold_nobody_up(
    dsn: str, world: World, indexes: PostgresOwnIndexes, caplog: pytest.LogCaptureFixture
) -> None:
    opposite = await world.knowledge_base()
    directions = [towards(1 if n % 2 else -1) for n in range(4 * LARGE)]
    await world.write(await world.document(opposite), [f"chunk {n}" for n in range(4 * LARGE)], directions)
    other = await large(world)
    assert len((await indexes.tend()).built) == 1
    assert await registered(world, opposite) == []
    [(name, _)] = await registered(world, other)
    assert await present(dsn) == {name: True}
    assert (await nearest(world, opposite, towards(1), limit=1))[0].startswith("chunk ")
    assert await indexes.tend() == Tended()
    assert len([record for record in caplog.records if "can't be built" in record.message]) == 1


async def test_two_processes_at_once_build_one_index(dsn: str, world: World, database: Database) -> None:
    await large(world)
    several = [PostgresOwnIndexes(database, dsn, indexed_from=INDEXED_FROM) for _ in range(4)]
    tended = await asyncio.gather(*(each.tend() for each in several))
    assert sum(len(each.built) for each in tended) == 1
    assert len(await present(dsn)) == 1


async def test_a_builder_that_finds_another_at_work_returns_at_once(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    await large(world)
    async with await AsyncConnection.connect(dsn, autocommit=True) as other:
        await other.execute("SELECT pg_advisory_lock(%s)", (BUILDER_LOCK,))
        assert (await indexes.tend()).built == ()


async def test_a_knowledge_base_deleted_while_its_index_is_built_leaves_none(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    async with held_up(dsn, indexes) as building:
        await world.knowledge.delete_knowledge_base(kb.organisation_id, kb.id)
    tended = await building
    assert tended.built == ()
    assert await present(dsn) == {}


async def test_a_build_that_is_cancelled_leaves_nothing_that_searches_use(
    dsn: str, world: World, indexes: PostgresOwnIndexes
) -> None:
    kb = await large(world)
    async with held_up(dsn, indexes) as building:
        building.cancel()
        with pytest.raises(asyncio.CancelledError):
            await building
    assert await nearest(world, kb, towards(1), limit=1) == ["chunk 0"]
    (name,) = (await indexes.tend()).built
    assert await present(dsn) == {name: True}


async def test_a_role_that_does_not_own_the_tables_builds_nothing_and_says_so(
    dsn: str, world: World, database: Database, caplog: pytest.LogCaptureFixture
) -> None:
    await large(world)
    login = f"guest_{uuid4().hex}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {login} LOGIN")
    try:
        guest = psycopg.conninfo.make_conninfo(dsn, user=login)
        indexes = PostgresOwnIndexes(database, guest, indexed_from=INDEXED_FROM)
        assert [await indexes.tend(), await indexes.tend()] == [Tended(), Tended()]
    finally:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(f"DROP ROLE {login}")
    assert [record.message for record in caplog.records if record.name == "stores.postgres.own_indexes"] == [
        "large knowledge bases get no index: the database's role does not own the tables"
    ]
