"""Power cuts in mid-turn: nothing is lost, nothing happens twice (SPEC §2)."""

from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import httpx
import psycopg
import pytest

from tests.support.launching import Launcher
from tests.support.provider import Provider, run_provider
from tests.support.provider_faults import Hold, Stall


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as provider:
        yield provider


def make_bot(client: httpx.Client) -> str:
    return str(client.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"])


def test_a_turn_that_a_kill_ended_keeps_its_question_and_the_conversation_goes_on(
    launcher: Launcher, provider: Provider, dsn: str
) -> None:
    key = launcher.key()
    first = launcher.start(environment=provider.environment())
    with first.client(key) as client:
        bot = make_bot(client)
        conversation = client.post(f"/api/bots/{bot}/chat", json={"message": "one"}).json()["conversationId"]
        hold = Hold()
        provider.next_chat(hold)
        with ThreadPoolExecutor(1) as pool:
            lost = pool.submit(_ask_and_lose, first.url, key, bot, conversation)
            assert provider.wait_for_requests(2)
            running = client.get(f"/api/conversations/{conversation}/messages").json()["items"][-1]
            assert (running["content"], running["status"]) == ("two", "running")
            first.kill()
            assert lost.result() is None
        hold.event.set()

    second = launcher.start(environment=provider.environment())
    with second.client(key) as client:
        history = client.get(f"/api/conversations/{conversation}/messages").json()["items"]
        assert [(m["role"], m["content"], m["status"]) for m in history] == [
            ("user", "one", "complete"),
            ("assistant", "The stub answers.", "complete"),
            ("user", "two", "interrupted"),
        ]
        provider.requests.clear()
        answer = client.post(f"/api/bots/{bot}/chat", json={"message": "three", "conversationId": conversation}).json()
        # The lost question is left out of the prompt: the model never sees two questions in a row.
        assert [m["role"] for m in provider.chats[-1].body["messages"]] == ["user", "assistant", "user"]
        again = client.post(
            f"/api/bots/{bot}/chat",
            json={"message": "two", "conversationId": conversation, "replaceMessageId": history[2]["id"]},
        )
        assert (again.status_code, again.json()["message"]) == (200, "The stub answers.")
        assert answer["message"] == "The stub answers."
    with psycopg.connect(dsn) as connection:
        questions = connection.execute("SELECT count(*) FROM messages WHERE role = 'user'").fetchone()
        assert questions == (4,)


def _ask_and_lose(url: str, key: str, bot: str, conversation: str) -> dict[str, object] | None:
    """The answer, or None when the server died over it."""
    try:
        response = httpx.post(
            f"{url}/api/bots/{bot}/chat",
            json={"message": "two", "conversationId": conversation},
            headers={"Authorization": f"Bearer {key}"},
            timeout=60,
        )
    except httpx.TransportError:
        return None
    return dict(response.json())


def test_a_shutdown_lets_the_running_turn_finish(launcher: Launcher, provider: Provider) -> None:
    key = launcher.key()
    running = launcher.start(environment=provider.environment())
    with running.client(key) as client:
        bot = make_bot(client)
        hold = Hold()
        provider.next_chat(hold)
        with ThreadPoolExecutor(2) as pool:
            answer = pool.submit(client.post, f"/api/bots/{bot}/chat", json={"message": "slow"})
            assert provider.wait_for_requests(1)
            stopping = pool.submit(running.stop)
            hold.event.set()
            assert answer.result().json()["message"] == "The stub answers."
            assert stopping.result() == 0


def test_a_shutdown_lets_a_stream_come_to_its_end(launcher: Launcher, provider: Provider) -> None:
    running = launcher.start(environment=provider.environment())
    with running.client(launcher.key()) as client:
        bot = make_bot(client)
        hold = Hold()
        provider.next_chat(hold)
        with ThreadPoolExecutor(2) as pool:
            streaming = pool.submit(_stream, client, bot)
            assert provider.wait_for_requests(1)
            stopping = pool.submit(running.stop)
            # The stream stays open while the server waits for its turn.
            both: list[Future[Any]] = [streaming, stopping]
            assert not wait(both, timeout=1.5, return_when=FIRST_COMPLETED).done
            hold.event.set()
            assert streaming.result()[-1] == "event: done"
            assert stopping.result() == 0


def _stream(client: httpx.Client, bot: str) -> list[str]:
    """The names of a streamed turn's events."""
    headers = {"Accept": "text/event-stream"}
    with client.stream("POST", f"/api/bots/{bot}/chat", json={"message": "slow"}, headers=headers) as response:
        return [line for line in response.iter_lines() if line.startswith("event:")]


def test_a_client_that_leaves_takes_nothing_along(launcher: Launcher, provider: Provider) -> None:
    key = launcher.key()
    running = launcher.start(environment=provider.environment())
    with running.client(key) as client:
        bot = make_bot(client)
        hold = Hold()
        provider.next_chat(hold)
        body = {"message": "left alone"}
        headers = {"Accept": "text/event-stream"}
        with ThreadPoolExecutor(1) as pool:
            leaving = pool.submit(_leave, running.url, key, bot, body, headers)
            assert provider.wait_for_requests(1)
            leaving.result()
        conversation = client.get("/api/conversations").json()["items"][0]["id"]
        joined: list[str] = []
        with client.stream("GET", f"/api/conversations/{conversation}/stream") as response:
            hold.event.set()
            joined = [line for line in response.iter_lines() if line.startswith("event:")]
        assert joined[-1] == "event: done"
        history = client.get(f"/api/conversations/{conversation}/messages").json()["items"]
        assert [message["content"] for message in history] == ["left alone", "The stub answers."]


def _leave(url: str, key: str, bot: str, body: dict[str, str], headers: dict[str, str]) -> None:
    with (
        pytest.raises(httpx.ReadTimeout),
        httpx.Client(headers={"Authorization": f"Bearer {key}"} | headers, timeout=1.0) as client,
    ):
        client.post(f"{url}/api/bots/{bot}/chat", json=body)


def test_a_stop_keeps_what_was_written(launcher: Launcher, provider: Provider) -> None:
    key = launcher.key()
    running = launcher.start(environment=provider.environment())
    with running.client(key) as client:
        bot = make_bot(client)
        provider.answer = "One two three four."
        provider.next_chat(Stall(after=2))
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(client.post, f"/api/bots/{bot}/chat", json={"message": "count"})
            assert provider.wait_for_requests(1)
            conversation = client.get("/api/conversations").json()["items"][0]["id"]
            with client.stream("GET", f"/api/conversations/{conversation}/stream") as response:
                for line in response.iter_lines():
                    if "two" in line:
                        assert client.post(f"/api/conversations/{conversation}/stop").status_code == 202
                        break
            stopped = answer.result().json()
        assert (stopped["message"], stopped["status"]) == ("One two", "stopped")
        history = client.get(f"/api/conversations/{conversation}/messages").json()["items"]
        assert [message["status"] for message in history] == ["complete", "stopped"]
