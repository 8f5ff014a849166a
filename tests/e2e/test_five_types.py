"""Five files of five types in one message: each takes its path, and the model gets exactly this (SPEC §2, §4)."""

import base64
from typing import Any

import httpx
import pytest

from tests.support import files
from tests.support.documents import wait_until_ready
from tests.support.provided import Chatting
from tests.support.provider import Provider
from tests.support.provider_faults import Refuse

pytest_plugins = ["tests.support.provided_fixtures"]

PNG, PDF, MARKDOWN = files.png(), files.pdf(1), "# Plan\n\nThe crane is green.\n"
WAV, MP3 = files.wav(), files.mp3()


@pytest.fixture
def provider(chatting: Chatting) -> Provider:
    return chatting.provider


@pytest.fixture
def client(chatting: Chatting) -> httpx.Client:
    return chatting.client


def upload(client: httpx.Client) -> list[dict[str, str]]:
    named = [
        ("photo.jpg", PNG, "image/jpeg"),
        ("paper.pdf", PDF, "application/pdf"),
        ("plan.md", MARKDOWN.encode(), "text/plain"),
        ("voice.wav", WAV, "audio/wav"),
        ("song.mp3", MP3, "audio/mpeg"),
    ]
    response = client.post("/api/bot/attachments/upload", files=[("files", each) for each in named])
    assert response.status_code == 201, response.text
    return [{"id": file["id"], "accessToken": file["accessToken"]} for file in response.json()["files"]]


def ask(client: httpx.Client, model: str, attachments: list[dict[str, str]], **bot: Any) -> dict[str, Any]:
    made = client.post("/api/bots", json={"name": "b", "prompt": "Be brief.", "model": model, **bot})
    response = client.post(
        f"/api/bots/{made.json()['id']}/chat", json={"message": "What is this?", "attachments": attachments}
    )
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def url(content_type: str, data: bytes) -> str:
    return f"data:{content_type};base64,{base64.b64encode(data).decode()}"


def test_a_model_that_takes_all_gets_each_file_in_its_own_form(client: httpx.Client, provider: Provider) -> None:
    answer = ask(client, "openrouter/stub/all", upload(client))
    body = provider.chats[-1].body
    assert body["model"] == "stub/all"
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
                {"type": "file", "file": {"filename": "paper.pdf", "file_data": url("application/pdf", PDF)}},
                {"type": "text", "text": f"[File: plan.md]\n{MARKDOWN}"},
                {"type": "input_audio", "input_audio": {"data": base64.b64encode(WAV).decode(), "format": "wav"}},
                {"type": "input_audio", "input_audio": {"data": base64.b64encode(MP3).decode(), "format": "mp3"}},
            ],
        },
    ]
    assert answer["notSent"] == []


def test_a_model_of_text_alone_is_told_what_it_does_not_get(client: httpx.Client, provider: Provider) -> None:
    answer = ask(client, "openrouter/stub/text", upload(client))
    assert provider.chats[-1].body["messages"][1]["content"] == (
        "What is this?\n\n"
        "This model does not support files: photo.jpg, paper.pdf, voice.wav, song.mp3\n\n"
        f"[File: plan.md]\n{MARKDOWN}"
    )
    assert [(file["filename"], file["reason"]) for file in answer["notSent"]] == [
        ("photo.jpg", "unsupported"),
        ("paper.pdf", "unsupported"),
        ("voice.wav", "unsupported"),
        ("song.mp3", "unsupported"),
    ]


def test_only_the_picture_is_searched_with(client: httpx.Client, provider: Provider) -> None:
    kb = client.post("/knowledge/kb", json={"name": "K"}).json()["id"]
    sent = client.post(
        f"/knowledge/kb/{kb}/documents",
        files=[("files", ("like.png", files.png(size=(80, 60)), "")), ("files", ("x.md", b"The crane is green.", ""))],
    )
    for document in sent.json()["documents"]:
        wait_until_ready(client, kb, document["id"])
    answer = ask(client, "openrouter/stub/all", upload(client), knowledgeBaseIds=[kb])
    by_name = {source["filename"]: source for source in answer["sources"]}
    assert "image" in by_name["like.png"]["branches"]
    trace = client.get(f"/api/messages/{answer['messageId']}/trace").json()
    assert len(trace["plan"]["images"]) == 1
    assert trace["plan"]["query"] == "What is this?"
    assert {node["node"] for node in trace["nodes"]} >= {"search_text", "search_images", "read_map", "search_graph"}
    system = provider.chats[-1].body["messages"][0]["content"]
    assert "---KNOWLEDGE BASE CONTEXT---\n[1] Source: K (" in system


def test_files_of_earlier_turns_are_sent_again_and_a_switch_of_models_works(
    client: httpx.Client, provider: Provider
) -> None:
    attachments = upload(client)[:1]
    made = client.post("/api/bots", json={"name": "b", "model": "openrouter/stub/all"}).json()["id"]
    first = client.post(f"/api/bots/{made}/chat", json={"message": "one", "attachments": attachments}).json()
    follow_up = {"message": "two", "conversationId": first["conversationId"]}
    client.post(f"/api/bots/{made}/chat", json=follow_up)
    assert provider.chats[-1].body["messages"][0]["content"] == [
        {"type": "text", "text": "one"},
        {"type": "image_url", "image_url": {"url": url("image/png", PNG)}},
    ]
    client.patch(f"/api/bots/{made}", json={"model": "openrouter/stub/text"})
    client.post(f"/api/bots/{made}/chat", json=follow_up)
    assert provider.chats[-1].body["messages"][0]["content"] == (
        "one\n\n[File of an earlier message, not sent again: photo.jpg]"
    )


def test_what_is_over_the_limits_is_replaced_by_a_note_with_its_size(client: httpx.Client, provider: Provider) -> None:
    big = ("big.txt", b"word " * 671_089, "text/plain")
    response = client.post("/api/bot/attachments/upload", files=[("files", big)])
    claim = {"id": response.json()["id"], "accessToken": response.json()["accessToken"]}
    answer = ask(client, "openrouter/stub/all", [claim])
    assert provider.chats[-1].body["messages"][1]["content"] == "What is this?\n\n[File too large: big.txt (3.2 MB)]"
    assert answer["notSent"] == [{"id": claim["id"], "filename": "big.txt", "reason": "too_large"}]


def test_a_provider_that_fails_is_told_and_loses_no_question(client: httpx.Client, provider: Provider) -> None:
    made = client.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"]
    provider.next_chat(*[Refuse(400)] * 5)
    failed = client.post(f"/api/bots/{made}/chat", json={"message": "lost?"})
    assert (failed.status_code, failed.json()["code"]) == (502, "provider_error")
    conversation = client.get("/api/conversations").json()["items"][0]["id"]
    [question] = client.get(f"/api/conversations/{conversation}/messages").json()["items"]
    assert (question["content"], question["status"], question["error"]["code"]) == ("lost?", "failed", "provider_error")
