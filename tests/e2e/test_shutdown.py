"""A stop in good order (SIGTERM) amid turns, streams and ingestion. Turns that finish in time: see test_crash."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg

from tests.support.launching import Launcher
from tests.support.provided import events_of
from tests.support.provider import Provider
from tests.support.provider_faults import Hold, Stall

GRACE = 3.0


def _streamed(client: httpx.Client, path: str, begun: threading.Semaphore, **request: Any) -> list[tuple[str, Any]]:
    """The events of a stream; a stream that is cut raises."""
    with client.stream(
        "POST" if request else "GET", path, headers={"Accept": "text/event-stream"}, **request
    ) as response:
        assert response.status_code == 200, response.read()
        events = []
        for event in events_of(response):
            events.append(event)
            if event[0] in ("token", "progress"):
                begun.release()
        return events


def test_turns_that_outlast_the_grace_are_interrupted_and_all_who_listen_are_told(
    launcher: Launcher, provider: Provider, dsn: str
) -> None:
    running = launcher.start(environment={**provider.environment(), "TRIBUTARY_SHUTDOWN_GRACE": str(GRACE)})
    key = launcher.key()
    with running.client(key) as client, ThreadPoolExecutor(4) as pool:
        bot = client.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"]
        base = client.post("/knowledge/kb", json={"name": "k", "embedding": "openai/text-embedding-3-small"}).json()
        hold = Hold()
        provider.next_embeddings(hold)
        documents = f"/knowledge/kb/{base['id']}/documents"
        sent = client.post(documents, files={"files": ("a.md", b"A text that takes long.")}).json()["documents"][0]
        provider.answer = "One two three four."
        provider.next_chat(Stall(after=2), Stall(after=2))
        begun = threading.Semaphore(0)
        chat = f"/api/bots/{bot}/chat"
        streaming = pool.submit(_streamed, client, chat, begun, json={"message": "streamed"})
        asking = pool.submit(client.post, chat, json={"message": "asked"})
        following = pool.submit(_streamed, client, f"{documents}/{sent['id']}/events", begun)
        for _ in range(3):
            assert begun.acquire(timeout=30)
        assert provider.wait_for_streams(2)

        began = time.monotonic()
        stopping = pool.submit(running.stop)
        assert following.result()[-1][0] == "progress"
        assert time.monotonic() - began < GRACE, "who follows a document does not hold up the stop"
        name, problem = streaming.result()[-1]
        assert (name, problem["code"], problem["status"]) == ("error", "interrupted", 503)
        answer = asking.result()
        assert (answer.status_code, answer.json()["code"]) == (503, "interrupted")
        assert int(answer.headers["Retry-After"]) > 0
        assert stopping.result() == 0
        assert GRACE <= time.monotonic() - began < GRACE + 25
        hold.event.set()
    with psycopg.connect(dsn) as connection:
        told = connection.execute("SELECT role, content, status FROM messages ORDER BY role, content").fetchall()
    assert told == [
        ("assistant", "One two", "interrupted"),
        ("assistant", "One two", "interrupted"),
        ("user", "asked", "interrupted"),
        ("user", "streamed", "interrupted"),
    ]
