"""Knowledge bases in their own spaces, from outside: pictures in Gemini's, and moves from one embedding to another."""

import base64
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.support.files import encoded
from tests.support.launching import Launcher, Running, run_server
from tests.support.postgres import Server
from tests.support.provider import Provider
from tests.support.provider_faults import Refuse

GEMINI = "gemini/gemini-embedding-2"
E5 = "local/multilingual-e5-small"


@pytest.fixture(scope="module")
def launched(
    running_provider: Provider, postgres: Server, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Launcher, Running]]:
    with run_server(postgres, tmp_path_factory.mktemp("spaces"), **running_provider.environment()) as shared:
        yield shared.launcher, shared.running


@pytest.fixture
def organisation(request: pytest.FixtureRequest) -> str:
    return f"org of {request.node.name}"


@pytest.fixture
def client(launched: tuple[Launcher, Running], organisation: str) -> Iterator[httpx.Client]:
    launcher, running = launched
    with running.client(launcher.key(organisation)) as client:
        yield client


def coloured(colour: str, format_name: str, size: tuple[int, int] = (48, 32)) -> bytes:
    return encoded(Image.new("RGB", size, colour), format_name)


def knowledge_base(client: httpx.Client, embedding: str, name: str = "Colours") -> str:
    made = client.post("/knowledge/kb", json={"name": name, "embedding": embedding})
    assert made.status_code == 201, made.text
    return str(made.json()["id"])


def fill(client: httpx.Client, kb: str, **files: bytes) -> None:
    """Documents by name, `__` for the dot; returns when they are searchable."""
    parts = [("files", (name.replace("__", "."), data)) for name, data in files.items()]
    sent = client.post(f"/knowledge/kb/{kb}/documents", files=parts)
    assert sent.status_code == 202, sent.text
    end = time.monotonic() + 90
    for document in sent.json()["documents"]:
        while True:
            found = client.get(f"/knowledge/kb/{kb}/documents/{document['id']}").json()
            if found["status"] in ("ready", "failed"):
                break
            assert time.monotonic() < end, found
            time.sleep(0.05)
        assert found["status"] == "ready", found


def by_picture(client: httpx.Client, kb: str, image: bytes) -> list[dict[str, Any]]:
    body = {"imageBase64": base64.b64encode(image).decode(), "mimeType": "image/jpeg"}
    found = client.post(f"/knowledge/kb/{kb}/search/image", json=body)
    assert found.status_code == 200, found.text
    results: list[dict[str, Any]] = found.json()["results"]
    return results


def by_words(client: httpx.Client, kb: str, query: str) -> list[dict[str, Any]]:
    found = client.post(f"/knowledge/kb/{kb}/search", json={"query": query})
    assert found.status_code == 200, found.text
    results: list[dict[str, Any]] = found.json()["results"]
    return results


def sent_kinds(provider: Provider) -> set[str]:
    """Media types of the pictures that went out."""
    blobs = [
        blob
        for call in provider.embeds
        for request in call.body["requests"]
        for part in request["content"]["parts"]
        if (blob := part.get("inlineData") or part.get("inline_data"))
    ]
    return {blob.get("mimeType") or blob["mime_type"] for blob in blobs}


