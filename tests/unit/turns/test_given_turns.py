"""Turns of conversations that come with their request, and turns whose only listener leaves."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from graphs.chat import build_chat_graph
from stores.memory.signals import MemorySignals
from tests.support.chat_worlds import ChatWorld, open_chat_world
from tests.support.turning import Bench, ScriptedModel
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.domain.errors import NotFound, ProviderError
from tributary.domain.ids import new_id
from tributary.domain.usage import Bill
from tributary.turns.events import RunningTurn
from tributary.turns.given import GivenConversations, Unqueued
from tributary.turns.runner import CheckpointedGraph, TurnRequest, Turns
from tributary.turns.stops import Stops


@pytest.fixture
async def world() -> AsyncIterator[ChatWorld]:
    async with open_chat_world(None) as world:
        yield world


@pytest.fixture
def bills(world: ChatWorld, monkeypatch: pytest.MonkeyPatch) -> list[Bill]:
    """What the ledger is told to keep."""
    kept: list[Bill] = []

    async def record(organisation_id: UUID, bill: Bill) -> None:
        assert organisation_id == world.acme
        kept.append(bill)

    monkeypatch.setattr(world.usage, "record", record)
    return kept


def message(role: Role, content: str) -> Message:
    return Message(new_id(), new_id(), None, role, content, MessageStatus.COMPLETE, datetime.now(UTC))


class GivenBench:
    """Turns over `GivenConversations`."""

    def __init__(self, world: ChatWorld, model: ScriptedModel) -> None:
        self.world = world
        self.given = GivenConversations(world.usage)
        stops = Stops(MemorySignals())
        ports = replace(Bench(world, model).ports, conversations=self.given, stops=stops)
        self.turns = Turns(
            graph=CheckpointedGraph(build_chat_graph(ports).compile(), None),
            conversations=self.given,
            queue=Unqueued(),
            stops=stops,
            queue_timeout=5.0,
        )

    async def start(self, past: Sequence[Message] = ()) -> RunningTurn:
        bot, conversation = await self.world.bot(), new_id()
        self.given.open(self.world.acme, conversation, bot.id, past)
        request = TurnRequest(self.world.acme, str(bot.id), "Why?", conversation_id=str(conversation))
        return self.turns.start(replace(request, instructions="Be brief.", max_output=5))


async def test_the_model_is_given_the_past_and_the_bill_is_all_that_is_kept(
    world: ChatWorld, bills: list[Bill]
) -> None:
    model = ScriptedModel()
    bench = GivenBench(world, model)
    turn = await bench.start([message(Role.USER, "How?"), message(Role.ASSISTANT, "So.")])
    await turn.wait()
    assert turn.response is not None
    assert [each.content for each in model.calls[0]] == ["Be brief.", "How?", "So.", "Why?"]
    [bill] = bills
    assert (bill.conversation_id, str(bill.message_id)) == (None, turn.response["messageId"])
    assert str(bill.reservation_id) == turn.response["questionId"]
    assert await world.conversations.list(world.acme, bot_id=None, before=None, limit=9) == []


async def test_a_failure_leaves_its_bill_too(world: ChatWorld, bills: list[Bill]) -> None:
    bench = GivenBench(world, ScriptedModel(("Half", ProviderError("down"))))
    turn = await bench.start()
    await turn.wait()
    assert turn.problem is not None
    assert turn.problem["code"] == "provider_error"
    assert [bill.conversation_id for bill in bills] == [None]


async def test_a_given_conversation_is_its_organisation_s_alone_and_ends_with_its_turn(world: ChatWorld) -> None:
    given, conversation = GivenConversations(world.usage), new_id()
    given.open(world.acme, conversation, new_id(), ())
    assert (await given.get(world.acme, conversation)).id == conversation
    for organisation, wanted in ((world.globex, conversation), (world.acme, new_id())):
        with pytest.raises(NotFound):
            await given.recent(organisation, wanted, limit=5)
    given.close(conversation)
    with pytest.raises(NotFound):
        await given.get(world.acme, conversation)


async def test_who_leaves_stops_the_model_and_the_part_that_was_said_stays(world: ChatWorld) -> None:
    bench = Bench(world, ScriptedModel(("Half an", asyncio.Event())))
    turn = bench.start((await world.bot()).id)
    await bench.model.reached.wait()
    bench.turns.leave(turn)
    await turn.wait()
    assert turn.response is not None
    assert (turn.response["message"], turn.response["status"]) == ("Half an", "stopped")
    bench.turns.leave(turn)


async def test_who_leaves_the_queue_takes_nobody_else_along(world: ChatWorld) -> None:
    release = asyncio.Event()
    bench = Bench(world, ScriptedModel(("One", release)))
    bot = await world.bot()
    first = bench.start(bot.id)
    await bench.model.reached.wait()
    conversation: UUID = first.conversation_id
    second = bench.start(bot.id, "And?", conversation_id=str(conversation))
    await asyncio.sleep(0)
    bench.turns.leave(second)
    await second.wait()
    assert second.problem is not None
    release.set()
    await first.wait()
    assert first.response is not None
    assert first.response["status"] == "complete"
    questions = await world.conversations.messages(world.acme, conversation, after=None, limit=9)
    assert [each.content for each in questions][::2] == ["Why?"]
