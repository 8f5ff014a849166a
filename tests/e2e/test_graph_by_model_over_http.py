"""A knowledge graph that a chat model extracts, from outside: a real server on a stub of the model providers."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.launching import run_server
from tests.support.postgres import Server
from tests.support.provider import Provider, run_provider

FILLER = " It was written down by those who had seen it, and read by those who had not." * 12
BURTON = f"# Film\n\nBig Eyes was directed by Timothy Burton, also called Tim Burton.{FILLER}\n"
CARTER = f"\n# Home\n\nHelena Carter lived with Tim Burton in London.{FILLER}\n"
_NAME = re.compile(r"[A-Z][a-z]+ [A-Z][a-z]+")


def reads_names(body: dict[str, Any]) -> str:
    """A model that knows two capitalised words as a name, and states the first two to be partners; for anything else
    than an extraction it is of no use."""
    system, human = (message["content"] for message in body["messages"][:2])
    if "knowledge graph" not in system:
        return "I can't do that."
    return json.dumps({"passages": [_passage(each) for each in json.loads(human)["passages"]]})


def _passage(given: dict[str, Any]) -> dict[str, Any]:
    names = list(dict.fromkeys(_NAME.findall(given["text"])))
    short = {"Timothy Burton": "Tim Burton"}
    entities = [
        {"name": name, "type": "Person", "description": f"{name} is told of.", "aliases": [short.get(name, "")]}
        for name in names
        if name not in {short[each] for each in short if each in names}
    ]
    relation = {"source": names[0], "relation": "PARTNER_OF", "target": names[1], "description": "So it says."}
    return {"number": given["number"], "entities": entities, "relations": [relation]}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as provider:
        provider.answer = reads_names
        yield provider


@pytest.fixture
def client(provider: Provider, postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    environment = provider.environment() | {"TRIBUTARY_INGEST_MODEL": "openrouter/stub/all"}
    with (
        run_server(postgres, tmp_path_factory.mktemp("by-model"), **environment) as shared,
        shared.running.client(shared.launcher.key("acme")) as client,
    ):
        yield client


def read(provider: Provider) -> list[str]:
    """The passages that the model was asked to read, in order."""
    asked = [
        chat.body["messages"] for chat in provider.chats if "knowledge graph" in chat.body["messages"][0]["content"]
    ]
    return [passage["text"] for _, human in asked for passage in json.loads(human["content"])["passages"]]


@pytest.mark.timeout(400)
def test_a_model_reads_the_graph_and_only_what_changed_is_read_again(client: httpx.Client, provider: Provider) -> None:
    kb = str(client.post("/knowledge/kb", json={"name": "Films"}).json()["id"])
    base = f"/knowledge/kb/{kb}"
    sent = client.post(f"{base}/documents", files={"files": ("films.md", (BURTON + CARTER).encode(), "")})
    document = str(sent.json()["documents"][0]["id"])
    wait_until_ready(client, kb, document)
    first = read(provider)
    assert len(first) == 2, "a passage for each part"

    nodes = {node["name"]: node for node in client.get(f"{base}/graph").json()["nodes"]}
    assert nodes["Timothy Burton"]["type"] == "person"
    assert nodes["Timothy Burton"]["description"] == "Timothy Burton is told of."
    assert "Tim Burton" not in nodes, "an alias is no entity of its own"
    found = client.post(f"{base}/graph/search", json={"query": "Who lived with Tim Burton?"}).json()
    assert {"Timothy Burton", "Helena Carter"} <= {entity["name"] for entity in found["entities"]}
    relation = next(each for each in found["relations"] if each["source"] == "Helena Carter")
    assert (relation["relation"], relation["target"]) == ("partner of", "Timothy Burton")
    assert any("Helena Carter" in passage["text"] for passage in found["results"])

    edited = BURTON + CARTER.replace("London", "Prague")
    assert client.put(f"{base}/documents/{document}", files={"files": ("films.md", edited.encode(), "")}).is_success
    wait_until_ready(client, kb, document)
    [again] = read(provider)[2:]
    assert "Prague" in again

    provider.answer = "I can't do that."
    other = client.post(f"{base}/documents", files={"files": ("bears.md", b"Anna Bear met Otto Bear in Oslo.", "")})
    wait_until_ready(client, kb, str(other.json()["documents"][0]["id"]))
    names = {node["name"] for node in client.get(f"{base}/graph").json()["nodes"]}
    assert {"Anna Bear", "Otto Bear"} <= names, "the local extractor stands in"
