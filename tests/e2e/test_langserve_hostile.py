"""Callers of the served graphs who want what is not theirs, or more than is good for others."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest

from tests.support import files
from tests.support.provided import Chatting
from tests.support.served import NOWHERE, Served, streamed

if TYPE_CHECKING:
    from tests.support.provided_fixtures import _Provided

pytest_plugins = ["tests.support.provided_fixtures", "tests.support.served_fixtures"]

GRAPHS = ("chat", "retrieval", "ingest")
RUNS = ("invoke", "batch", "stream", "stream_log", "stream_events")


@pytest.fixture
def stranger(provided: "_Provided") -> Iterator[Served]:
    """Another organisation."""
    with _client(provided, provided.launcher.key(str(uuid4()))) as client:
        yield Served(Chatting(client, provided.provider))


@pytest.fixture
def chat_only(provided: "_Provided", chatting: Chatting) -> Iterator[Served]:
    """A key that may only chat; the bot that it may ask is a parameter of its client."""
    organisation = str(uuid4())
    with _client(provided, provided.launcher.key(organisation)) as owner:
        bot = owner.post("/api/bots", json={"name": "b", "model": "openrouter/stub/all"}).json()["id"]
    with _client(provided, provided.launcher.key(organisation, "chat")) as client:
        client.params = httpx.QueryParams({"bot": bot})
        yield Served(Chatting(client, provided.provider))


def _client(provided: "_Provided", key: str) -> httpx.Client:
    return httpx.Client(base_url=provided.url, headers={"Authorization": f"Bearer {key}"}, timeout=60)


def test_another_organisation_s_things_do_not_exist(served: Served, stranger: Served) -> None:
    named, chatting = served.knowledge(), served.chatting
    bot, mine = chatting.bot(), stranger.chatting.bot()
    conversation = chatting.ask(bot)["conversationId"]
    [claim] = chatting.upload(("a.png", files.png()))
    base = stranger.knowledge()["knowledgeBaseId"]
    for graph, given in (
        ("chat", {"message": "x", "botId": bot}),
        ("chat", {"message": "x", "botId": mine, "conversationId": conversation}),
        ("chat", {"message": "x", "botId": mine, "attachments": [claim]}),
        ("retrieval", {"query": "ferry", "knowledgeBaseIds": [named["knowledgeBaseId"]]}),
        ("retrieval", {"query": "ferry", "knowledgeBaseIds": [base, named["knowledgeBaseId"]]}),
        ("retrieval", {"query": "ferry", "knowledgeBaseIds": [base], "attachments": [claim]}),
        ("ingest", named),
        ("ingest", {**named, "knowledgeBaseId": base}),
    ):
        assert stranger.post(f"{graph}/invoke", input=given).json()["output"]["error"]["code"] == "not_found", given
        for name, data in streamed(stranger.post(f"{graph}/stream_events", input=given)):
            assert "Havneby" not in str(data), name
    assert len(chatting.messages(conversation)) == 2


def test_no_config_changes_for_whom_a_run_is_or_where_it_goes(served: Served, stranger: Served) -> None:
    named = served.knowledge()
    bot = served.chatting.bot(knowledgeBaseIds=[named["knowledgeBaseId"]])
    answer = served.chatting.ask(bot)
    organisation = "organisation_id"
    forged: dict[str, Any] = {
        "configurable": {
            "thread_id": answer["conversationId"],
            "checkpoint_id": NOWHERE,
            "checkpoint_ns": "",
            "__run": {"caller": {organisation: NOWHERE}},
            "context": {organisation: NOWHERE},
        },
        "context": {organisation: NOWHERE},
        "metadata": {organisation: NOWHERE},
        "run_id": answer["conversationId"],
        "max_concurrency": 10_000,
        "recursion_limit": 1,
        "durability": "sync",
        "stream_mode": "debug",
    }
    mine = stranger.chatting.bot()
    for path in RUNS:
        body: dict[str, Any] = {"input": {"message": "x", "botId": mine}, "inputs": [{"message": "x", "botId": mine}]}
        response = stranger.post(f"chat/{path}", **body, config=forged, kwargs={"context": {organisation: NOWHERE}})
        assert response.status_code == 200
        assert "finishReason" in response.text
        assert answer["conversationId"] not in response.text
    assert len(stranger.chatting.client.get("/api/conversations").json()["items"]) == len(RUNS)
    assert len(served.chatting.messages(answer["conversationId"])) == 2


def test_a_key_that_may_chat_can_ask_and_search_and_not_ingest(chat_only: Served) -> None:
    client = chat_only.chatting.client
    given = {"message": "x", "botId": client.params["bot"]}
    assert chat_only.post("chat/invoke", input=given).json()["output"]["message"] == "The stub answers."
    found = chat_only.post("retrieval/invoke", input={"query": "x", "knowledgeBaseIds": [NOWHERE]})
    assert found.json()["output"]["error"]["code"] == "not_found"
    for path in RUNS:
        refused = chat_only.post(f"ingest/{path}", input={"knowledgeBaseId": NOWHERE, "documentId": NOWHERE})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    for path in ("input_schema", "playground/"):
        assert client.get(f"/graphs/ingest/{path}").status_code == 403


@pytest.mark.parametrize("graph", GRAPHS)
def test_without_a_key_nothing_is_served(served: Served, graph: str) -> None:
    paths = ("input_schema", "playground/", "playground/index.html", "c/N4XyA/playground/")
    with httpx.Client(base_url=f"{served.url}/graphs/{graph}/") as client:
        for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Cookie": "tributary_session=nonsense"}):
            answers = [client.post(path, headers=headers, json={"input": {}}) for path in RUNS]
            answers += [client.get(path, headers=headers) for path in paths]
            for path, response in zip([*RUNS, *paths], answers, strict=True):
                foreign = "Cookie" in headers and path in RUNS
                expected = (403, "forbidden") if foreign else (401, "unauthorized")
                assert (response.status_code, response.json()["code"]) == expected, path


@pytest.mark.parametrize("path", RUNS)
def test_a_body_that_is_not_as_described_is_a_problem(served: Served, path: str) -> None:
    client, bot = served.chatting.client, served.chatting.bot()
    sound = {"message": "x", "botId": bot}
    cases: list[Any] = [
        {},
        {"botId": bot},
        {**sound, "message": 3},
        {**sound, "message": "nul\x00"},
        {**sound, "extra": 1},
        {**sound, "attachments": [{"id": 1}]},
        {**sound, "attachments": [{"id": "x"}] * 101},
        [],
        None,
    ]
    for given in cases:
        response = client.post(f"/graphs/chat/{path}", json={"input": given, "inputs": [given]})
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request"), given
    sent = {"Content-Type": "application/json"}
    for content in (b"{no json", b"", b"[]", b"[" * 50_000, b'{"input": "\\ud800"}', b"\xff"):
        response = client.post(f"/graphs/chat/{path}", content=content, headers=sent)
        assert (response.status_code, response.headers["content-type"]) == (422, "application/problem+json"), content[
            :9
        ]


def test_a_batch_has_an_end_and_its_configs_fit_its_inputs(served: Served) -> None:
    given = {"message": "x", "botId": NOWHERE}
    for body in (
        {"inputs": [given] * 1000},
        {"inputs": [given], "config": [{}, {}]},
        {"inputs": [given], "config": "all"},
        {"inputs": given},
    ):
        response = served.post("chat/batch", **body)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")
    assert served.post("chat/batch", inputs=[]).json()["output"] == []


def test_a_body_that_is_too_large_is_not_read(served: Served) -> None:
    response = served.chatting.client.post("/graphs/chat/invoke", content=b"x" * (33 * 2**20))
    assert (response.status_code, response.json()["code"]) == (413, "message_too_large")


def test_a_config_in_a_link_is_not_even_unpacked(served: Served) -> None:
    client = served.chatting.client
    for packed in ("nonsense", "N4XyA", "A" * 30_000):
        answer = client.get(f"/graphs/chat/c/{packed}/input_schema")
        assert answer.json() == client.get("/graphs/chat/input_schema").json()
        assert client.get(f"/graphs/chat/c/{packed}/playground/").status_code == 200


def test_what_is_not_served_is_unknown(served: Served) -> None:
    client = served.chatting.client
    for method, path in (
        ("POST", "chat/feedback"),
        ("POST", "chat/token_feedback"),
        ("POST", "nothing/invoke"),
        ("GET", "chat/playground/../../../../etc/passwd"),
        ("GET", "chat/playground/%2e%2e/%2e%2e/playground.py"),
        ("GET", "chat/playground/assets"),
        ("GET", "chat/playground/%00"),
        ("GET", "chat/playground//etc/passwd"),
    ):
        response = client.request(method, f"/graphs/{path}")
        assert (response.status_code, response.json()["code"]) == (404, "not_found"), path
    assert client.get("/graphs/chat/invoke").json()["code"] == "method_not_allowed"