def test_pictures_of_a_gemini_knowledge_base_are_found_by_pictures_and_by_words(
    client: httpx.Client, provider: Provider
) -> None:
    kb = knowledge_base(client, GEMINI)
    note = b"# Ferries\n\nThe ferry leaves at nine."
    fill(client, kb, one__png=coloured("red", "PNG"), two__webp=coloured("blue", "WEBP"), note__md=note)

    by_red_picture = by_picture(client, kb, coloured("red", "JPEG", (30, 60)))
    by_red_words = by_words(client, kb, "something red")
    by_other_words = by_words(client, kb, "When does the ferry leave?")
    bot = client.post("/api/bots", json={"name": "Eye", "model": "local/extractive", "knowledgeBaseIds": [kb]}).json()
    upload = client.post("/api/bot/attachments/upload", files={"files": ("q.jpg", coloured("blue", "JPEG"))}).json()
    claim = {"id": upload["id"], "accessToken": upload["accessToken"]}
    asked = {"message": "What is like this?", "attachments": [claim]}
    answer = client.post(f"/api/bots/{bot['id']}/chat", json=asked).json()

    assert by_red_picture[0]["filename"] == "one.png"
    assert by_red_picture[0]["vectorScore"] > 0.5 > by_red_picture[1]["vectorScore"]
    assert by_red_words[0]["filename"] == "one.png"
    assert by_other_words[0]["filename"] == "note.md"
    assert answer["degraded"] == []
    assert any(source["filename"] == "two.webp" and "image" in source["branches"] for source in answer["sources"])
    assert sent_kinds(provider) == {"image/png", "image/jpeg"}


def test_a_local_knowledge_base_tells_nobody_of_its_pictures(client: httpx.Client, provider: Provider) -> None:
    kb = knowledge_base(client, E5)
    fill(client, kb, one__png=coloured("red", "PNG"), note__md=b"The ferry leaves at nine.")

    assert by_picture(client, kb, coloured("red", "JPEG"))[0]["filename"] == "one.png"
    assert by_words(client, kb, "When does the ferry leave?")[0]["filename"] == "note.md"
    assert provider.requests == []


def test_a_knowledge_base_is_moved_to_another_embedding_while_it_is_searched(
    client: httpx.Client, provider: Provider, launched: tuple[Launcher, Running], organisation: str
) -> None:
    launcher, _ = launched
    kb = knowledge_base(client, E5, "Moving")
    fill(client, kb, one__png=coloured("red", "PNG"), note__md=b"# Ferries\n\nThe ferry leaves at nine.")
    before = by_words(client, kb, "When does the ferry leave?")[0]

    refused = client.patch(f"/knowledge/kb/{kb}", json={"embedding": GEMINI})
    unchanged = client.patch(f"/knowledge/kb/{kb}", json={"embedding": E5, "description": "Of a harbour"})
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert f"tributary reindex {kb} --embedding {GEMINI}" in refused.json()["detail"]
    assert (unchanged.status_code, unchanged.json()["description"]) == (200, "Of a harbour")
    assert client.patch(f"/knowledge/kb/{kb}", json={"embedding": "cohere/none"}).status_code == 422

    # A run that fails leaves everything as it was.
    provider.next_embeddings(Refuse(400))
    failed = launcher.command("reindex", "Moving", "--embedding", GEMINI, "--org", organisation)
    assert failed.returncode == 1
    assert "refused the request" in failed.stderr
    assert by_words(client, kb, "When does the ferry leave?")[0]["chunkId"] == before["chunkId"]

    moved = launcher.command("reindex", kb, "--embedding", GEMINI, "--org", organisation)
    assert moved.returncode == 0, moved.stderr
    assert f"Moving is searched by {GEMINI} (3072 dimensions)" in moved.stderr

    shown = client.get(f"/knowledge/kb/{kb}").json()
    assert (shown["embedding"], shown["dimension"]) == (GEMINI, 3072)
    assert by_words(client, kb, "When does the ferry leave?")[0]["chunkId"] == before["chunkId"]
    assert by_words(client, kb, "something red")[0]["filename"] == "one.png"
    assert by_picture(client, kb, coloured("red", "JPEG"))[0]["filename"] == "one.png"
    spent = client.get("/api/usage", params={"knowledgeBaseId": kb, "groupBy": "model"}).json()["groups"]
    assert [group["model"] for group in spent] == [GEMINI]

    unknown = launcher.command("reindex", "Nowhere", "--org", organisation)
    assert unknown.returncode == 1
    assert "does not exist" in unknown.stderr
