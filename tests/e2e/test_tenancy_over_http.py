"""One organisation never sees, guesses or disturbs what is another's: every verb, every object."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.launching import Shared

UNKNOWN = "00000000-0000-7000-8000-000000000000"


@dataclass(frozen=True)
class World:
    """One of each object, and the keys of its owner, of a stranger, and of its owner's chat page."""

    owner: httpx.Client
    stranger: httpx.Client
    visitor: httpx.Client
    ids: dict[str, str]


@pytest.fixture(scope="module")
def world(shared: Shared) -> Iterator[World]:
    launcher, running = shared.launcher, shared.running
    keys = [launcher.key("owner"), launcher.key("stranger"), launcher.key("owner", "chat")]
    with running.client(keys[0]) as owner, running.client(keys[1]) as stranger, running.client(keys[2]) as visitor:
        yield World(owner, stranger, visitor, objects(owner))


def objects(owner: httpx.Client) -> dict[str, str]:
    kb = owner.post("/knowledge/kb", json={"name": "K"}).json()["id"]
    sent = owner.post(f"/knowledge/kb/{kb}/documents", files={"files": ("a.md", b"# Secret\n\nThe code is 4711.", "")})
    document = sent.json()["documents"][0]["id"]
    wait_until_ready(owner, kb, document)
    bot = owner.post("/api/bots", json={"name": "B", "knowledgeBaseIds": [kb]}).json()["id"]
    uploaded = owner.post("/api/bot/attachments/upload", files={"files": ("a.txt", b"secret", "")}).json()
    answer = owner.post(f"/api/bots/{bot}/chat", json={"message": "What is the code?"}).json()
    return {
        "kb": kb,
        "document": document,
        "chunk": answer["sources"][0]["chunkId"],
        "bot": bot,
        "attachment": uploaded["id"],
        "token": uploaded["accessToken"],
        "conversation": answer["conversationId"],
        "message": answer["messageId"],
        "question": answer["questionId"],
    }


FILE = {"files": ("b.md", b"# B", "")}
READS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/api/bots/{bot}", {}),
    ("GET", "/api/conversations/{conversation}", {}),
    ("GET", "/api/conversations/{conversation}/messages", {}),
    ("GET", "/api/conversations/{conversation}/stream", {}),
    ("GET", "/api/messages/{message}/trace", {}),
    ("GET", "/api/bot/attachments/{attachment}?token={token}", {}),
    ("GET", "/knowledge/kb/{kb}", {}),
    ("GET", "/knowledge/kb/{kb}/map", {}),
    ("POST", "/knowledge/kb/{kb}/search", {"json": {"query": "code"}}),
    ("POST", "/knowledge/kb/{kb}/search/image", {"json": {"imageBase64": "aGk=", "mimeType": "image/png"}}),
    ("POST", "/knowledge/kb/{kb}/graph/search", {"json": {"query": "code"}}),
    ("GET", "/knowledge/kb/{kb}/documents", {}),
    ("GET", "/knowledge/kb/{kb}/documents/{document}", {}),
    ("GET", "/knowledge/kb/{kb}/documents/{document}/text", {}),
    ("GET", "/knowledge/kb/{kb}/documents/{document}/events", {}),
    ("GET", "/knowledge/kb/{kb}/documents/{document}/chunks/{chunk}", {}),
]
WRITES: list[tuple[str, str, dict[str, Any]]] = [
    ("PATCH", "/api/bots/{bot}", {"json": {"name": "mine now"}}),
    ("DELETE", "/api/bots/{bot}", {}),
    ("POST", "/api/bots/{bot}/chat", {"json": {"message": "hi"}}),
    ("PATCH", "/api/conversations/{conversation}", {"json": {"title": "mine now"}}),
    ("DELETE", "/api/conversations/{conversation}", {}),
    ("POST", "/api/conversations/{conversation}/stop", {}),
    ("DELETE", "/api/bot/attachments/{attachment}?token={token}", {}),
    ("PATCH", "/knowledge/kb/{kb}", {"json": {"name": "mine now"}}),
    ("DELETE", "/knowledge/kb/{kb}", {}),
    ("POST", "/knowledge/kb/{kb}/documents", {"files": FILE}),
    ("PUT", "/knowledge/kb/{kb}/documents/{document}", {"files": FILE}),
    ("PATCH", "/knowledge/kb/{kb}/documents/{document}", {"json": {"title": "mine now"}}),
    ("POST", "/knowledge/kb/{kb}/documents/{document}/reingest", {}),
    ("DELETE", "/knowledge/kb/{kb}/documents/{document}", {}),
]


def names(case: object) -> str:
    return str(case) if isinstance(case, str) else ""


