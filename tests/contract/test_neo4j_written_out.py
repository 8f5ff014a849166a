"""What an entity's surroundings look like from it on Neo4j, where walks read them from the entity itself."""

from dataclasses import replace

from stores.neo4j.database import rows
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.protocols.graph import GraphFindings
from stores.protocols.graph_engines import GraphFilter
from tests.support.graph_drafts import said, tell
from tests.support.neo4j import Neo4jServer
from tests.support.worlds import World, neo4j_database
from tributary.domain.knowledge import KnowledgeBase

EARLIER = """
MATCH (e:KgEntity {kb: $kb}) REMOVE e:KgLegible, e.sides, e.further, e.passages, e.backwards, e.aliases
WITH DISTINCT e.kb AS kb
MATCH (n:KgName {kb: kb}) REMOVE n.entities
"""


async def ask(world: World, kb: KnowledgeBase, query: str, *, limit: int = 10) -> GraphFindings:
    return await world.graph.search(world.organisation_id, kb.id, query=query, limit=limit)


async def test_what_an_earlier_version_wrote_is_walked_as_what_is_written_now(
    neo4j_world: World, neo4j: Neo4jServer
) -> None:
    kb = await neo4j_world.knowledge_base()
    await tell(neo4j_world, kb, said(("Paris", "lies in", "France"), ("France", "lies in", "Europe")))
    now = await ask(neo4j_world, kb, "Paris")
    database = neo4j_database(neo4j)
    await database.write(lambda transaction: rows(transaction, EARLIER, kb=str(kb.id)))
    await database.close()
    assert (await ask(neo4j_world, kb, "Paris")).entities == (), "it lacks what a search reads"
    started = neo4j_database(neo4j)
    again = Neo4jGraphEngine(started, PostgresGraphGround(neo4j_world.database))
    assert await again.search(neo4j_world.organisation_id, kb.id, query="Paris") == now
    await started.close()


async def test_of_what_was_the_heaviest_nothing_is_left_when_its_document_goes(neo4j_world: World) -> None:
    kb = await neo4j_world.knowledge_base()
    heavy = said(*(("Hub", "has", f"Spoke{n}") for n in range(60)))
    relations = tuple(replace(each, weight=9.0) for each in heavy.relations)
    document, _ = await tell(neo4j_world, kb, replace(heavy, relations=relations))
    await tell(neo4j_world, kb, said(*(("Hub", "lacks", f"Cog{n}") for n in range(30))))
    assert {each["relation"] for each in (await ask(neo4j_world, kb, "Hub", limit=50)).relations} == {"has"}
    await neo4j_world.graph.remove_document(neo4j_world.organisation_id, kb.id, document.id)
    found = await ask(neo4j_world, kb, "Hub", limit=50)
    assert {each["relation"] for each in found.relations} == {"lacks"}
    assert len(found.relations) == 20


async def test_more_lies_around_an_entity_than_a_walk_takes(neo4j_world: World) -> None:
    kb = await neo4j_world.knowledge_base()
    await tell(neo4j_world, kb, said(*(("Hub", "has", f"Spoke{n}") for n in range(60))))
    around = GraphFilter(around="Hub", hops=1)
    page = await neo4j_world.graph.browse(neo4j_world.organisation_id, kb.id, select=around, limit=100)
    assert len(page.nodes) == 51
