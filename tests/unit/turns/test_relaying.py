"""Joining a turn that another process runs: whole, in order, whatever is lost on the way, and to a clean end."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from nodes.chat.state import ChatResponse
from stores.memory.signals import MemorySignals
from tests.support.chat_worlds import USAGE, ChatWorld, open_chat_world
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import Conflict, DependencyUnavailable
from tributary.domain.ids import new_id
from tributary.turns import relaying
from tributary.turns.events import RunningTurn, TurnEvent, TurnLog
from tributary.turns.relaying import Relays


class Lossy(MemorySignals):
    """Loses the parts of answers that a test names by their place in the order of sending."""

    lost: frozenset[int] = frozenset()
    sent: int = 0

    async def publish(self, payload: str, *, to: str | None = None) -> None:
        assert len(payload.encode()) <= 7_000
        if payload.startswith("turn-tell:"):
            self.sent += 1
            if self.sent in self.lost:
                return
        await super().publish(payload, to=to)


@dataclass
class Process:
    """One end: what runs here, and the relays."""

    world: ChatWorld
    signals: MemorySignals
    turns: dict[UUID, RunningTurn] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.relays = Relays(
            signals=self.signals,
            queue=self.world.queue,
            conversations=self.world.conversations,
            running=lambda _, conversation_id: self.turns.get(conversation_id),
        )


@dataclass
class Two:
    """A process that runs a turn, and one that listens."""

    world: ChatWorld
    runner: Process
    listener: Process
    signals: Lossy
    conversation_id: UUID = field(default_factory=new_id)

    def start(self) -> RunningTurn:
        turn = RunningTurn(self.world.acme, self.conversation_id)
        self.runner.turns[self.conversation_id] = turn
        return turn

    async def join(self) -> TurnLog:
        return await self.listener.relays.join(self.world.acme, self.conversation_id)


@pytest.fixture
async def two(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Two]:
    monkeypatch.setattr(relaying, "SILENCE", 0.1)
    monkeypatch.setattr(relaying, "LONGEST", 0.02)
    monkeypatch.setattr(relaying, "GATHERING", 0.0)
    everybody: list[MemorySignals] = []
    async with open_chat_world(None) as world:
        signals = Lossy(everybody)
        runner, listener = Process(world, signals), Process(world, MemorySignals(everybody))
        yield Two(world, runner, listener, signals)
        for process in (runner, listener):
            await process.relays.close()


def response(text: str) -> ChatResponse:
    return ChatResponse(
        message=text,
        conversationId="c",
        messageId="m",
        questionId="q",
        sources=[],
        usage=USAGE,
        model="local/extractive",
        status="complete",
        degraded=[],
        notSent=[],
        finishReason="stop",
    )


async def everything(turn: TurnLog) -> list[TurnEvent]:
    return [event async for event in turn.events()]


def told(events: list[TurnEvent]) -> str:
    return "".join(event["data"]["text"] for event in events if event["event"] == "token")


@pytest.mark.parametrize("lost", [(), (1,), (2, 3), (4, 5, 6)])
async def test_a_turn_is_heard_elsewhere_from_its_first_event_to_its_last(two: Two, lost: tuple[int, ...]) -> None:
    two.signals.lost = frozenset(lost)
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        turn.publish("token", {"text": "Once "})
        joined = await two.join()
        assert joined is not turn
        listening = asyncio.create_task(everything(joined))
        for number in range(100):
            turn.publish("token", {"text": f"{number} "})
            if number % 10 == 0:
                await asyncio.sleep(0.005)
        turn.succeed(response("the end"))
        events = await listening
    assert events == await everything(turn)
    assert events[-1]["event"] == "done"
    assert joined.response == turn.response


async def test_an_event_larger_than_a_signal_comes_in_parts(two: Two) -> None:
    text = "".join(chr(0x4E00 + (n * n * 7919) % 20_000) for n in range(60_000))
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        turn.publish("token", {"text": text})
        joined = await two.join()
        turn.succeed(response(text))
        assert told(await everything(joined)) == text
    assert two.signals.sent > 10


async def test_any_number_joins_on_one_relay(two: Two) -> None:
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        turn.publish("status", {"node": "retrieve", "state": "started"})
        joined = await asyncio.gather(*(two.join() for _ in range(50)))
        assert len({id(each) for each in joined}) == 1
        listening = [asyncio.create_task(everything(each)) for each in joined]
        turn.publish("token", {"text": "for all"})
        turn.succeed(response("for all"))
        assert {told(events) for events in await asyncio.gather(*listening)} == {"for all"}


async def test_a_failure_is_heard_as_one(two: Two) -> None:
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        turn.publish("status", {"node": "retrieve", "state": "started"})
        joined = await two.join()
        turn.fail(DependencyUnavailable("no model").problem())
        assert (await everything(joined))[-1]["event"] == "error"
    assert joined.problem == turn.problem


async def test_a_turn_of_this_process_is_joined_at_once(two: Two) -> None:
    own = RunningTurn(two.world.acme, two.conversation_id)
    two.listener.turns[two.conversation_id] = own
    assert await two.join() is own


async def test_where_nothing_runs_there_is_nothing_to_join(two: Two) -> None:
    with pytest.raises(Conflict):
        await two.join()
    assert two.signals.sent == 0


async def test_who_comes_to_join_the_turn_of_a_dead_process_finds_its_question_interrupted(two: Two) -> None:
    bot = await two.world.bot()
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        await two.world.begin(bot, conversation_id=two.conversation_id)
    with pytest.raises(Conflict):
        await two.join()
    [question] = await two.world.conversations.messages(two.world.acme, two.conversation_id, after=None, limit=5)
    assert question.status is MessageStatus.INTERRUPTED


async def test_a_conversation_that_is_held_for_something_else_is_waited_for(two: Two) -> None:
    async with two.world.queue.claim(two.world.acme, [two.conversation_id]):
        joining = asyncio.create_task(two.join())
        await asyncio.sleep(0)
    with pytest.raises(Conflict):
        await joining


async def test_another_organisation_hears_nothing(two: Two) -> None:
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        two.start()
        with pytest.raises(Conflict):
            await two.listener.relays.join(two.world.globex, two.conversation_id)


@pytest.mark.parametrize("asked_again", [False, True])
async def test_a_process_that_dies_in_mid_answer_ends_the_stream_as_interrupted(two: Two, asked_again: bool) -> None:
    bot = await two.world.bot()
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        question = await two.world.begin(bot, conversation_id=two.conversation_id)
        turn.question_id = str(question.id)
        turn.publish("token", {"text": "half an"})
        joined = await two.join()
        two.signals.lost = frozenset(range(1_000))
    if asked_again:
        await two.world.turn(bot, "Again?", conversation_id=two.conversation_id)
    events = await everything(joined)
    assert (told(events), events[-1]["event"]) == ("half an", "error")
    assert joined.problem is not None
    assert (joined.problem["code"], joined.problem["questionId"]) == ("interrupted", str(question.id))
    stored, *_ = await two.world.conversations.messages(two.world.acme, two.conversation_id, after=None, limit=5)
    assert stored.status is MessageStatus.INTERRUPTED


async def test_an_answer_that_was_stored_before_its_process_died_is_heard_to_its_end(two: Two) -> None:
    bot = await two.world.bot()
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        question = await two.world.begin(bot, conversation_id=two.conversation_id)
        turn.question_id = str(question.id)
        turn.publish("token", {"text": "Because "})
        joined = await two.join()
        two.signals.lost = frozenset(range(1_000))
        answer = await two.world.finish(bot, question, "Because it is so.")
    events = await everything(joined)
    assert told(events) == "Because it is so."
    assert joined.response is not None
    assert (joined.response["message"], joined.response["messageId"]) == ("Because it is so.", str(answer))


async def test_a_turn_that_nobody_listens_to_is_not_followed_any_more(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaying, "UNHEARD", 0.0)
    async with two.world.queue.turn(two.world.acme, two.conversation_id, timeout=1):
        turn = two.start()
        turn.publish("token", {"text": "anybody?"})
        first = await two.join()
        while two.listener.relays._relayed:
            await asyncio.sleep(0)
        # Who comes later hears it all the same.
        joined = await two.join()
        assert joined is not first
        turn.succeed(response("anybody?"))
        assert next(event["event"] for event in await everything(joined)) == "token"
