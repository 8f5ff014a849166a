"""The stream of a turn: real errors before it begins, comments while the model thinks, one end."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from starlette.types import Message

from nodes.chat.state import ChatResponse
from tributary.domain.errors import ProviderError, WrongToken
from tributary.routes import chat
from tributary.turns.events import RunningTurn


class Listener:
    """A client that takes in a response as the server sends it."""

    def __init__(self) -> None:
        self.status = 0
        self.text = ""
        self._changed = asyncio.Event()

    async def hear(self, turn: RunningTurn, *, wait: float = 0.02) -> None:
        response = await chat.stream_turn(turn, wait=wait)
        await response({"type": "http", "method": "POST", "headers": []}, self._receive, self._send)

    async def until(self, text: str) -> None:
        async with asyncio.timeout(10):
            while text not in self.text:
                self._changed.clear()
                await self._changed.wait()

    async def _receive(self) -> Message:
        await asyncio.Event().wait()
        raise AssertionError("the client never leaves")

    async def _send(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        self.text += message.get("body", b"").decode()
        self._changed.set()

    @property
    def events(self) -> list[tuple[str, Any]]:
        return list(_events(self.text))


def _events(text: str) -> Iterator[tuple[str, Any]]:
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            yield lines["event"], json.loads(lines["data"])


@pytest.fixture
def turn() -> RunningTurn:
    return RunningTurn(uuid4(), uuid4())


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 0.02)
    monkeypatch.setattr(chat, "KEEP_ALIVE", 0.02)


def answer(text: str) -> ChatResponse:
    return ChatResponse(
        message=text,
        conversationId="c",
        messageId="m",
        questionId="q",
        sources=[],
        usage={"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        model="local/extractive",
        status="complete",
        degraded=[],
        notSent=[],
        finishReason="stop",
    )


async def test_the_connection_is_kept_alive_while_the_model_thinks(turn: RunningTurn) -> None:
    listener = Listener()
    hearing = asyncio.create_task(listener.hear(turn))
    await listener.until(": ping")
    assert listener.events == []
    turn.publish("token", {"text": "At last."})
    turn.succeed(answer("At last."))
    await hearing
    assert listener.status == 200
    assert [name for name, _ in listener.events] == ["token", "done"]


async def test_a_turn_that_fails_after_the_stream_began_ends_it_with_one_error(turn: RunningTurn) -> None:
    listener = Listener()
    hearing = asyncio.create_task(listener.hear(turn))
    await listener.until(": ping")
    turn.fail(ProviderError("overloaded").problem())
    await hearing
    assert listener.status == 200
    assert [(name, data["code"]) for name, data in listener.events] == [("error", "provider_error")]


async def test_a_turn_that_fails_at_once_is_an_http_error(turn: RunningTurn) -> None:
    listener = Listener()
    turn.fail(ProviderError("busy", retry_after=90).problem())
    await listener.hear(turn)
    assert listener.status == 502
    assert json.loads(listener.text)["code"] == "provider_error"


async def test_two_who_listen_hear_the_same_from_the_first_event(turn: RunningTurn) -> None:
    turn.publish("token", {"text": "One "})
    first, second = Listener(), Listener()
    hearing = asyncio.gather(first.hear(turn), second.hear(turn))
    await asyncio.gather(first.until("One"), second.until("One"))
    turn.publish("token", {"text": "two."})
    turn.succeed(answer("One two."))
    await hearing
    assert first.events == second.events
    assert [name for name, _ in first.events] == ["token", "token", "done"]


def store(turn: RunningTurn) -> None:
    turn.question_id = "q"
    turn.publish("status", {"node": "record_question", "state": "finished"})


async def test_a_stream_begins_with_the_stored_question_where_that_is_preferred(
    turn: RunningTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 60.0)
    listener = Listener()
    hearing = asyncio.create_task(listener.hear(turn, wait=0))
    store(turn)
    await listener.until("record_question")
    turn.fail(ProviderError("overloaded").problem())
    await hearing
    assert listener.status == 200
    assert [name for name, _ in listener.events] == ["status", "error"]


async def test_a_turn_that_is_refused_before_its_question_is_stored_is_an_http_error_however_it_is_asked_for(
    turn: RunningTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 60.0)
    listener = Listener()
    hearing = asyncio.create_task(listener.hear(turn, wait=0))
    turn.publish("status", {"node": "validate_attachments", "state": "started"})
    await asyncio.sleep(0)
    turn.fail(WrongToken("no").problem())
    await hearing
    assert (listener.status, json.loads(listener.text)["code"]) == (403, "wrong_token")


async def test_a_model_that_fails_soon_after_the_question_was_stored_is_an_http_error(
    turn: RunningTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 60.0)
    listener = Listener()
    store(turn)
    hearing = asyncio.create_task(listener.hear(turn, wait=60))
    await asyncio.sleep(0)
    turn.fail(ProviderError("refused").problem())
    await hearing
    assert listener.status == 502


@pytest.mark.parametrize(
    ("prefer", "wait"),
    [
        (None, 15.0),
        ("wait=0", 0),
        ("respond-async, wait=7; x=y", 7),
        ("wait=999999", 15.0),
        ("wait=soon, await=2", 15.0),
    ],
)
def test_the_preferred_wait_is_read_as_rfc_7240_writes_it(
    prefer: str | None, wait: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat, "PATIENCE", 15.0)
    assert chat.preferred_wait(prefer) == wait
