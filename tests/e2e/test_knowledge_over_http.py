"""Knowledge bases and their documents over HTTP: every route, beside what OpenAPI says of its answers."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_done, wait_until_ready
from tests.support.files import png
from tests.support.launching import Shared
from tests.support.openapi import Description
from tests.support.pages import pdf_of

FERRY = "# Ferry\n\nThe ferry to Sylt leaves Havneby at seven. Captain Jensen of the Nordic Line sails it.\n"
NOWHERE = "00000000-0000-7000-8000-000000000000"


@pytest.fixture
def described(client: httpx.Client) -> Iterator[Description]:
    """Every answer to `client` is checked against OpenAPI."""
    yield Description(client, "/knowledge/")
    client.event_hooks["response"].clear()


@pytest.fixture
def kb(client: httpx.Client) -> str:
    return str(client.post("/knowledge/kb", json={"name": "Ferries"}).json()["id"])


def send(client: httpx.Client, kb: str, *files: tuple[str, bytes], **fields: Any) -> httpx.Response:
    parts = [("files", (name, content, "")) for name, content in files]
    return client.post(f"/knowledge/kb/{kb}/documents", files=parts, data=fields)


def add(client: httpx.Client, kb: str, name: str, content: str | bytes, **fields: Any) -> str:
    """A document that is ready."""
    data = content.encode() if isinstance(content, str) else content
    sent = send(client, kb, (name, data), **fields)
    document = str(sent.json()["documents"][0]["id"])
    wait_until_ready(client, kb, document)
    return document


def search(client: httpx.Client, kb: str, query: str) -> list[dict[str, Any]]:
    response = client.post(f"/knowledge/kb/{kb}/search", json={"query": query, "topK": 10})
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["results"]
    return found


def test_every_route_answers_as_it_is_described(client: httpx.Client, described: Description, kb: str) -> None:
    base = f"/knowledge/kb/{kb}"
    document = add(client, kb, "ferry.md", FERRY, importance="0.9", title="Ferries to Sylt")
    pages = add(client, kb, "two.pdf", pdf_of(["First page of Berlin.", "Second page of Munich."]))
    picture = add(client, kb, "sea.png", png())
    path = f"{base}/documents/{document}"
    assert client.get("/knowledge/kb").json()["items"][0]["documentCount"] == 3
    assert client.patch(base, json={"description": "Ships"}).json()["description"] == "Ships"
    assert client.get(base).json()["name"] == "Ferries"
    listed = client.get(f"{base}/documents").json()["items"]
    assert [each["id"] for each in listed] == [document, pages, picture]
    assert client.get(path).json()["title"] == "Ferries to Sylt"
    text = client.get(f"{path}/text").json()["text"]
    best = search(client, kb, "When does the ferry leave?")[0]
    chunk = client.get(f"{path}/chunks/{best['chunkId']}").json()
    assert text[chunk["start"] : chunk["end"]] == chunk["text"] == best["text"]
    assert [each["number"] for each in client.get(f"{base}/documents/{pages}/text").json()["pages"]] == [1, 2]
    assert client.get(f"{base}/documents/{pages}/pages/2.png").status_code == 200
    image = {"imageBase64": base64.b64encode(png()).decode(), "mimeType": "image/png"}
    assert client.post(f"{base}/search/image", json=image).json()["results"][0]["documentId"] == picture
    found = client.post(f"{base}/graph/search", json={"query": "Who is Captain Jensen?"}).json()
    assert found["entities"]
    assert client.get(f"{base}/graph").json()["nodes"]
    assert len(client.get(f"{base}/map").json()["documents"]) == 3
    assert client.patch(path, json={"importance": 0.1}).json()["importance"] == 0.1
    assert client.post(f"{path}/reingest").status_code == 202
    wait_until_ready(client, kb, document)
    new = {"files": ("new.txt", b"Trains go to Hamburg.", "")}
    assert client.put(path, files=new).status_code == 202
    wait_until_ready(client, kb, document)
    assert client.delete(path).status_code == 204
    assert client.delete(base).status_code == 204
    assert described.operations() - described.called == set()


def test_what_goes_wrong_is_described_as_well(client: httpx.Client, described: Description, kb: str) -> None:
    base = f"/knowledge/kb/{kb}"
    for path in (f"/knowledge/kb/{NOWHERE}", f"{base}/documents/{NOWHERE}", f"{base}/documents/nonsense"):
        assert client.get(path).status_code == 404
        assert client.delete(path).status_code == 404
    assert send(client, NOWHERE, ("a.md", b"# A")).status_code == 404
    assert send(client, kb, ("a.zip", b"PK\x03\x04" + bytes(60))).status_code == 415
    assert send(client, kb, ("a.md", b"")).status_code == 422
    assert send(client, kb, ("a.md", b"# A"), importance="2").status_code == 422
    assert client.post("/knowledge/kb", json={}).status_code == 422
    assert client.get(base, headers={"Authorization": ""}).status_code == 401
    assert client.get(f"{base}/documents?status=lost").status_code == 422
    assert described.called


@pytest.mark.parametrize("query", ["", " ", "\n\t "])
def test_a_blank_question_is_refused(client: httpx.Client, kb: str, query: str) -> None:
    for path in ("search", "graph/search"):
        response = client.post(f"/knowledge/kb/{kb}/{path}", json={"query": query})
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_refused_file_among_good_ones_has_its_own_result(client: httpx.Client, kb: str) -> None:
    sent = send(
        client, kb, ("a.md", b"# A good one"), ("b.wav", b"RIFF\x24\0\0\0WAVEfmt " + bytes(40)), ("c.txt", b"Text")
    )
    assert sent.status_code == 202
    first, second, third = sent.json()["documents"]
    assert (first["filename"], first["status"]) == ("a.md", "queued")
    assert (second["filename"], second["error"]["code"]) == ("b.wav", "unsupported_type")
    assert third["filename"] == "c.txt"
    assert len(client.get(f"/knowledge/kb/{kb}/documents").json()["items"]) == 2


def test_a_document_that_failed_says_why_wherever_it_is_asked_for(client: httpx.Client, kb: str) -> None:
    sent = send(client, kb, ("broken.pdf", b"%PDF-1.7\nnothing of what should follow"))
    document = sent.json()["documents"][0]["id"]
    state = wait_until_done(client, kb, document)
    assert (state["status"], state["error"]["code"]) == ("failed", "damaged_file")
    text = client.get(f"/knowledge/kb/{kb}/documents/{document}/text")
    assert (text.status_code, text.json()["code"]) == (409, "conflict")
    assert state["error"]["detail"] in text.json()["detail"]
    failed = client.get(f"/knowledge/kb/{kb}/documents", params={"status": "failed"}).json()["items"]
    assert [each["id"] for each in failed] == [document]
    assert client.get(f"/knowledge/kb/{kb}/documents", params={"status": "ready"}).json()["items"] == []


def test_documents_and_knowledge_bases_come_in_pages(client: httpx.Client, kb: str) -> None:
    others = [client.post("/knowledge/kb", json={"name": f"B{number}"}).json()["id"] for number in range(2)]
    names = [f"{number}.txt" for number in range(5)]
    send(client, kb, *((name, name.encode()) for name in names))
    for path, expected, field in (
        (f"/knowledge/kb/{kb}/documents", names, "filename"),
        ("/knowledge/kb", [kb, *others], "id"),
    ):
        seen: list[str] = []
        cursor = None
        while True:
            page = client.get(path, params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
            assert len(page["items"]) <= 2
            seen += [each[field] for each in page["items"]]
            cursor = page["nextCursor"]
            if cursor is None:
                break
        assert seen == expected


def test_title_and_importance_take_effect_at_once(client: httpx.Client, kb: str) -> None:
    first = add(client, kb, "a.txt", "The harbour of Havneby opens at six.", importance="0")
    second = add(client, kb, "b.txt", "The harbour of Havneby opens at six.", importance="1")
    assert [hit["documentId"] for hit in search(client, kb, "harbour of Havneby")] == [second, first]
    client.patch(f"/knowledge/kb/{kb}/documents/{first}", json={"importance": 1.0, "title": "Opening hours"})
    client.patch(f"/knowledge/kb/{kb}/documents/{second}", json={"importance": 0.0})
    hits = search(client, kb, "harbour of Havneby")
    assert [hit["documentId"] for hit in hits] == [first, second]
    assert hits[0]["importance"] == 1.0
    assert hits[0]["metadata"]["title"] == "Opening hours"
    shown = client.get(f"/knowledge/kb/{kb}/map").json()["documents"]
    assert [(each["id"], each["title"]) for each in shown] == [(first, "Opening hours"), (second, "b")]


def test_after_a_delete_no_route_finds_anything_while_old_messages_keep_their_sources(
    client: httpx.Client, kb: str
) -> None:
    document = add(client, kb, "ferry.md", FERRY)
    picture = add(client, kb, "sea.png", png())
    bot = client.post("/api/bots", json={"name": "b", "knowledgeBaseIds": [kb]}).json()["id"]
    asked = {"message": "When does the ferry to Sylt leave Havneby?"}
    answer = client.post(f"/api/bots/{bot}/chat", json=asked).json()
    assert document in {source["documentId"] for source in answer["sources"]}
    chunk = search(client, kb, "ferry")[0]["chunkId"]
    for each in (document, picture):
        assert client.delete(f"/knowledge/kb/{kb}/documents/{each}").status_code == 204
    base = f"/knowledge/kb/{kb}"
    assert search(client, kb, "When does the ferry to Sylt leave Havneby?") == []
    image = {"imageBase64": base64.b64encode(png()).decode(), "mimeType": "image/png"}
    assert client.post(f"{base}/search/image", json=image).json()["results"] == []
    found = client.post(f"{base}/graph/search", json={"query": "Captain Jensen of the Nordic Line"}).json()
    assert (found["entities"], found["relations"], found["results"]) == ([], [], [])
    assert client.get(f"{base}/graph").json()["nodes"] == []
    assert client.get(f"{base}/map").json()["documents"] == []
    for path in ("", "/text", f"/chunks/{chunk}", "/pages/1.png", "/events"):
        assert client.get(f"{base}/documents/{document}{path}").status_code == 404
    history = client.get(f"/api/conversations/{answer['conversationId']}/messages").json()["items"]
    assert history[-1]["sources"] == answer["sources"]


def test_progress_can_be_followed_again_from_anywhere(client: httpx.Client, kb: str) -> None:
    document = add(client, kb, "ferry.md", FERRY)
    path = f"/knowledge/kb/{kb}/documents/{document}/events"
    for header in ({}, {"Last-Event-ID": "7"}, {"Last-Event-ID": "nonsense; drop"}):
        followed = client.get(path, headers=header)
        assert followed.headers["content-type"].startswith("text/event-stream")
        events = [line.removeprefix("event: ") for line in followed.text.splitlines() if line.startswith("event:")]
        assert events == ["progress"], "the state at that moment, and the end"


def test_an_organisation_over_its_quota_keeps_what_it_has(client: httpx.Client, kb: str, shared: Shared) -> None:
    document = add(client, kb, "a.txt", "Twenty bytes of text")
    organisation = "org of test_an_organisation_over_its_quota_keeps_what_it_has"
    limited = shared.launcher.command("orgs", "set", organisation, "--quota-bytes", "40")
    assert limited.returncode == 0, limited.stderr
    sent = send(client, kb, ("b.txt", b"x" * 10), ("c.txt", b"x" * 11))
    kept, refused = sent.json()["documents"]
    assert kept["status"] == "queued"
    assert refused["error"]["code"] == "quota_exceeded"
    alone = send(client, kb, ("c.txt", b"x" * 11))
    assert (alone.status_code, alone.json()["code"]) == (429, "quota_exceeded")
    path = f"/knowledge/kb/{kb}/documents/{document}"
    replaced = client.put(path, files={"files": ("new.txt", b"x" * 31, "")})
    assert (replaced.status_code, replaced.json()["code"]) == (429, "quota_exceeded")
    assert json.dumps(client.get(path).json()["status"]) == '"ready"'
    assert len(client.get(f"/knowledge/kb/{kb}/documents").json()["items"]) == 2
