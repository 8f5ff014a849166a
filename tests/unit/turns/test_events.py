"""A running turn and those who listen."""

import asyncio
from typing import Any
from uuid import uuid4

from tributary.domain.errors import NotFound
from tributary.turns.events import RunningTurn


async def read(turn: RunningTurn) -> list[tuple[str, Any]]:
    return [(event["event"], event["data"]) async for event in turn.events()]


async def test_a_listener_that_comes_late_hears_everything_from_the_start() -> None:
    turn = RunningTurn(uuid4(), uuid4())
    turn.publish("token", {"text": "a"})
    early = asyncio.create_task(read(turn))
    await asyncio.sleep(0)
    turn.publish("token", {"text": "b"})
    late = asyncio.create_task(read(turn))
    await asyncio.sleep(0)
    turn.fail(NotFound("bot", "x").problem())
    assert await early == await late
    assert [name for name, _ in await late] == ["token", "token", "error"]


async def test_an_event_that_comes_while_a_listener_is_busy_is_not_lost() -> None:
    turn = RunningTurn(uuid4(), uuid4())
    heard: list[str] = []

    async def slow() -> None:
        async for event in turn.events():
            heard.append(event["data"])
            await asyncio.sleep(0)

    listening = asyncio.create_task(slow())
    for number in range(20):
        turn.publish("token", str(number))
        await asyncio.sleep(0)
    turn.fail(NotFound("bot", "x").problem())
    await listening
    assert heard[:-1] == [str(number) for number in range(20)]


async def test_a_status_is_not_yet_the_beginning_of_an_answer() -> None:
    turn = RunningTurn(uuid4(), uuid4())
    waiting = asyncio.create_task(turn.begun())
    turn.publish("status", {"node": "validate_attachments", "state": "started"})
    await asyncio.sleep(0)
    assert not waiting.done()
    turn.publish("token", {"text": "a"})
    await waiting
    assert turn.answering
