"""Bots, attachments, chats, conversations and usage over HTTP: every route, beside what OpenAPI says of its answers."""

from collections.abc import Iterator

import pytest

from tests.support import files
from tests.support.openapi import Description
from tests.support.provided import Chatting, events_of
from tests.support.provider_faults import Cut, Pause, Refuse

pytest_plugins = ["tests.support.provided_fixtures"]

NOWHERE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def described(chatting: Chatting) -> Iterator[Description]:
    """Every answer to the client is checked against OpenAPI."""
    yield Description(chatting.client, "/api/")
    chatting.client.event_hooks["response"].clear()


def test_every_route_of_a_chat_answers_as_it_is_described(chatting: Chatting, described: Description) -> None:
    client = chatting.client
    base = client.post("/knowledge/kb", json={"name": "Empty"}).json()["id"]
    bot = chatting.bot(knowledgeBaseIds=[base], capabilities={"audio": False})
    claims = chatting.upload(("a.png", files.png()), ("b.wav", files.wav()))
    [unused] = chatting.upload(("c.txt", b"unused"))
    path, token = f"/api/bot/attachments/{unused['id']}", {"token": unused["accessToken"]}
    assert client.get(path, params=token).content == b"unused"
    assert client.delete(path, params=token).status_code == 204

    answer = chatting.ask(bot, attachments=claims)
    assert [each["reason"] for each in answer["notSent"]] == ["unsupported"]
    conversation = answer["conversationId"]
    pause = Pause(1)
    chatting.provider.next_chat(pause)
    with chatting.streaming(bot, "And?", conversationId=conversation) as response:
        for event in events_of(response):
            if event[0] == "token":
                break
        with client.stream("GET", f"/api/conversations/{conversation}/stream") as joined:
            assert client.post(f"/api/conversations/{conversation}/stop").status_code == 202
            assert [data["status"] for name, data in events_of(joined) if name == "done"] == ["stopped"]

    assert len(chatting.messages(conversation)) == 4
    assert client.get(f"/api/messages/{answer['messageId']}/trace").status_code == 200
    assert client.get(f"/api/conversations/{conversation}").json()["botId"] == bot
    assert client.patch(f"/api/conversations/{conversation}", json={"title": "New"}).json()["title"] == "New"
    assert chatting.conversation() == conversation
    assert client.delete(f"/api/conversations/{conversation}").status_code == 204
    assert client.get("/api/usage").json()["totals"]["calls"] == 2
    assert client.get("/api/session").status_code == 200
    with client.stream("GET", "/api/events") as changes:
        assert next(events_of(changes)) == ("sync", {})
    assert [each["id"] for each in client.get("/api/bots").json()["items"]] == [bot]
    assert client.patch(f"/api/bots/{bot}", json={"name": "c"}).json()["name"] == "c"
    assert client.get(f"/api/bots/{bot}").json()["name"] == "c"
    assert client.delete(f"/api/bots/{bot}").status_code == 204
    assert described.operations() - described.called == set()


def test_what_goes_wrong_in_a_chat_is_described_as_well(chatting: Chatting, described: Description) -> None:
    client, bot = chatting.client, chatting.bot()
    chatting.provider.next_chat(Cut(1), Refuse(429, retry_after="90"), Refuse(400, message="prompt is too long"))
    failed = chatting.post(bot)
    assert failed.status_code == 502
    assert chatting.post(bot).status_code == 502
    claims = chatting.upload(("a.png", files.png()))
    assert chatting.post(bot, attachments=claims).status_code == 413
    question, part = chatting.messages(failed.json()["conversationId"])
    assert (question["status"], part["error"]["code"]) == ("failed", "provider_error")
    assert chatting.post(bot, " ").status_code == 422
    assert chatting.post(NOWHERE).status_code == 404
    other = chatting.bot()
    assert chatting.post(other, conversationId=failed.json()["conversationId"]).status_code == 409
    [fresh] = chatting.upload(("b.png", files.png()))
    assert chatting.post(bot, attachments=[{"id": fresh["id"], "accessToken": "x" * 64}]).status_code == 403
    assert client.get(f"/api/conversations/{failed.json()['conversationId']}/stream").status_code == 409
    assert client.post("/api/bots", json={"name": " "}).status_code == 422
    zipped = {"files": ("a.zip", b"PK\x03\x04" + bytes(60))}
    assert client.post("/api/bot/attachments/upload", files=zipped).status_code == 415
    assert client.get("/api/usage", headers={"Authorization": ""}).status_code == 401
    assert described.called
