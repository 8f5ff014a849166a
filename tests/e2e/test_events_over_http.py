"""The stream of an organisation's changes over HTTP."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx

from tests.support.launching import Launcher, Shared
from tests.support.provided import events_of

PATH = "/api/events"


@contextmanager
def listening(client: httpx.Client) -> Iterator[Iterator[tuple[str, Any]]]:
    with client.stream("GET", PATH, headers={"Accept": "text/event-stream"}) as response:
        assert response.status_code == 200, response.read()
        events = events_of(response)
        assert next(events) == ("sync", {})
        yield events


def changed(kind: str, identifier: str, **fields: str) -> tuple[str, dict[str, str]]:
    return "changed", {"kind": kind, "id": identifier, **fields}


def test_changes_of_the_organisation_are_told_and_of_no_other(client: httpx.Client, shared: Shared) -> None:
    with shared.running.client(shared.launcher.key("strangers")) as strangers, listening(client) as events:
        foreign = strangers.post("/api/bots", json={"name": "theirs"}).json()["id"]
        bot = client.post("/api/bots", json={"name": "ours"}).json()["id"]
        assert next(events) == changed("bot", bot)
        base = client.post("/knowledge/kb", json={"name": "k"}).json()["id"]
        assert next(events) == changed("knowledgeBase", base)
        sent = client.post(f"/knowledge/kb/{base}/documents", files={"files": ("a.md", b"A text.")}).json()
        document = sent["documents"][0]["id"]
        told = [next(events), next(events)]
        assert told == [
            changed("document", document, knowledgeBaseId=base),
            changed("knowledgeBase", base),
        ] or told == [changed("knowledgeBase", base), changed("document", document, knowledgeBaseId=base)]
        conversation = client.post(f"/api/bots/{bot}/chat", json={"message": "Why?"}).json()["conversationId"]
        seen = next(events)
        while seen[1]["kind"] == "document":
            seen = next(events)
        assert seen == changed("conversation", conversation)
        assert foreign not in json.dumps(seen)


def test_a_key_for_chats_may_listen_and_no_key_may_not(client: httpx.Client, shared: Shared) -> None:
    with shared.running.client(shared.launcher.key("chatters", scope="chat")) as chatters, listening(chatters):
        assert httpx.get(f"{shared.running.url}{PATH}").status_code == 401


def test_a_revoked_key_ends_its_streams(shared: Shared) -> None:
    key = shared.launcher.key("leavers")
    with shared.running.client(key) as leavers, listening(leavers) as events:
        keys = shared.launcher.command("keys", "list", "--org", "leavers").stdout
        identifier = next(word for word in keys.split() if word.count("-") == 4)
        assert shared.launcher.command("keys", "revoke", identifier, "--org", "leavers").returncode == 0
        name, problem = next(events)
        assert (name, problem["status"], problem["code"]) == ("error", 401, "unauthorized")
        assert list(events) == []


def test_a_sign_out_ends_the_streams_of_its_browser_alone(client: httpx.Client, shared: Shared) -> None:
    url, key = shared.running.url, client.headers["Authorization"].removeprefix("Bearer ")
    with httpx.Client(base_url=url, headers={"Origin": url}) as browser, listening(client) as others:
        assert browser.post("/sign-in", data={"key": key}).status_code == 303
        with listening(browser) as events:
            assert browser.post("/sign-out").status_code == 303
            name, problem = next(events)
            assert (name, problem["status"]) == ("error", 401)
            assert list(events) == []
        bot = client.post("/api/bots", json={"name": "still here"}).json()["id"]
        assert next(others) == changed("bot", bot)


def test_a_stop_of_the_server_ends_the_stream_in_good_order(launcher: Launcher) -> None:
    running = launcher.start()
    heard: list[tuple[str, Any]] = []
    begun = threading.Event()

    def listen(client: httpx.Client) -> None:
        with listening(client) as events:
            begun.set()
            heard.extend(events)

    with running.client(launcher.key()) as client, ThreadPoolExecutor(1) as pool:
        ended = pool.submit(listen, client)
        assert begun.wait(30)
        assert running.stop() == 0
        ended.result(30)
    assert heard == []
