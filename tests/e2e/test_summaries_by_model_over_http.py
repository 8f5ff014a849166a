"""Documents that a chat model describes, from outside: a real server on a stub of the model providers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.launching import run_server
from tests.support.postgres import Server
from tests.support.provider import Provider, run_provider

FERRY = "# Fähre\n\nDie Fähre nach Sylt fährt um sieben Uhr in Havneby ab. Sie braucht vierzig Minuten.\n"
DESCRIBED = {"summary": "Wann die Fähre nach Sylt fährt.", "topics": ["Fähre", "Sylt"], "type": "Timetable"}


def describes(body: dict[str, Any]) -> str:
    """A model that describes documents in German, and is of no use for anything else, nor for what it dislikes."""
    system, human = (message["content"] for message in body["messages"][:2])
    useful = "for a catalogue" in system and "Kanone" not in human
    return json.dumps(DESCRIBED) if useful else "I'm sorry, but I can't help with that."


@pytest.fixture
def provider() -> Iterator[Provider]:
    with run_provider() as provider:
        provider.answer = describes
        yield provider


@pytest.fixture
def client(provider: Provider, postgres: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    environment = provider.environment() | {"TRIBUTARY_INGEST_MODEL": "openrouter/stub/all"}
    with (
        run_server(postgres, tmp_path_factory.mktemp("described"), **environment) as shared,
        shared.running.client(shared.launcher.key("acme")) as client,
    ):
        yield client


def test_a_model_describes_documents_and_one_that_refuses_holds_up_none(
    client: httpx.Client, provider: Provider
) -> None:
    kb = client.post("/knowledge/kb", json={"name": "K"}).json()["id"]
    files = [("files", ("ferry.md", FERRY.encode(), "")), ("files", ("other.md", b"Die Kanone von Sylt.", ""))]
    sent = client.post(f"/knowledge/kb/{kb}/documents", files=files).json()["documents"]
    described, refused = [wait_until_ready(client, kb, each["id"]) for each in sent]
    assert described["summary"] == DESCRIBED["summary"]
    assert described["topics"] == DESCRIBED["topics"]
    assert described["type"] == "timetable"
    assert "Kanone" in refused["summary"], "the local way stood in"
    shown = client.get(f"/knowledge/kb/{kb}/map").json()["documents"]
    assert DESCRIBED["summary"] in {each["summary"] for each in shown}
    found = client.post(f"/knowledge/kb/{kb}/search", json={"query": "Wann fährt die Fähre?"}).json()["results"]
    assert found[0]["filename"] == "ferry.md"
    asked = [call.body["messages"] for call in provider.chats]
    heard = {"Kanone" in human["content"] for orders, human in asked if "for a catalogue" in orders["content"]}
    assert heard == {False, True}
    usage = client.get("/api/usage", params={"groupBy": "kind"}).json()
    assert "ingest" in json.dumps(usage)
