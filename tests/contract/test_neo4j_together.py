"""Questions to Neo4j that are asked at the same moment go out as one statement."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph import Neo4jGraphSource
from stores.postgres.graph_ground import PostgresGraphGround
from tests.support.graph_drafts import said, tell
from tests.support.neo4j import Neo4jServer
from tests.support.worlds import World, neo4j_database
from tributary.domain.errors import DependencyUnavailable


class Watched(Neo4jDatabase):
    """Counts what is asked; waits for `free` before it answers."""

    def __init__(self, behind: Neo4jDatabase) -> None:
        self._behind = behind
        self.asked = 0
        self.free = asyncio.Event()
        self.free.set()

    async def ask(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        self.asked += 1
        await self.free.wait()
        return await self._behind.ask(statement, **parameters)


@pytest.fixture
async def database(neo4j: Neo4jServer) -> AsyncIterator[Watched]:
    behind = neo4j_database(neo4j)
    yield Watched(behind)
    await behind.close()


def source_of(world: World, kb_id: UUID, database: Neo4jDatabase) -> Neo4jGraphSource:
    return Neo4jGraphSource(database, PostgresGraphGround(world.database), world.organisation_id, kb_id)


async def test_each_gets_its_own_answer_from_one_statement(neo4j_world: World, database: Watched) -> None:
    kb = await neo4j_world.knowledge_base()
    _, [chunk] = await tell(neo4j_world, kb, said(("Paris", "lies in", "France")))
    source = source_of(neo4j_world, kb.id, database)
    named, mentioned, none = await asyncio.gather(
        source.named(["paris", "rome"]), source.mentioned_by([str(chunk)]), source.named(["rome"])
    )
    assert database.asked == 1
    assert [(each.key, each.mentions) for each in named] == [("paris", 1)]
    assert {each.entity_id for each in mentioned} > {named[0].entity_id}
    assert none == []


async def test_a_question_after_the_answer_is_a_statement_of_its_own(neo4j_world: World, database: Watched) -> None:
    kb = await neo4j_world.knowledge_base()
    await tell(neo4j_world, kb, said(("Paris", "lies in", "France")))
    source = source_of(neo4j_world, kb.id, database)
    assert await source.named(["paris"]) == await source.named(["paris"])
    assert database.asked == 2


@pytest.mark.parametrize("cancelled", [0, 1])
async def test_nobody_waits_for_ever_when_another_gives_up(
    neo4j_world: World, database: Watched, cancelled: int
) -> None:
    kb = await neo4j_world.knowledge_base()
    await tell(neo4j_world, kb, said(("Paris", "lies in", "France")))
    source = source_of(neo4j_world, kb.id, database)
    database.free.clear()
    questions = [asyncio.create_task(source.named([key])) for key in ("paris", "france")]
    while not database.asked:
        await asyncio.sleep(0)
    questions[cancelled].cancel()
    await asyncio.sleep(0)
    database.free.set()
    async with asyncio.timeout(30):
        first, second = await asyncio.gather(*questions, return_exceptions=True)
    outcomes = [first, second]
    assert isinstance(outcomes[cancelled], asyncio.CancelledError)
    other = outcomes[1 - cancelled]
    assert isinstance(other, asyncio.CancelledError) or other, (
        "it was answered, or ended with the one that asked for it"
    )
    assert await source.named(["paris"]), "and the next question is asked"


async def test_a_question_is_asked_when_the_one_before_it_gives_up_at_once(
    neo4j_world: World, database: Watched
) -> None:
    kb = await neo4j_world.knowledge_base()
    await tell(neo4j_world, kb, said(("Paris", "lies in", "France")))
    source = source_of(neo4j_world, kb.id, database)
    first, second = [asyncio.create_task(source.named([key])) for key in ("paris", "france")]
    await asyncio.sleep(0)
    assert first.cancel()
    assert not database.asked
    async with asyncio.timeout(30):
        assert await second
    assert first.cancelled()


async def test_an_error_is_that_of_each_who_asked(neo4j_world: World, neo4j: Neo4jServer) -> None:
    away = Neo4jDatabase("bolt://127.0.0.1:1", username=neo4j.username, password=neo4j.password)
    source = source_of(neo4j_world, uuid4(), away)
    outcomes = await asyncio.gather(source.named(["paris"]), source.mentioned_by(["x"]), return_exceptions=True)
    assert [type(each) for each in outcomes] == [DependencyUnavailable] * 2
    await away.close()
