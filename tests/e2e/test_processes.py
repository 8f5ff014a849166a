"""Several processes serve one conversation: joined, stopped and asked anywhere, and none the worse for a kill."""

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from tests.support.launching import Launcher, Running
from tests.support.postgres import Server
from tests.support.provided import events_of
from tests.support.provider import Provider
from tests.support.provider_faults import Pause

Events = list[tuple[str, Any]]


@dataclass
class Two:
    """Two servers on one database, with a data folder each, as on two machines; and a key of theirs."""

    launcher: Launcher
    first: Running
    second: Running
    key: str
    bot: str

    def client(self, server: Running) -> httpx.Client:
        return server.client(self.key)


@pytest.fixture(scope="module")
def two(postgres: Server, running_provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    dsn = postgres.clone()
    launcher = Launcher(tmp_path_factory.mktemp("processes"), dsn)
    try:
        environment = running_provider.environment()
        with ThreadPoolExecutor(2) as pool:
            elsewhere = {"TRIBUTARY_DATA": str(tmp_path_factory.mktemp("elsewhere"))}
            starting = pool.submit(launcher.start, environment=environment | elsewhere)
            first = launcher.start(environment=environment)
            second = starting.result()
        key = launcher.key()
        with first.client(key) as client:
            bot = str(client.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"])
        yield Two(launcher, first, second, key, bot)
    finally:
        launcher.close()
        postgres.drop(dsn)


def stream(
    client: httpx.Client,
    method: str,
    path: str,
    *,
    body: dict[str, str] | None = None,
    seen: threading.Event | None = None,
) -> Events:
    """A stream to its end; `seen` is set with its first token."""
    events: Events = []
    headers = {"Accept": "text/event-stream"}
    with client.stream(method, path, headers=headers, json=body) as response:
        assert response.status_code == 200, response.read()
        name = ""
        for line in response.iter_lines():
            if line.startswith("event:"):
                name = line.removeprefix("event:").strip()
            elif line.startswith("data:"):
                events.append((name, json.loads(line.removeprefix("data:"))))
                if name == "token" and seen is not None:
                    seen.set()
    return events


def started(client: httpx.Client, two: Two) -> str:
    """A conversation with one turn."""
    answer = client.post(f"/api/bots/{two.bot}/chat", json={"message": "one"})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["conversationId"])


def test_an_answer_is_joined_on_another_process_in_the_middle_by_many(two: Two, provider: Provider) -> None:
    provider.answer = "One two three four five six."
    with two.client(two.first) as here, two.client(two.second) as there, ThreadPoolExecutor(8) as pool:
        conversation = started(here, two)
        joining = f"/api/conversations/{conversation}/stream"
        pause = Pause(after=3)
        provider.next_chat(pause)
        body = {"message": "count", "conversationId": conversation}
        seen = threading.Event()
        asked = pool.submit(stream, here, "POST", f"/api/bots/{two.bot}/chat", seen=seen, body=body)
        assert seen.wait(30)
        joined = [threading.Event() for _ in range(3)]
        late = [pool.submit(stream, there, "GET", joining, seen=each) for each in joined]
        assert all(each.wait(30) for each in joined)
        pause.event.set()
        assert [events.result() for events in late] == [asked.result()] * 3
        # At the end there is nothing to join any more.
        assert there.get(joining).status_code == 409


def test_what_is_joined_elsewhere_can_be_stopped_there(two: Two, provider: Provider) -> None:
    provider.answer = "One two three four."
    with two.client(two.first) as here, two.client(two.second) as there, ThreadPoolExecutor(2) as pool:
        conversation = started(here, two)
        provider.next_chat(Pause(after=2))
        body = {"message": "count", "conversationId": conversation}
        asked = pool.submit(here.post, f"/api/bots/{two.bot}/chat", json=body)
        assert provider.wait_for_requests(2)
        seen = threading.Event()
        joined = pool.submit(stream, there, "GET", f"/api/conversations/{conversation}/stream", seen=seen)
        assert seen.wait(30)
        assert there.post(f"/api/conversations/{conversation}/stop").status_code == 202
        name, answer = joined.result()[-1]
        assert (name, answer["status"]) == ("done", "stopped")
        assert asked.result().json() == answer


def test_messages_to_one_conversation_queue_over_both(two: Two, provider: Provider) -> None:
    with two.client(two.first) as here, two.client(two.second) as there, ThreadPoolExecutor(8) as pool:
        conversation = started(here, two)
        path = f"/api/bots/{two.bot}/chat"
        bodies = [{"message": f"question {number}", "conversationId": conversation} for number in range(8)]
        answers = [pool.submit((here, there)[n % 2].post, path, json=body) for n, body in enumerate(bodies)]
        assert {answer.result().status_code for answer in answers} == {200}
        history = there.get(f"/api/conversations/{conversation}/messages").json()["items"]
    assert [message["role"] for message in history] == ["user", "assistant"] * 9
    assert {message["status"] for message in history} == {"complete"}
    # The model never saw two questions in a row.
    for call in provider.chats:
        roles = [each["role"] for each in call.body["messages"] if each["role"] != "system"]
        assert roles == [("user", "assistant")[n % 2] for n in range(len(roles))]


def test_a_kill_in_mid_answer_is_told_elsewhere_and_a_repeated_request_goes_on_at_once(
    two: Two, provider: Provider, running_provider: Provider
) -> None:
    provider.answer = "One two three four."
    doomed = two.launcher.start(environment=running_provider.environment())
    with two.client(doomed) as here, two.client(two.second) as there, ThreadPoolExecutor(2) as pool:
        conversation = started(here, two)
        provider.next_chat(Pause(after=2))
        path, body = f"/api/bots/{two.bot}/chat", {"message": "count", "conversationId": conversation}
        lost = pool.submit(post_and_lose, here, path, body)
        assert provider.wait_for_requests(2)
        seen = threading.Event()
        joined = pool.submit(stream, there, "GET", f"/api/conversations/{conversation}/stream", seen=seen)
        assert seen.wait(30)
        doomed.kill()
        assert lost.result() is None

        repeated = there.post(path, json=body, headers={"Idempotency-Key": "once"})
        assert (repeated.status_code, repeated.json()["message"]) == (200, "One two three four.")
        name, problem = joined.result()[-1]
        assert (name, problem["code"]) == ("error", "interrupted")
        history = there.get(f"/api/conversations/{conversation}/messages").json()["items"]
    assert [message["status"] for message in history] == ["complete", "complete", "interrupted", "complete", "complete"]
    assert problem["questionId"] == history[2]["id"]


def post_and_lose(client: httpx.Client, path: str, body: dict[str, str]) -> int | None:
    try:
        return client.post(path, json=body, headers={"Idempotency-Key": "once"}).status_code
    except httpx.TransportError:
        return None


def test_processes_on_one_port_outlive_each_other_and_end_together(
    postgres: Server, tmp_path: Path, running_provider: Provider
) -> None:
    dsn = postgres.clone()
    launcher = Launcher(tmp_path, dsn)
    try:
        running = launcher.start("--processes", "2", environment=running_provider.environment())
        assert running.lines == [f"Tributary ready at {running.url}"]
        parent = psutil.Process(running.process.pid)
        servers = serving(parent)
        assert len(servers) == 2
        # Together they ingest as many documents at a time as one would.
        assert sorted(each.environ()["TRIBUTARY_WORKERS"] for each in servers) == ["2", "2"]
        servers[0].kill()
        with running.client(launcher.key()) as client:
            # The port stays: whoever is left serves it.
            for _ in range(20):
                assert client.get("/api/bots", headers={"Connection": "close"}).status_code == 200
        wait_for_servers(parent, 2)
        assert running.stop() == 0
        assert not any(each.is_running() for each in servers)
    finally:
        launcher.close()
        postgres.drop(dsn)


def test_a_server_beside_others_ends_when_who_started_it_is_gone(two: Two) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = two.launcher.beside(listener.fileno())
        assert server.stdout is not None
        assert server.stdin is not None
        with server.stdout, server.stdin:
            assert server.stdout.readline().startswith("Tributary ready at ")
            server.stdin.close()
            assert server.wait(60) == 0


def serving(parent: psutil.Process) -> list[psutil.Process]:
    return [each for each in parent.children() if "--listener" in each.cmdline()]


def wait_for_servers(parent: psutil.Process, count: int) -> None:
    """Until so many serve; the test's own time limit ends the wait."""
    pause = threading.Event()
    while len(serving(parent)) < count:
        pause.wait(0.05)


def test_what_changes_in_one_process_is_told_by_the_other(two: Two) -> None:
    with (
        two.client(two.first) as here,
        two.client(two.second) as there,
        there.stream("GET", "/api/events") as response,
    ):
        events = events_of(response)
        assert next(events) == ("sync", {})
        base = here.post("/knowledge/kb", json={"name": "k"}).json()["id"]
        assert next(events) == ("changed", {"kind": "knowledgeBase", "id": base})