@pytest.mark.parametrize(("verb", "path", "body"), READS + WRITES, ids=names)
def test_what_is_another_organisation_s_does_not_exist(
    world: World, verb: str, path: str, body: dict[str, Any]
) -> None:
    theirs = world.stranger.request(verb, path.format(**world.ids), **body)
    nobodys = world.stranger.request(verb, path.format(**{**dict.fromkeys(world.ids, UNKNOWN), "token": "x"}), **body)
    assert (theirs.status_code, theirs.json()["code"]) == (404, "not_found")
    assert (nobodys.status_code, nobodys.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(("verb", "path", "body"), READS + WRITES, ids=names)
def test_a_malformed_id_is_as_unknown_as_any_other(world: World, verb: str, path: str, body: dict[str, Any]) -> None:
    response = world.owner.request(verb, path.format(**dict.fromkeys(world.ids, "no-id")), **body)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize(("verb", "path", "body"), READS + WRITES, ids=names)
def test_without_a_key_nothing_answers(
    shared: Shared, world: World, verb: str, path: str, body: dict[str, Any]
) -> None:
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic eA=="}):
        response = httpx.request(verb, shared.running.url + path.format(**world.ids), headers=headers, **body)
        assert (response.status_code, response.json()["code"]) == (401, "unauthorized")


def test_ids_inside_bodies_are_checked_too(world: World) -> None:
    stranger, ids = world.stranger, world.ids
    mine = stranger.post("/api/bots", json={"name": "mine"}).json()["id"]
    claim = {"id": ids["attachment"], "accessToken": ids["token"]}
    for verb, path, body in (
        ("POST", "/api/bots", {"name": "x", "knowledgeBaseIds": [ids["kb"]]}),
        ("PATCH", f"/api/bots/{mine}", {"knowledgeBaseIds": [ids["kb"]]}),
        ("POST", f"/api/bots/{mine}/chat", {"message": "x", "attachments": [claim]}),
        ("POST", f"/api/bots/{mine}/chat", {"message": "x", "conversationId": ids["conversation"]}),
    ):
        response = stranger.request(verb, path, json=body)
        assert (response.status_code, response.json()["code"]) == (404, "not_found"), path


def test_lists_hold_only_what_is_the_caller_s(world: World) -> None:
    for path in ("/knowledge/kb", "/api/conversations"):
        assert world.stranger.get(path).json()["items"] == []
    listed = world.stranger.get("/api/conversations", params={"botId": world.ids["bot"]})
    assert listed.json()["items"] == []


def test_another_bot_s_conversation_is_a_conflict(world: World) -> None:
    other = world.owner.post("/api/bots", json={"name": "other"}).json()["id"]
    body = {"message": "x", "conversationId": world.ids["conversation"]}
    response = world.owner.post(f"/api/bots/{other}/chat", json=body)
    assert (response.status_code, response.json()["code"]) == (409, "conflict")


def test_another_conversation_s_question_can_not_be_replaced(world: World) -> None:
    owner, bot = world.owner, world.ids["bot"]
    conversation = owner.post(f"/api/bots/{bot}/chat", json={"message": "new"}).json()["conversationId"]
    body = {"message": "x", "conversationId": conversation, "replaceMessageId": world.ids["question"]}
    response = owner.post(f"/api/bots/{bot}/chat", json=body)
    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_a_chat_key_may_chat_and_nothing_else(world: World) -> None:
    visitor, ids = world.visitor, world.ids
    assert visitor.post(f"/api/bots/{ids['bot']}/chat", json={"message": "hello"}).status_code == 200
    assert visitor.get(f"/api/bots/{ids['bot']}").status_code == 200
    for verb, path, body in WRITES:
        if path.startswith("/knowledge") or (path.startswith("/api/bots") and verb != "POST"):
            response = visitor.request(verb, path.format(**ids), **body)
            assert (response.status_code, response.json()["code"]) == (403, "forbidden"), (verb, path)
    assert visitor.post("/api/bots", json={"name": "x"}).status_code == 403
    assert visitor.post("/knowledge/kb", json={"name": "x"}).status_code == 403
    assert visitor.get(f"/api/messages/{ids['message']}/trace").status_code == 403


def test_a_revoked_key_is_dead_at_once(shared: Shared) -> None:
    launcher = shared.launcher
    key = launcher.key("leaver")
    with shared.running.client(key) as client:
        assert client.get("/api/bots").status_code == 200
        key_id = launcher.command("keys", "list", "--org", "leaver").stdout.split()[0]
        assert launcher.command("keys", "revoke", key_id, "--org", "leaver").returncode == 0
        assert client.get("/api/bots").status_code == 401
