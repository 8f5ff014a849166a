"""Which engine holds a knowledge base's graph, and moving it from one to the other."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import pytest

from stores.graph_engines import GraphEngines
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.protocols.graph import GraphDraft
from stores.protocols.graph_engines import Engine, GraphCounts, GraphEngine
from tests.support.graph_drafts import said
from tests.support.neo4j import Neo4jServer
from tests.support.worlds import World, open_world
from tributary.domain.errors import Conflict, DependencyUnavailable, InvalidRequest, NotFound
from tributary.domain.knowledge import KnowledgeBase
from tributary.knowledge_graphs import KnowledgeGraphs

STATEMENTS = [("Paris", "lies in", "France"), ("Paris", "has", "Louvre")]


@dataclass(frozen=True)
class Both:
    """A world whose graphs may be in either engine."""

    world: World
    neo4j: Neo4jGraphEngine
    postgres: PostgresGraphEngine
    ground: PostgresGraphGround

    @property
    def engines(self) -> dict[Engine, GraphEngine]:
        return {Engine.POSTGRES: self.postgres, Engine.NEO4J: self.neo4j}

    def graph(self, default: Engine = Engine.POSTGRES) -> GraphEngines:
        return GraphEngines(self.engines, self.ground, default=default)

    @property
    def whole(self) -> KnowledgeGraphs:
        return KnowledgeGraphs(self.engines, placement=self.ground, ground=self.ground)

    async def told(self, default: Engine, documents: int = 3) -> KnowledgeBase:
        """A knowledge base with documents that share entities."""
        kb = await self.world.knowledge_base()
        for n in range(documents):
            await self.tell(kb, said(*STATEMENTS, ("Paris", "knows", f"Person {n}")), default)
        return kb

    async def tell(self, kb: KnowledgeBase, draft: GraphDraft, default: Engine = Engine.POSTGRES) -> UUID:
        document = await self.world.document(kb)
        written = await self.world.write(document, ["a", "b", "c"])
        assert written is not None
        ids = [written[each] for each in range(3)]
        await self.graph(default).write_document(kb.organisation_id, kb.id, document.id, draft, ids)
        return document.id

    async def held(self, kb: KnowledgeBase) -> dict[Engine, GraphCounts]:
        return {name: await engine.counts(kb.organisation_id, kb.id) for name, engine in self.engines.items()}

    async def names(self, kb: KnowledgeBase) -> set[str]:
        found = await self.graph().search(kb.organisation_id, kb.id, query="Paris", limit=50)
        return {entity["name"] for entity in found.entities}


@pytest.fixture
async def both(neo4j: Neo4jServer, shared_dsn: str) -> AsyncIterator[Both]:
    async with open_world(shared_dsn, neo4j) as world:
        assert isinstance(world.graph, Neo4jGraphEngine)
        ground = PostgresGraphGround(world.database)
        yield Both(world, world.graph, PostgresGraphEngine(world.database), ground)


EMPTY = GraphCounts()
WHOLE = GraphCounts(documents=3, entities=6, relations=5, mentions=18, statements=9)


@pytest.mark.parametrize("engine", list(Engine))
async def test_a_new_graph_goes_to_the_default_engine_and_stays_there(both: Both, engine: Engine) -> None:
    kb = await both.told(engine)
    other = Engine.POSTGRES if engine is Engine.NEO4J else Engine.NEO4J
    await both.tell(kb, said(("Lima", "lies in", "Peru")), default=other)
    held = await both.held(kb)
    assert held[engine].documents == 4
    assert held[other] == EMPTY


@pytest.mark.parametrize(("source", "target"), [(Engine.POSTGRES, Engine.NEO4J), (Engine.NEO4J, Engine.POSTGRES)])
async def test_a_graph_is_moved_whole(both: Both, source: Engine, target: Engine) -> None:
    kb = await both.told(source)
    before = await both.names(kb)
    copied: list[int] = []
    counts = await both.whole.move(kb.organisation_id, kb.id, target, tell=copied.append)
    assert counts == WHOLE
    assert await both.held(kb) == {source: EMPTY, target: WHOLE}
    assert await both.names(kb) == before
    assert copied == [1, 2, 3]


async def test_a_graph_that_was_moved_there_and_back_is_the_same(both: Both) -> None:
    kb = await both.told(Engine.POSTGRES)
    ids = [each.id for each in await both.postgres.documents(kb.organisation_id, kb.id, after=None, limit=9)]
    before = await both.postgres.records(kb.organisation_id, kb.id, ids)
    await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J)
    await both.whole.move(kb.organisation_id, kb.id, Engine.POSTGRES)
    assert await both.postgres.records(kb.organisation_id, kb.id, ids) == before


async def test_a_move_that_was_done_can_be_done_again(both: Both) -> None:
    kb = await both.told(Engine.POSTGRES)
    await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J)
    assert await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J) == WHOLE


async def test_a_move_that_broke_off_while_copying_goes_on(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = await both.told(Engine.POSTGRES)
    write, calls = both.neo4j.write_document, []

    async def once(
        organisation: UUID, base: UUID, document: UUID, draft: GraphDraft, chunk_ids: Sequence[UUID]
    ) -> None:
        calls.append(document)
        if len(calls) == 2:
            raise DependencyUnavailable("Neo4j can't be reached")
        await write(organisation, base, document, draft, chunk_ids)

    monkeypatch.setattr(both.neo4j, "write_document", once)
    with pytest.raises(DependencyUnavailable):
        await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J)
    assert "Louvre" in await both.names(kb)
    assert await both.ground.engine(kb.organisation_id, kb.id) is Engine.POSTGRES
    assert await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J) == WHOLE
    assert len(calls) == 4


async def test_a_move_that_broke_off_before_it_cleared_up_goes_on(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = await both.told(Engine.POSTGRES)

    async def away(_: UUID, __: UUID) -> None:
        raise DependencyUnavailable("PostgreSQL can't be reached")

    with monkeypatch.context() as patch:
        patch.setattr(both.postgres, "remove_knowledge_base", away)
        with pytest.raises(DependencyUnavailable):
            await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J)
    assert "Louvre" in await both.names(kb)
    assert await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J) == WHOLE
    assert (await both.held(kb))[Engine.POSTGRES] == EMPTY


async def test_what_was_deleted_since_a_broken_off_move_is_not_moved(both: Both) -> None:
    kb = await both.told(Engine.POSTGRES)
    gone = await both.tell(kb, said(("Lima", "lies in", "Peru")))
    [record] = await both.postgres.records(kb.organisation_id, kb.id, [gone])
    await both.neo4j.write_document(kb.organisation_id, kb.id, gone, record.draft, record.chunk_ids)
    await both.world.knowledge.delete_document(kb.organisation_id, kb.id, gone)
    assert await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J) == WHOLE


async def test_what_is_written_while_a_graph_moves_is_there_afterwards(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb = await both.told(Engine.POSTGRES)
    write = both.postgres.write_document

    async def moved_meanwhile(
        organisation: UUID, base: UUID, document: UUID, draft: GraphDraft, chunk_ids: Sequence[UUID]
    ) -> None:
        await both.whole.move(organisation, base, Engine.NEO4J)
        await write(organisation, base, document, draft, chunk_ids)

    with monkeypatch.context() as patch:
        patch.setattr(both.postgres, "write_document", moved_meanwhile)
        await both.tell(kb, said(("Paris", "near", "Versailles")))
    assert "Versailles" in await both.names(kb)


async def test_a_copy_that_is_not_whole_does_not_take_the_place(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    kb = await both.told(Engine.POSTGRES)

    async def nothing(*_: object) -> None:
        """A target that loses what it is given."""

    monkeypatch.setattr(both.neo4j, "write_document", nothing)
    with pytest.raises(Conflict):
        await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J)
    assert await both.ground.engine(kb.organisation_id, kb.id) is Engine.POSTGRES
    assert "Louvre" in await both.names(kb)


async def test_an_empty_graph_moves_too(both: Both) -> None:
    kb = await both.world.knowledge_base()
    assert await both.whole.move(kb.organisation_id, kb.id, Engine.NEO4J) == EMPTY
    await both.tell(kb, said(*STATEMENTS), default=Engine.POSTGRES)
    assert (await both.held(kb))[Engine.NEO4J].documents == 1


async def test_an_unknown_knowledge_base_and_an_engine_that_is_not_there_are_told(both: Both) -> None:
    kb = await both.told(Engine.POSTGRES)
    with pytest.raises(NotFound):
        await both.whole.move(both.world.other_id, kb.id, Engine.NEO4J)
    alone = KnowledgeGraphs({Engine.POSTGRES: both.postgres}, placement=both.ground, ground=both.ground)
    with pytest.raises(InvalidRequest):
        await alone.move(kb.organisation_id, kb.id, Engine.NEO4J)
    assert (await both.held(kb))[Engine.POSTGRES] == WHOLE


async def test_a_graph_in_an_engine_that_is_not_configured_any_more_is_not_an_empty_one(both: Both) -> None:
    kb = await both.told(Engine.NEO4J)
    alone = GraphEngines({Engine.POSTGRES: both.postgres}, both.ground, default=Engine.POSTGRES)
    with pytest.raises(DependencyUnavailable):
        await alone.search(kb.organisation_id, kb.id, query="Paris")
    with pytest.raises(DependencyUnavailable):
        await alone.browse(kb.organisation_id, kb.id)


async def test_deleting_takes_a_graph_out_of_every_engine(both: Both) -> None:
    kb = await both.told(Engine.NEO4J)
    [first, *_] = await both.neo4j.documents(kb.organisation_id, kb.id, after=None, limit=9)
    await both.graph().remove_document(kb.organisation_id, kb.id, first.id)
    assert (await both.held(kb))[Engine.NEO4J].documents == 2
    await both.world.knowledge.delete_knowledge_base(kb.organisation_id, kb.id)
    await both.graph().remove_document(kb.organisation_id, kb.id, first.id)
    await both.graph().remove_knowledge_base(kb.organisation_id, kb.id)
    assert await both.held(kb) == {Engine.POSTGRES: EMPTY, Engine.NEO4J: EMPTY}
