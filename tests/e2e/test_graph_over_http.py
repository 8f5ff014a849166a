"""The knowledge graph over HTTP and on the command line, in PostgreSQL and in Neo4j (SPEC §3, §9)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.cuttable import CuttableWay
from tests.support.documents import wait_until_ready
from tests.support.launching import Launcher, Shared
from tests.support.neo4j import Neo4jServer

TEXT = b"""# Harbour report

Marie Lindqvist works for Northwind Shipping. Northwind Shipping owns the Albatross Ferry.
The Albatross Ferry sails to Port Ellen. Marie Lindqvist inspected the Albatross Ferry in Port Ellen.
"""


def make_knowledge_base(client: httpx.Client, name: str = "Harbour") -> tuple[str, str]:
    """A knowledge base with one document; their ids."""
    kb = str(client.post("/knowledge/kb", json={"name": name}).json()["id"])
    sent = client.post(f"/knowledge/kb/{kb}/documents", files={"files": ("harbour.md", TEXT, "")})
    document = str(sent.json()["documents"][0]["id"])
    wait_until_ready(client, kb, document)
    return kb, document


def graph_of(client: httpx.Client, kb: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/knowledge/kb/{kb}/graph", params=query)
    assert response.status_code == 200, response.text
    graph: dict[str, Any] = response.json()
    return graph


def names(graph: dict[str, Any]) -> set[str]:
    return {node["name"] for node in graph["nodes"]}


@pytest.fixture
def harbour(client: httpx.Client) -> str:
    return make_knowledge_base(client)[0]


def test_a_graph_has_nodes_and_the_edges_between_them(client: httpx.Client, harbour: str) -> None:
    graph = graph_of(client, harbour)
    assert set(graph) == {"nodes", "edges", "nextCursor"}
    assert names(graph) >= {"Marie Lindqvist", "Northwind Shipping", "Albatross Ferry"}
    assert all(set(node) == {"id", "name", "type", "description", "mentions"} for node in graph["nodes"])
    assert all(set(edge) == {"source", "target", "relation", "description", "weight"} for edge in graph["edges"])
    ids = {node["id"] for node in graph["nodes"]}
    assert graph["edges"]
    assert all({edge["source"], edge["target"]} <= ids for edge in graph["edges"])
    assert graph["nextCursor"] is None


def test_a_graph_comes_in_pages(client: httpx.Client, harbour: str) -> None:
    whole = graph_of(client, harbour)
    nodes, edges, cursor = [], [], None
    while True:
        page = graph_of(client, harbour, limit=2, **({"cursor": cursor} if cursor else {}))
        nodes += page["nodes"]
        edges += page["edges"]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert nodes == whole["nodes"]
    assert sorted(map(str, edges)) == sorted(map(str, whole["edges"]))


def test_a_graph_is_filtered(client: httpx.Client, harbour: str) -> None:
    assert names(graph_of(client, harbour, q="albatross")) == {"Albatross Ferry"}
    assert graph_of(client, harbour, type="nothing of the kind") == {"nodes": [], "edges": [], "nextCursor": None}
    assert min(node["mentions"] for node in graph_of(client, harbour, minMentions=3)["nodes"]) >= 3
    around = graph_of(client, harbour, around="Northwind Shipping", hops=1)
    assert "Northwind Shipping" in names(around)


def test_a_search_brings_entities_relations_and_the_passages_behind_them(client: httpx.Client, harbour: str) -> None:
    path = f"/knowledge/kb/{harbour}/graph/search"
    found = client.post(path, json={"query": "What does Northwind Shipping own?"}).json()
    assert set(found) == {"entities", "relations", "results", "truncated"}
    assert found["entities"][0]["name"] == "Northwind Shipping"
    assert all(set(each) == {"name", "type", "description"} for each in found["entities"])
    assert all(set(each) == {"source", "relation", "target", "description"} for each in found["relations"])
    assert found["truncated"] is False
    [result] = found["results"]
    assert set(result) == {
        *("chunkId", "documentId", "filename", "page", "text", "score", "vectorScore", "textScore"),
        *("importance", "metadata"),
    }
    assert "Albatross" in result["text"]
    assert client.post(path, json={"query": "Northwind", "hops": 1}).status_code == 200


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"limit": 0}, 422, "invalid_request"),
        ({"limit": 1000}, 422, "invalid_request"),
        ({"hops": 3}, 422, "invalid_request"),
        ({"minMentions": -1}, 422, "invalid_request"),
        ({"cursor": "nonsense"}, 422, "invalid_request"),
        ({"q": "nul\x00"}, 422, "invalid_request"),
    ],
)
def test_bad_parameters_are_told(
    client: httpx.Client, harbour: str, query: dict[str, Any], status: int, code: str
) -> None:
    response = client.get(f"/knowledge/kb/{harbour}/graph", params=query)
    assert (response.status_code, response.json()["code"]) == (status, code)


def test_a_graph_of_another_organisation_is_unknown(client: httpx.Client, harbour: str, shared: Shared) -> None:
    with shared.running.client(shared.launcher.key("a stranger to graphs")) as stranger:
        assert stranger.get(f"/knowledge/kb/{harbour}/graph").status_code == 404
        found = stranger.post(f"/knowledge/kb/{harbour}/graph/search", json={"query": "Northwind"})
        assert found.status_code == 404


def test_a_graph_stands_in_the_description_of_the_api(client: httpx.Client) -> None:
    described = client.get("/openapi.json").json()["paths"]["/knowledge/kb/{kb_id}/graph"]["get"]
    given = {parameter["name"] for parameter in described["parameters"]}
    assert given == {"kb_id", "type", "q", "minMentions", "around", "hops", "cursor", "limit"}


@pytest.fixture
def way(neo4j: Neo4jServer) -> Iterator[CuttableWay]:
    host, _, port = neo4j.uri.removeprefix("bolt://").partition(":")
    with CuttableWay(host, int(port)) as way:
        yield way


@pytest.fixture
def remote(tmp_path: Path, dsn: str, neo4j: Neo4jServer, way: CuttableWay) -> Iterator[Launcher]:
    """Servers that keep graphs in Neo4j."""
    environment = neo4j.environment | {
        "NEO4J_URI": f"bolt://127.0.0.1:{way.port}",
        # A server that has just started plans each statement for the first time.
        "TRIBUTARY_BRANCH_TIMEOUT": "60",
        "NEO4J_PATIENCE": "1",
    }
    launcher = Launcher(tmp_path, dsn, **environment)
    yield launcher
    launcher.close()


@pytest.mark.timeout(400)
def test_with_neo4j_away_answers_stay_whole_and_nothing_is_lost(remote: Launcher, way: CuttableWay) -> None:
    with remote.start().client(remote.key("acme")) as client:
        kb, document = make_knowledge_base(client)
        assert names(graph_of(client, kb)) >= {"Northwind Shipping", "Albatross Ferry"}
        bot = client.post("/api/bots", json={"name": "B", "knowledgeBaseIds": [kb]}).json()["id"]
        question = {"message": "What does Northwind Shipping own?"}
        assert client.post(f"/api/bots/{bot}/chat", json=question).json()["degraded"] == []

        way.cut()
        answer = client.post(f"/api/bots/{bot}/chat", json=question).json()
        assert [each["branch"] for each in answer["degraded"]] == ["graph"]
        assert answer["degraded"][0]["knowledgeBaseId"] == kb
        assert "Albatross" in answer["message"]
        refused = client.get(f"/knowledge/kb/{kb}/graph")
        assert (refused.status_code, refused.json()["code"]) == (503, "dependency_unavailable")
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert [name for name, state in ready.json()["dependencies"].items() if state != "ok"] == ["neo4j"]
        sent = client.post(f"/knowledge/kb/{kb}/documents", files={"files": ("more.md", TEXT + b"\nIndeed.\n", "")})
        waiting = sent.json()["documents"][0]["id"]
        assert client.delete(f"/knowledge/kb/{kb}/documents/{document}").status_code == 204

        way.mend()
        wait_until_ready(client, kb, waiting)
        assert client.post(f"/api/bots/{bot}/chat", json=question).json()["degraded"] == []
        assert names(graph_of(client, kb)) >= {"Northwind Shipping", "Albatross Ferry"}


def test_a_graph_is_moved_and_drawn_by_a_command(remote: Launcher, tmp_path: Path) -> None:
    with remote.start().client(remote.key("acme")) as client:
        kb, _ = make_knowledge_base(client, "Harbour <b>")
        before = names(graph_of(client, kb))
        page = tmp_path / "graph.html"
        told = remote.command("graph", "Harbour <b>", "--org", "acme", "--to", "postgres", "--html", str(page))
        assert told.returncode == 0, told.stderr
        assert re.search(r"\d+ entities, .* in postgres", told.stdout)
        assert names(graph_of(client, kb)) == before
        drawn = page.read_text(encoding="utf-8")
        assert all(name in drawn for name in before)
        assert "Harbour &lt;b&gt;" in drawn
        unknown = remote.command("graph", "nowhere", "--org", "acme")
        assert unknown.returncode == 1
        assert "nowhere" in unknown.stderr
