"""Turns that are run again from a checkpoint: each further answer is a branch of its conversation."""

from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from nodes.chat.answering import NO_USAGE
from nodes.chat.forks import invoke_metered, record_answer_or_branch, record_question_once
from tests.support.chat_worlds import ChatWorld, open_chat_world
from tributary.domain.ids import new_id
from tributary.domain.usage import UsageKind
from tributary.models.metering import Meter, ModelCall, answer_usage, note, spent_or

RUNTIME: Any = SimpleNamespace(context=None)


class Turning:
    """A turn's state between its two ends."""

    def __init__(self, world: ChatWorld, bot: UUID) -> None:
        self._ports: Any = {"caller": lambda _: world.acme, "conversations": world.conversations}
        self.world = world
        self.conversation = new_id()
        turn = {
            "conversationId": str(self.conversation),
            "opening": True,
            "questionId": str(new_id()),
            "answerId": str(new_id()),
            "botId": str(bot),
            "model": "local/extractive",
            "replaceMessageId": None,
        }
        self.state: Any = {
            "message": "Why?",
            "turn": turn,
            "files": [],
            "sources": [],
            "status": "complete",
            "usage": NO_USAGE,
            "degraded": [],
            "notSent": [],
            "finishReason": "stop",
        }

    async def ask(self) -> Any:
        return await record_question_once(self.state, RUNTIME, **self._ports)

    async def answer(self, content: str) -> Any:
        state: Any = {**self.state, "answer": content}
        return await record_answer_or_branch(state, RUNTIME, **self._ports)

    async def told(self) -> list[str]:
        recent = await self.world.conversations.recent(self.world.acme, self.conversation, limit=9)
        return [each.content for each in recent]


@pytest.fixture
async def turning() -> Any:
    async with open_chat_world(None) as world:
        yield Turning(world, (await world.bot()).id)


async def test_the_first_answer_is_the_turns_own(turning: Turning) -> None:
    await turning.ask()
    recorded = await turning.answer("Because.")
    assert recorded["response"]["questionId"] == turning.state["turn"]["questionId"]
    assert await turning.told() == ["Why?", "Because."]


async def test_a_second_answer_is_a_branch_beside_the_first(turning: Turning) -> None:
    await turning.ask()
    first = await turning.answer("Because.")
    turning.state["message"] = "Why not?"
    assert await turning.ask() == {}, "the question has been answered, and stays as it is"
    second = await turning.answer("Therefore.")
    assert second["error"] is None
    assert second["turn"]["replaceMessageId"] == first["response"]["questionId"]
    assert second["response"]["questionId"] != first["response"]["questionId"]
    assert second["response"]["messageId"] != first["response"]["messageId"]
    assert await turning.told() == ["Why not?", "Therefore."]
    third = await turning.answer("Well.")
    assert third["response"]["questionId"] not in {each["response"]["questionId"] for each in (first, second)}


async def test_a_turn_that_stood_still_is_answered_in_its_place(turning: Turning) -> None:
    await turning.ask()
    await turning.world.conversations.interrupt_orphans(turning.world.acme)
    recorded = await turning.answer("Because.")
    assert recorded["error"] is None
    assert await turning.told() == ["Why?", "Because."]


async def test_nothing_branches_from_a_conversation_that_is_gone(turning: Turning) -> None:
    await turning.ask()
    await turning.answer("Because.")
    turning.state["turn"]["questionId"] = str(new_id())
    recorded = await turning.answer("Again.")
    assert recorded["error"]["code"] == "conflict"
    assert await turning.told() == ["Why?", "Because."]


async def test_a_call_is_metered_and_its_cost_reaches_the_bill() -> None:
    def meter() -> Meter:
        return Meter(lambda _: Decimal("0.25"))

    async def invoke(state: Any, runtime: Any) -> Any:
        note(ModelCall("openai/some", UsageKind.CHAT, 10, 5))
        return {"usage": answer_usage()}

    told = await invoke_metered({}, RUNTIME, invoke=invoke, meter=meter)
    assert told["usage"]["costUsd"] == 0.25
    [spent] = spent_or("openai/some", told["usage"])
    assert (spent.cost, spent.unpriced_calls, spent.total_tokens) == (Decimal("0.25"), 0, 15)
