"""What an operator sees of a real server in which everything happens: figures, traces, and a log without secrets."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
import pytest

from stores.secrets import make_key_secret, make_session_secret
from tests.support.documents import wait_until_done
from tests.support.launching import Shared, run_server
from tests.support.otlp import Collector, Span, run_collector
from tests.support.postgres import Server
from tests.support.provider import Provider, run_provider
from tests.support.provider_faults import Refuse

#: Words of people and of documents, as nothing else here has them.
DOCUMENT, BROKEN, MESSAGE, ANSWER = "quokkas sleep at noon", "wombatic ruin", "whither the numbats", "bilbies answer so"
TRACE = "0af7651916cd43dd8448eb211c80319c"
UPLOAD = "/api/bot/attachments/upload"


@dataclass
class World:
    """A server, what was done with it, and all that must not be told."""

    shared: Shared
    provider: Provider
    collector: Collector
    client: httpx.Client
    key: str
    secrets: list[str]

    @property
    def log(self) -> str:
        return (self.shared.launcher.data / "server-0.log").read_text()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.splitlines()]

    def metrics(self) -> dict[str, float]:
        text = httpx.get(f"{self.shared.running.url}/metrics").text
        return {name: float(value) for name, value in re.findall(r"^(\w+(?:\{.*\})?) (\S+)$", text, re.MULTILINE)}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[World]:
    with run_provider() as provider, run_collector() as collector:
        environment = {
            **provider.environment(),
            "TRIBUTARY_LOG_FORMAT": "json",
            "TRIBUTARY_LOG_LEVEL": "DEBUG",
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with run_server(postgres, tmp_path_factory.mktemp("operations"), **environment) as shared:
            key = shared.launcher.key()
            with shared.running.client(key) as client:
                world = World(shared, provider, collector, client, key, [key, provider.key])
                _do_everything(world)
                yield world


def _do_everything(world: World) -> None:
    client, secrets = world.client, world.secrets
    base = client.post("/knowledge/kb", json={"name": "kb"}).json()["id"]
    documents = f"/knowledge/kb/{base}/documents"
    sent = client.post(
        documents,
        files=[
            ("files", ("a.md", f"# Animals\n\n{DOCUMENT}, as everybody knows.".encode())),
            ("files", ("b.pdf", f"%PDF-1.7\n{BROKEN}\n%%EOF".encode())),
        ],
    ).json()["documents"]
    for each in sent:
        if "id" in each:
            wait_until_done(client, base, each["id"])
    far = client.post("/knowledge/kb", json={"name": "far", "embedding": "openai/text-embedding-3-small"}).json()["id"]
    world.provider.next_embeddings(*[Refuse(401, message=f"bad key {world.provider.key} for {DOCUMENT}")] * 4)
    refused = client.post(f"/knowledge/kb/{far}/documents", files={"files": ("c.md", DOCUMENT.encode())}).json()
    assert wait_until_done(client, far, refused["documents"][0]["id"])["status"] == "failed"
    _use_attachments(world)
    bot = client.post("/api/bots", json={"name": "b", "model": "openai/stub", "knowledgeBaseIds": [base]}).json()["id"]
    chat = f"/api/bots/{bot}/chat"
    world.provider.answer = ANSWER
    headers = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "X-Request-ID": "asked-first"}
    answered = client.post(chat, json={"message": MESSAGE}, headers=headers)
    assert (answered.status_code, answered.headers["X-Request-ID"]) == (200, "asked-first")
    for fault in (Refuse(400, message=f"no: {MESSAGE}"), Refuse(401, message=f"{world.provider.key} is wrong")):
        world.provider.next_chat(fault)
        assert client.post(chat, json={"message": MESSAGE}).status_code == 502
    wrong, session = make_key_secret(uuid4()), make_session_secret(uuid4())
    secrets += [wrong, session]
    own = {"Origin": world.shared.running.url}
    with httpx.Client(base_url=world.shared.running.url) as stranger:
        assert stranger.get("/api/bots", headers={"Authorization": f"Bearer {wrong}"}).status_code == 401
        assert stranger.get(f"/nowhere/{wrong}", params={"key": wrong}).status_code == 404
        stranger.get("/sign-in/link", params={"secret": session})
        assert stranger.post("/sign-in", data={"key": world.key}, headers=own).is_redirect
        secrets.append(stranger.cookies["tributary_session"])
        assert stranger.get("/api/bots").status_code == 200
        assert stranger.request("PURGE", "/api/bots").status_code == 405
    lost = [{"id": str(uuid4()), "accessToken": wrong}]
    assert client.post(chat, json={"message": MESSAGE, "attachments": lost}).status_code == 404
    client.delete(f"/api/conversations/{answered.json()['conversationId']}")


def _use_attachments(world: World) -> None:
    client = world.client
    sent = client.post(UPLOAD, files={"files": ("n.txt", DOCUMENT.encode())}).json()
    wrong = f"{sent['accessToken'][:-4]}AAAA"
    world.secrets += [sent["accessToken"], wrong]
    path = f"/api/bot/attachments/{sent['id']}"
    assert client.get(path, params={"token": sent["accessToken"]}).status_code == 200
    assert client.get(path, params={"token": wrong}).status_code == 403
    assert client.get(f"{path}/nowhere", params={"token": sent["accessToken"]}).status_code == 404
    client.post(UPLOAD, files={"files": ("x.bin", BROKEN.encode() + bytes(20))})


def test_no_line_of_the_log_holds_a_secret_or_words_of_documents_and_people(world: World) -> None:
    log = world.log
    assert len(log.splitlines()) > 20
    for each in [*world.secrets, DOCUMENT, BROKEN, MESSAGE, ANSWER]:
        assert each not in log, each
    assert "token=" not in log


def test_each_line_is_an_object_that_says_whose_request_it_was(world: World) -> None:
    lines = world.lines()
    [line] = [line for line in lines if line.get("request") == "asked-first" and line["logger"] == "tributary.access"]
    assert (line["route"], line["method"], line["status"]) == ("/api/bots/{bot_id}/chat", "POST", 200)
    assert line["organisation"]
    assert line["bot_id"]
    failed = [line for line in lines if line.get("node") == "invoke_model" and line["level"] == "WARNING"]
    assert failed
    assert all(line["conversation"] and line["request"] and line["traceId"] for line in failed)
    assert any(line.get("document") for line in lines)


def test_a_turn_is_a_tree_of_spans_under_the_clients_own(world: World) -> None:
    collector = world.collector
    request = collector.wait_for("POST /api/bots/{bot_id}/chat", tributary__request="asked-first")
    assert (request.trace_id, request.parent_id) == (TRACE, "b7ad6b7169203331")
    assert request.attributes["http.response.status_code"] == 200
    [turn] = [span for span in collector.below(request) if span.name == "turn"]
    assert turn.attributes["tributary.outcome"] == "complete"
    nodes = {span.name: span for span in collector.below(turn) if "tributary.node" in span.attributes}
    assert {"validate_attachments", "record_question", "search_text", "read_map", "invoke_model"} <= nodes.keys()
    assert _overlap(nodes["search_text"], nodes["search_graph"]), "branches run side by side"
    [call] = [span for span in collector.below(nodes["invoke_model"]) if span.name == "chat openai/stub"]
    assert call.attributes["gen_ai.request.model"] == "openai/stub"
    assert any(span.name == "postgresql" for span in collector.below(nodes["record_question"]))
    assert any("embedding" in span.name for span in collector.spans if span.trace_id == TRACE)


def _overlap(one: Span, other: Span) -> bool:
    return one.began < other.ended and other.began < one.ended


def test_a_provider_that_fails_is_a_failed_span(world: World) -> None:
    call = world.collector.wait_for("chat openai/stub", error__type="provider_error")
    assert call.failed


def test_ingestion_is_a_tree_of_spans_too(world: World) -> None:
    parse = world.collector.wait_for("parse_document")
    [task] = [span for span in world.collector.spans if span.span_id == parse.parent_id]
    assert (task.name, bool(task.attributes["tributary.document"])) == ("ingest", True)
    world.collector.wait_for("index_document")


def test_no_span_holds_a_secret_or_words_of_documents_and_people(world: World) -> None:
    world.collector.wait_for("DELETE /api/conversations/{conversation_id}")
    sent = bytes(world.collector.raw)
    for each in [*world.secrets, DOCUMENT, BROKEN, MESSAGE, ANSWER, "token="]:
        assert each.encode() not in sent, each


def test_figures_tell_of_requests_turns_nodes_models_ingestion_and_connections(world: World) -> None:
    assert httpx.post(f"{world.shared.running.url}/mcp").status_code == 401
    found = world.metrics()
    assert found['tributary_http_requests_total{method="POST",route="/mcp",status="401"}'] == 1
    assert found['tributary_http_requests_total{method="POST",route="/api/bots/{bot_id}/chat",status="200"}'] == 1
    assert found['tributary_http_requests_total{method="OTHER",route="/api/bots",status="405"}'] == 1
    assert found['tributary_turns_total{outcome="complete"}'] == 1
    assert found['tributary_turns_total{outcome="failed"}'] == 2
    assert found["tributary_turn_first_token_seconds_count"] == 1
    assert found['tributary_node_seconds_count{graph="chat",node="invoke_model"}'] == 3
    assert found['tributary_node_seconds_count{graph="ingest",node="parse_document"}'] >= 1
    assert found['tributary_model_calls_total{kind="chat",outcome="ok",provider="openai"}'] == 1
    assert found['tributary_model_calls_total{kind="chat",outcome="provider_error",provider="openai"}'] == 2
    assert found['tributary_model_tokens_total{direction="output",kind="chat",provider="openai"}'] > 0
    assert found['tributary_ingestion_documents_total{outcome="indexed"}'] == 1
    assert found['tributary_chunks_embedded_total{provider="local"}'] >= 1
    assert found['tributary_ingestion_queue{state="waiting"}'] == 0
    assert found['tributary_pool_connections{pool="stores",state="idle"}'] >= 0
    assert found["tributary_streams_open"] == 0
    assert found["process_resident_memory_bytes"] > 0


def test_no_figure_is_anybodys_and_none_grows_with_what_is_asked(world: World) -> None:
    for number in range(20):
        world.client.get(f"/nowhere/{number}")
    text = httpx.get(f"{world.shared.running.url}/metrics").text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text)
    assert "/nowhere" not in text
    for each in [*world.secrets, DOCUMENT, MESSAGE, "acme", "stub"]:
        assert each not in text, each
    assert 'route="unknown"' in text


def test_readiness_names_each_dependency(world: World) -> None:
    ready = httpx.get(f"{world.shared.running.url}/readyz")
    dependencies = dict.fromkeys(("postgresql", "migrations", "files", "embedder", "worker"), "ok")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready", "dependencies": dependencies})


def test_a_request_without_an_id_gets_one_and_a_malformed_one_is_not_taken_over(world: World) -> None:
    assert len(world.client.get("/healthz").headers["X-Request-ID"]) == 32
    forged = "a b\tforged"
    assert world.client.get("/healthz", headers={"X-Request-ID": forged}).headers["X-Request-ID"] != forged
