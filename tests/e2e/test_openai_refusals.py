"""What the OpenAI-compatible routes refuse, and how: `openai` raises what it raises at OpenAI."""

from typing import TYPE_CHECKING, Any

import httpx
import openai
import psycopg
import pytest

from tests.support import files
from tests.support.openai_clients import file_part, image_part, openai_of, said, user
from tests.support.provided import Chatting
from tests.support.provider_faults import Cut, ErrorInside200, Refuse, Stall

if TYPE_CHECKING:
    from tests.support.provided_fixtures import _Provided

pytest_plugins = ["tests.support.provided_fixtures"]

NOWHERE = "00000000-0000-7000-8000-000000000000"
BAD: list[tuple[dict[str, Any], type[openai.APIStatusError], str, str | None]] = [
    ({"model": NOWHERE}, openai.NotFoundError, "not_found", None),
    ({"model": "gpt-5"}, openai.NotFoundError, "not_found", None),
    ({"messages": []}, openai.BadRequestError, "invalid_request", "messages"),
    ({"messages": "hello"}, openai.BadRequestError, "invalid_request", "messages"),
    ({"messages": [user(" ")]}, openai.BadRequestError, "invalid_request", "messages"),
    ({"messages": [user("Hi"), said("Hello.")]}, openai.BadRequestError, "invalid_request", "messages"),
    ({"messages": [user("Hi"), user(" ")]}, openai.BadRequestError, "invalid_request", "messages"),
    (
        {"messages": [{"role": "tool", "content": "4", "tool_call_id": "x"}]},
        openai.BadRequestError,
        "invalid_request",
        "messages[0].role",
    ),
    ({"messages": [user("nul\x00")]}, openai.BadRequestError, "invalid_request", "messages[0].content"),
    (
        {"messages": [user({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})]},
        openai.BadRequestError,
        "invalid_request",
        "messages[0].content[0].image_url",
    ),
    (
        {"messages": [user({"type": "file", "file": {"file_id": "file-1"}})]},
        openai.BadRequestError,
        "invalid_request",
        "messages[0].content[0].file",
    ),
    (
        {"messages": [user({"type": "image_url", "image_url": {"url": "data:image/png;base64,@@@@"}})]},
        openai.BadRequestError,
        "invalid_request",
        None,
    ),
    (
        {"messages": [user({"type": "image_url", "image_url": {"url": "data:image/png;base64,"}})]},
        openai.BadRequestError,
        "empty_file",
        None,
    ),
    ({"messages": [user({"type": "video"})]}, openai.BadRequestError, "invalid_request", "messages[0].content[0].type"),
    ({"messages": [user(file_part("a.pdf", b"%PDF-1.7 cut"))]}, openai.BadRequestError, "damaged_file", None),
    (
        {"messages": [user(file_part("a.zip", b"PK\x03\x04" + bytes(60)))]},
        openai.APIStatusError,
        "unsupported_type",
        None,
    ),
    ({"messages": [user(*[image_part(files.png())] * 6)]}, openai.BadRequestError, "too_many_files", None),
    ({"messages": [user("x" * 200_001)]}, openai.APIStatusError, "message_too_large", None),
    ({"n": 2}, openai.BadRequestError, "invalid_request", "n"),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, openai.BadRequestError, "invalid_request", "tools"),
    ({"logprobs": True}, openai.BadRequestError, "invalid_request", "logprobs"),
    ({"response_format": {"type": "json_object"}}, openai.BadRequestError, "invalid_request", "response_format"),
    ({"max_tokens": 0}, openai.BadRequestError, "invalid_request", "max_tokens"),
]


def test_what_is_refused_raises_what_it_raises_at_openai(chatting: Chatting) -> None:
    client, bot = openai_of(chatting.client), chatting.bot()
    for fields, kind, code, param in BAD:
        for stream in (False, True):
            request: dict[str, Any] = {"model": bot, "messages": [user("Why?")], "stream": stream, **fields}
            with pytest.raises(kind) as caught:
                client.chat.completions.create(**request)
            assert (caught.value.code, caught.value.param) == (code, param), fields
    assert chatting.provider.chats == []
    assert chatting.client.get("/api/usage").json()["storage"]["bytes"] == 0
    with pytest.raises(openai.AuthenticationError):
        openai_of(chatting.client, api_key="nonsense").models.list()
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model=bot, input="x")


