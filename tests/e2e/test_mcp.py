"""The MCP server, driven by the official client in both of its forms: with a handshake, and without."""

import base64
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp import Client
from mcp.shared.exceptions import MCPError

from tests.support import files
from tests.support.documents import wait_until_ready
from tests.support.launching import Shared
from tests.support.mcp_clients import MODES
from tests.support.mcp_clients import connect as connected

Connect = Callable[[httpx.Client], AbstractAsyncContextManager[Client]]


@pytest.fixture(params=MODES)
def connect(request: pytest.FixtureRequest) -> Connect:
    """The client in each of its forms."""
    return partial(connected, mode=request.param)


@pytest.fixture(scope="module")
def owner(shared: Shared) -> Any:
    with shared.running.client(shared.launcher.key("agents")) as client:
        yield client


@pytest.fixture(scope="module")
def ids(owner: httpx.Client) -> dict[str, str]:
    base = owner.post("/knowledge/kb", json={"name": "Harbour"}).json()["id"]
    text = "# Ferries\n\nAnna Berg founded the Harbour Company. The ferry to Sylt leaves at nine from pier four."
    sent = {"files": ("ferries.md", text.encode(), "")}
    document = owner.post(f"/knowledge/kb/{base}/documents", files=sent).json()["documents"][0]["id"]
    wait_until_ready(owner, base, document)
    bot = owner.post("/api/bots", json={"name": "Pilot", "knowledgeBaseIds": [base]}).json()["id"]
    found = owner.post(f"/knowledge/kb/{base}/search", json={"query": "ferry"}).json()["results"]
    return {"knowledgeBaseId": base, "documentId": document, "botId": bot, "chunkId": found[0]["chunkId"]}


def problem(result: Any) -> dict[str, Any]:
    assert result.is_error
    assert result.structured_content is None
    told: dict[str, Any] = json.loads(result.content[0].text)
    return told


async def test_tools_say_exactly_what_they_take_and_answer(owner: httpx.Client, connect: Connect) -> None:
    async with connect(owner) as client:
        tools = (await client.list_tools()).tools
    for tool in tools:
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (tool.name != "ask_bot")
    search = next(tool for tool in tools if tool.name == "search_knowledge_base")
    assert set(search.input_schema["properties"]) == {"knowledgeBaseId", "query", "topK"}
    assert set(search.input_schema["required"]) == {"knowledgeBaseId", "query"}


async def test_tools_answer_as_rest_does(owner: httpx.Client, connect: Connect, ids: dict[str, str]) -> None:
    base, document, chunk = (ids[name] for name in ("knowledgeBaseId", "documentId", "chunkId"))
    kb, query = f"/knowledge/kb/{base}", "Who founded the Harbour Company?"
    picture = base64.b64encode(files.png()).decode()
    image = {"imageBase64": picture, "mimeType": "image/png"}
    of_base = {"knowledgeBaseId": base}
    cases: list[tuple[str, dict[str, Any], httpx.Response]] = [
        ("list_knowledge_bases", {}, owner.get("/knowledge/kb")),
        ("search_knowledge_base", {**of_base, "query": query}, owner.post(f"{kb}/search", json={"query": query})),
        (
            "search_knowledge_base_by_image",
            {**of_base, "imageBase64": picture},
            owner.post(f"{kb}/search/image", json=image),
        ),
        (
            "search_knowledge_graph",
            {**of_base, "query": query},
            owner.post(f"{kb}/graph/search", json={"query": query}),
        ),
        ("get_knowledge_base_map", of_base, owner.get(f"{kb}/map")),
        (
            "read_chunk",
            {**of_base, "documentId": document, "chunkId": chunk},
            owner.get(f"{kb}/documents/{document}/chunks/{chunk}"),
        ),
        ("list_bots", {}, owner.get("/api/bots")),
    ]
    async with connect(owner) as client:
        for name, arguments, rest in cases:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            assert result.structured_content == rest.json(), name
            assert json.loads(result.content[0].text) == rest.json()  # type: ignore[union-attr]
        whole = owner.get(f"{kb}/documents/{document}/text").json()["text"]
        reading = {**of_base, "documentId": document, "start": 2, "length": 7}
        part = (await client.call_tool("read_document", reading)).structured_content
    assert part["text"] == whole[2:9] == "Ferries"
    assert (part["start"], part["end"], part["characters"]) == (2, 9, len(whole))


async def test_a_bot_is_asked_and_the_conversation_goes_on(
    owner: httpx.Client, connect: Connect, ids: dict[str, str]
) -> None:
    steps: list[tuple[float, str | None]] = []

    async def follow(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, message))

    question = {"botId": ids["botId"], "message": "When does the ferry to Sylt leave?"}
    async with connect(owner) as client:
        first = await client.call_tool("ask_bot", question, progress_callback=follow)
        answer = first.structured_content
        assert "[1]" in answer["message"]
        assert answer["sources"][0]["documentId"] == ids["documentId"]
        again = {**question, "message": "From where?", "conversationId": answer["conversationId"]}
        second = (await client.call_tool("ask_bot", again)).structured_content
    assert second["conversationId"] == answer["conversationId"]
    messages = owner.get(f"/api/conversations/{answer['conversationId']}/messages").json()["items"]
    assert [each["content"] for each in messages][::2] == [question["message"], "From where?"]
    assert [number for number, _ in steps] == [float(n) for n in range(1, len(steps) + 1)]
    assert {"search text", "compose context", "writing the answer"} <= {message for _, message in steps}


