"""What becomes of knowledge graphs in Neo4j while it is away, slow to come back, or asked in odd ways."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres.database import Database
from stores.postgres.graph_ground import PostgresGraphGround
from stores.protocols.graph import EntityDraft, GraphDraft, GraphFindings
from stores.protocols.graph_engines import Engine
from tests.support.cuttable import CuttableWay
from tests.support.graph_drafts import said, tell
from tests.support.neo4j import Neo4jServer
from tests.support.worlds import World, neo4j_database, open_world
from tributary.domain.errors import DependencyUnavailable, InvalidRequest
from tributary.knowledge_graphs import KnowledgeGraphs


@pytest.fixture
def way(neo4j: Neo4jServer) -> Iterator[CuttableWay]:
    host, _, port = neo4j.uri.removeprefix("bolt://").partition(":")
    with CuttableWay(host, int(port)) as way:
        yield way


@pytest.fixture
async def world(way: CuttableWay, neo4j: Neo4jServer, shared_dsn: str) -> AsyncIterator[World]:
    server = Neo4jServer(f"bolt://127.0.0.1:{way.port}", neo4j.password)
    async with open_world(shared_dsn, server) as world:
        yield world


def graphs_of(world: World) -> KnowledgeGraphs:
    assert isinstance(world.graph, Neo4jGraphEngine)
    ground = PostgresGraphGround(world.database)
    return KnowledgeGraphs({Engine.NEO4J: world.graph}, placement=ground, ground=ground)


async def test_a_lost_connection_is_our_error_and_mends_by_itself(world: World, way: CuttableWay) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    way.cut()
    with pytest.raises(DependencyUnavailable):
        await world.graph.search(world.organisation_id, kb.id, query="Paris")
    way.mend()
    assert (await world.graph.search(world.organisation_id, kb.id, query="Paris")).entities


async def test_a_connection_that_broke_while_idle_is_not_noticed_by_a_search(world: World, way: CuttableWay) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    way.cut()
    way.mend()
    assert (await world.graph.search(world.organisation_id, kb.id, query="Paris")).entities


async def test_what_can_not_be_written_is_an_error_and_can_be_written_again(world: World, way: CuttableWay) -> None:
    kb = await world.knowledge_base()
    document, ids = await tell(world, kb, said(("Paris", "lies in", "France")))
    way.cut()
    draft = said(("Lima", "lies in", "Peru"))
    key = world.organisation_id, kb.id, document.id
    with pytest.raises(DependencyUnavailable):
        await world.graph.write_document(*key, draft, ids)
    way.mend()
    await world.graph.write_document(*key, draft, ids)
    found = await world.graph.search(world.organisation_id, kb.id, query="Paris Lima")
    assert {entity["name"] for entity in found.entities} == {"Lima", "Peru"}


async def test_a_document_deleted_while_it_was_away_is_found_no_more_and_cleared_later(
    world: World, way: CuttableWay
) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell(world, kb, said(("Paris", "has", "Louvre")))
    way.cut()
    await world.knowledge.delete_document(world.organisation_id, kb.id, document.id)
    way.mend()
    found = await world.graph.search(world.organisation_id, kb.id, query="Paris in France")
    assert {relation["target"] for relation in found.relations} == {"Louvre"}
    assert "France" not in {entity["name"] for entity in found.entities}
    assert await graphs_of(world).clear_leftovers(world.organisation_id) == 1
    counts = await world.graph.counts(world.organisation_id, kb.id)
    assert (counts.documents, counts.entities, counts.relations) == (1, 2, 1)
    assert await graphs_of(world).clear_leftovers(world.organisation_id) == 0


async def test_a_version_that_was_replaced_while_it_was_away_is_found_no_more_and_cleared_later(
    world: World, way: CuttableWay
) -> None:
    kb = await world.knowledge_base()
    document, _ = await tell(world, kb, said(("Paris", "lies in", "France")))
    way.cut()
    assert await world.write(document, ["another text"])
    way.mend()
    assert await world.graph.search(world.organisation_id, kb.id, query="Paris") == GraphFindings()
    assert await graphs_of(world).clear_leftovers(world.organisation_id) == 1
    assert (await world.graph.counts(world.organisation_id, kb.id)).entities == 0


async def test_a_knowledge_base_deleted_while_it_was_away_is_cleared_later(world: World, way: CuttableWay) -> None:
    kb, other = await world.knowledge_base(), await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    await tell(world, other, said(("Paris", "lies in", "France")))
    way.cut()
    await world.knowledge.delete_knowledge_base(world.organisation_id, kb.id)
    way.mend()
    assert await graphs_of(world).clear_leftovers(world.organisation_id) == 1
    assert await world.graph.knowledge_bases(world.organisation_id) == [other.id]


async def test_clearing_leaves_what_belongs_to_others(world: World) -> None:
    kb = await world.knowledge_base()
    await tell(world, kb, said(("Paris", "lies in", "France")))
    assert await graphs_of(world).clear_leftovers(world.other_id) == 0
    assert (await world.graph.counts(world.organisation_id, kb.id)).documents == 1


async def test_a_wrong_password_and_a_wrong_address_are_our_errors(neo4j: Neo4jServer, database: Database) -> None:
    for uri, database_name, password in (
        (neo4j.uri, None, "wrong"),
        ("http://127.0.0.1:1", None, neo4j.password),
        ("bolt://127.0.0.1:1", None, neo4j.password),
        (neo4j.uri, "nowhere", neo4j.password),
    ):
        remote = Neo4jDatabase(uri, username=neo4j.username, password=password, database=database_name)
        graph = Neo4jGraphEngine(remote, PostgresGraphGround(database))
        with pytest.raises(DependencyUnavailable):
            await graph.search(uuid4(), uuid4(), query="Paris")
        await remote.close()


async def test_half_a_surrogate_pair_is_refused_as_such(world: World) -> None:
    kb = await world.knowledge_base()
    document, ids = await tell(world, kb, said(("Paris", "lies in", "France")))
    draft = GraphDraft(entities=(EntityDraft("key", "half \ud800", "name"),))
    with pytest.raises(InvalidRequest):
        await world.graph.write_document(world.organisation_id, kb.id, document.id, draft, ids)


async def test_the_schema_is_made_by_many_at_once(neo4j: Neo4jServer) -> None:
    databases = [neo4j_database(neo4j) for _ in range(6)]
    await asyncio.gather(*(each.check() for each in databases))
    for each in databases:
        await each.close()


async def test_each_event_loop_has_a_driver_of_its_own(neo4j: Neo4jServer) -> None:
    shared = neo4j_database(neo4j)

    async def elsewhere() -> None:
        await shared.check()
        await shared.close()

    await shared.check()
    await asyncio.to_thread(lambda: asyncio.run(elsewhere()))
    await shared.check()
    await shared.close()