def test_bodies_that_are_no_json_or_too_large_are_refused(chatting: Chatting) -> None:
    headers = {"Content-Type": "application/json"}
    for content, status in ((b"{", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b" " * (33 * 2**20), 413)):
        response = chatting.client.post("/v1/chat/completions", content=content, headers=headers)
        assert (response.status_code, set(response.json())) == (status, {"error"})
    for kind in ("application/json", "multipart/form-data; boundary=b"):
        pieces = (b" " * 2**20 for _ in range(33))
        undeclared = chatting.client.post("/v1/chat/completions", content=pieces, headers={"Content-Type": kind})
        assert (undeclared.status_code, undeclared.json()["error"]["code"]) == (413, "message_too_large")


def test_failures_of_a_provider_are_told_apart(chatting: Chatting) -> None:
    client, bot = openai_of(chatting.client), chatting.bot("openai/stub")
    for fault, status, code in ((Refuse(400), 502, "provider_error"), (Stall(), 504, "provider_timeout")):
        for stream in (False, True):
            chatting.provider.next_chat(fault, fault, fault)
            with pytest.raises(openai.InternalServerError) as caught:
                client.chat.completions.create(model=bot, messages=[user("Why?")], stream=stream)
            assert (caught.value.status_code, caught.value.code) == (status, code)
            chatting.provider.reset()
    for broken_off in (Cut(2), ErrorInside200(502, after=2)):
        chatting.provider.next_chat(broken_off)
        heard: list[str] = []
        with pytest.raises(openai.APIError) as broken:
            heard.extend(
                chunk.choices[0].delta.content or ""
                for chunk in client.chat.completions.create(model=bot, messages=[user("Why?")], stream=True)
            )
        assert broken.value.code == "provider_error"


def test_another_organisation_s_bot_is_no_model_and_a_chat_key_may_chat(
    chatting: Chatting, provided: "_Provided"
) -> None:
    bot = chatting.bot()
    stranger = openai_of(chatting.client, api_key=provided.launcher.key("strangers"))
    assert list(stranger.models.list()) == []
    for ask in (
        lambda: stranger.models.retrieve(bot),
        lambda: stranger.chat.completions.create(model=bot, messages=[user("Why?")]),
    ):
        with pytest.raises(openai.NotFoundError):
            ask()
    visitor_key = provided.launcher.key("visited", "chat")
    with httpx.Client(
        base_url=provided.url, headers={"Authorization": f"Bearer {provided.launcher.key('visited')}"}
    ) as owner:
        theirs = str(owner.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"])
    visitor = openai_of(chatting.client, api_key=visitor_key)
    assert visitor.chat.completions.create(model=theirs, messages=[user("Why?")]).choices[0].message.content


def test_limits_of_an_organisation_hold_here_too(chatting: Chatting, provided: "_Provided") -> None:
    key = provided.launcher.key("limited")
    with psycopg.connect(provided.dsn, autocommit=True) as connection:
        connection.execute("UPDATE organisations SET files_per_day = 1 WHERE name = 'limited'")
    client = openai_of(chatting.client, api_key=key)
    with httpx.Client(base_url=provided.url, headers={"Authorization": f"Bearer {key}"}) as owner:
        bot = str(owner.post("/api/bots", json={"name": "b", "model": "openai/stub"}).json()["id"])
    message = user(image_part(files.png()))
    client.chat.completions.create(model=bot, messages=[message])
    with pytest.raises(openai.RateLimitError) as caught:
        client.with_options(max_retries=2).chat.completions.create(model=bot, messages=[message])
    assert caught.value.code == "quota_exceeded"
    assert int(caught.value.response.headers["Retry-After"]) > 60
    assert caught.value.response.headers["X-Should-Retry"] == "false"