async def test_errors_of_tools_are_problems_that_the_model_sees(
    owner: httpx.Client, connect: Connect, ids: dict[str, str]
) -> None:
    base = {"knowledgeBaseId": ids["knowledgeBaseId"]}
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("search_knowledge_base", {**base, "query": " "}, "invalid_request"),
        ("search_knowledge_base", {"query": "ferry"}, "invalid_request"),
        ("search_knowledge_base", {**base, "query": "ferry", "top_k": 3}, "invalid_request"),
        ("search_knowledge_base", {**base, "query": "ferry", "topK": 51}, "invalid_request"),
        ("search_knowledge_base", {"knowledgeBaseId": "no-id", "query": "ferry"}, "not_found"),
        ("search_knowledge_base_by_image", {**base, "imageBase64": "é"}, "invalid_request"),
        ("search_knowledge_base_by_image", {**base, "imageBase64": "aGk="}, "damaged_file"),
        ("read_chunk", {**base, "documentId": ids["documentId"], "chunkId": ids["botId"]}, "not_found"),
        ("ask_bot", {"botId": ids["botId"], "message": ""}, "invalid_request"),
        ("ask_bot", {"botId": ids["botId"], "message": "nul\x00"}, "invalid_request"),
        ("ask_bot", {"botId": ids["botId"], "message": "x" * 200_001}, "message_too_large"),
        ("ask_bot", {"botId": ids["botId"], "message": "Hi", "conversationId": ids["botId"]}, "not_found"),
    ]
    async with connect(owner) as client:
        for name, arguments, code in cases:
            told = problem(await client.call_tool(name, arguments))
            assert told["code"] == code, (name, arguments, told)
            assert told["detail"]
        with pytest.raises(MCPError):
            await client.call_tool("drop_everything", {})


async def test_what_is_another_organisation_s_does_not_exist(
    shared: Shared, connect: Connect, ids: dict[str, str], client: httpx.Client
) -> None:
    document = {"knowledgeBaseId": ids["knowledgeBaseId"], "documentId": ids["documentId"]}
    base = {"knowledgeBaseId": ids["knowledgeBaseId"]}
    async with connect(client) as stranger:
        for name, arguments in (
            ("search_knowledge_base", {**base, "query": "ferry"}),
            ("search_knowledge_base_by_image", {**base, "imageBase64": base64.b64encode(files.png()).decode()}),
            ("search_knowledge_graph", {**base, "query": "ferry"}),
            ("get_knowledge_base_map", base),
            ("read_document", document),
            ("read_chunk", {**document, "chunkId": ids["chunkId"]}),
            ("ask_bot", {"botId": ids["botId"], "message": "When?"}),
        ):
            assert problem(await stranger.call_tool(name, arguments))["code"] == "not_found", name
        for name in ("list_knowledge_bases", "list_bots"):
            assert (await stranger.call_tool(name, {})).structured_content["items"] == []


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def test_only_a_valid_key_from_no_foreign_page_gets_in(shared: Shared, owner: httpx.Client) -> None:
    url = f"{shared.running.url}/mcp"
    for headers in (
        {},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Basic eA=="},
    ):
        refused = httpx.post(url, json=PING, headers={**ACCEPT, **headers})
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthorized")
        assert refused.headers["WWW-Authenticate"] == "Bearer"
    host = shared.running.url.partition("://")[2]
    for origin in (
        "https://example.org",
        shared.running.url,
        f"http://rebound.example:{host.partition(':')[2]}",
        "null",
    ):
        foreign = owner.post("/mcp", json=PING, headers={**ACCEPT, "Origin": origin})
        assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden"), origin
    assert owner.post("/mcp", json=PING, headers=ACCEPT).status_code == 200


def test_a_revoked_key_is_dead_at_once(shared: Shared, rows: Any) -> None:
    key = shared.launcher.key("leaving agents")
    with shared.running.client(key) as client:
        assert client.post("/mcp", json=PING, headers=ACCEPT).status_code == 200
        rows.execute(
            "UPDATE api_keys SET revoked_at = now() WHERE organisation_id = "
            "(SELECT id FROM organisations WHERE name = 'leaving agents')"
        )
        assert client.post("/mcp", json=PING, headers=ACCEPT).status_code == 401


def test_there_are_no_sessions_and_bad_requests_are_told(owner: httpx.Client) -> None:
    assert owner.get("/mcp", headers=ACCEPT).status_code == 405
    assert owner.delete("/mcp").status_code == 405
    for content in (b"{", b"[]", b"\xff", b"[" * 100_000, b'{"jsonrpc": "2.0"}'):
        response = owner.post("/mcp", content=content, headers={**ACCEPT, "Content-Type": "application/json"})
        assert 400 <= response.status_code < 500, (content[:20], response.status_code)
    assert owner.post("/mcp", content=b" " * (33 * 2**20), headers=ACCEPT).status_code == 413
    assert "/mcp" not in owner.get("/openapi.json").json()["paths"]
