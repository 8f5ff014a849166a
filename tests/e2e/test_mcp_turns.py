"""Turns that agents begin over MCP: cancelled, failed, on several processes, and while a server stops."""

import asyncio
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.launching import Launcher
from tests.support.mcp_clients import MODES, connect
from tests.support.openai_clients import async_openai_of, user
from tests.support.provided import Chatting
from tests.support.provider import Provider
from tests.support.provider_faults import Pause, Refuse

pytest_plugins = ["tests.support.provided_fixtures"]


async def test_a_call_that_is_cancelled_stops_its_turn(chatting: Chatting) -> None:
    chatting.provider.answer = "One two three."
    bot = await asyncio.to_thread(chatting.bot)
    chatting.provider.next_chat(Pause(1))
    async with connect(chatting.client) as client:
        asking = asyncio.create_task(client.call_tool("ask_bot", {"botId": bot, "message": "Why?"}))
        assert await asyncio.to_thread(chatting.provider.wait_for_streams, 1)
        asking.cancel()
        await asyncio.wait([asking])
        assert await asyncio.to_thread(chatting.provider.wait_for_streams, 0, timeout=2.0)


@pytest.mark.parametrize("mode", MODES)
async def test_a_provider_that_fails_is_a_problem_of_the_tool(chatting: Chatting, mode: str) -> None:
    bot = await asyncio.to_thread(chatting.bot)
    chatting.provider.next_chat(Refuse(400))
    async with connect(chatting.client, mode) as client:
        result: Any = await client.call_tool("ask_bot", {"botId": bot, "message": "Why?"})
    told = json.loads(result.content[0].text)
    assert (result.is_error, told["code"], told["status"]) == (True, "provider_error", 502)
    assert {"conversationId", "questionId"} <= told.keys()


@pytest.fixture
def on_stub(tmp_path: Path, dsn: str, provider: Provider) -> Iterator[Launcher]:
    launcher = Launcher(tmp_path, dsn, **provider.environment())
    yield launcher
    launcher.close()


async def test_any_process_goes_on_with_a_conversation_and_a_stop_lets_answers_end(
    on_stub: Launcher, provider: Provider
) -> None:
    first, second = await asyncio.gather(*(asyncio.to_thread(on_stub.start) for _ in range(2)))
    key = await asyncio.to_thread(on_stub.key)
    with first.client(key) as here, second.client(key) as there:
        bot = here.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"]
        async with connect(here) as client:
            asked: Any = await client.call_tool("ask_bot", {"botId": bot, "message": "One?"})
        conversation = asked.structured_content["conversationId"]
        pauses = Pause(1), Pause(1)
        provider.next_chat(*pauses)
        async with connect(there) as client, async_openai_of(there) as completing:
            await client.list_tools()  # whose schemas an answer is checked against
            again = {"botId": bot, "message": "Two?", "conversationId": conversation}
            calling = asyncio.create_task(client.call_tool("ask_bot", again))
            completion = asyncio.create_task(completing.chat.completions.create(model=bot, messages=[user("Three?")]))
            assert await asyncio.to_thread(provider.wait_for_streams, 2)
            second.process.send_signal(signal.SIGTERM)
            await asyncio.sleep(0.5)
            for pause in pauses:
                pause.event.set()
            result: Any = await calling
            assert result.structured_content["message"] == provider.answer
            assert (await completion).choices[0].message.content == provider.answer
        assert await asyncio.to_thread(second.process.wait, 30) == 0
        messages = here.get(f"/api/conversations/{conversation}/messages").json()["items"]
    assert [each["content"] for each in messages][::2] == ["One?", "Two?"]
