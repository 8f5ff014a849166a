"""Pictures that a chat model describes, from outside: found by words, and their names in the graph."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.files import png
from tests.support.launching import run_server
from tests.support.postgres import Server
from tests.support.provider import Provider, run_provider

CAPTION = "A red lighthouse at the coast near Westerhever; Helena Carter stands before it with Otto Bear."
_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+")


def sees(body: dict[str, Any]) -> str:
    """A model that describes pictures, reads names in passages, and is of no use for anything else."""
    system, human = (message["content"] for message in body["messages"][:2])
    if "describe pictures" in system:
        assert [part["type"] for part in human][-1] == "image_url"
        return json.dumps({"pictures": [{"number": 1, "caption": CAPTION}]})
    if "knowledge graph" in system:
        return json.dumps({"passages": [_passage(each) for each in json.loads(human)["passages"]]})
    return "I can't do that."


def _passage(given: dict[str, Any]) -> dict[str, Any]:
    entities = [{"name": name, "type": "Person"} for name in dict.fromkeys(_NAME.findall(given["text"]))]
    return {"number": given["number"], "entities": entities, "relations": []}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as provider:
        provider.answer = sees
        yield provider


@pytest.fixture
def client(provider: Provider, postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    environment = provider.environment() | {"TRIBUTARY_INGEST_MODEL": "openrouter/stub/sees"}
    with (
        run_server(postgres, tmp_path_factory.mktemp("captions"), **environment) as shared,
        shared.running.client(shared.launcher.key("acme")) as client,
    ):
        yield client


def descriptions(provider: Provider) -> int:
    return sum("describe pictures" in chat.body["messages"][0]["content"] for chat in provider.chats)


@pytest.mark.timeout(400)
def test_a_picture_is_found_by_what_it_shows_and_its_names_stand_in_the_graph(
    client: httpx.Client, provider: Provider
) -> None:
    kb = str(client.post("/knowledge/kb", json={"name": "Coasts"}).json()["id"])
    base = f"/knowledge/kb/{kb}"
    picture = ("IMG_4711.png", png(size=(320, 240)), "image/png")
    sent = client.post(f"{base}/documents", files={"files": picture})
    document = str(sent.json()["documents"][0]["id"])
    wait_until_ready(client, kb, document)

    found = client.post(f"{base}/search", json={"query": "lighthouse near Westerhever"}).json()["results"]
    assert found[0]["documentId"] == document
    assert CAPTION in found[0]["text"]

    walked = client.post(f"{base}/graph/search", json={"query": "Who is Helena Carter?"}).json()
    assert "Helena Carter" in {entity["name"] for entity in walked["entities"]}
    assert [passage["chunkId"] for passage in walked["results"]] == [found[0]["chunkId"]]
    spent = client.get("/api/usage", params={"groupBy": "kind"}).json()["groups"]
    assert {group["kind"]: group["calls"] for group in spent} == {"ingest": 3}, "picture, summary, graph"

    assert descriptions(provider) == 1
    assert client.post(f"{base}/documents/{document}/reingest").is_success
    wait_until_ready(client, kb, document)
    assert descriptions(provider) == 1, "the same picture costs nothing again"

    assert client.delete(f"{base}/documents/{document}").status_code == 204
    assert client.get(f"{base}/graph").json()["nodes"] == []
    assert client.post(f"{base}/search", json={"query": "lighthouse"}).json()["results"] == []
