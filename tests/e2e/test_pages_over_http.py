"""Pages of documents as pictures over HTTP."""

import io

import httpx
from PIL import Image

from tests.support import office
from tests.support.documents import wait_until_done, wait_until_ready
from tests.support.pages import pdf_of

PAGES = ["The pump runs at noon.", "The valve is closed at night."]


def added(client: httpx.Client, base: str, name: str, content: bytes) -> str:
    response = client.post(f"/knowledge/kb/{base}/documents", files={"files": (name, content)})
    assert response.status_code == 202, response.text
    return str(response.json()["documents"][0]["id"])


def test_pages_of_a_document_are_drawn_with_the_passage_of_a_source(client: httpx.Client) -> None:
    base = client.post("/knowledge/kb", json={"name": "Pumps"}).json()["id"]
    document = added(client, base, "pumps.pdf", pdf_of(PAGES))
    wait_until_ready(client, base, document)
    path = f"/knowledge/kb/{base}/documents/{document}/pages"
    [hit, *_] = client.post(f"/knowledge/kb/{base}/search", json={"query": "valve at night"}).json()["results"]
    text = client.get(f"/knowledge/kb/{base}/documents/{document}/text").json()
    page = text["pages"][hit["page"] - 1]

    plain = client.get(f"{path}/2.png", params={"width": 400})
    assert (plain.status_code, plain.headers["content-type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(plain.content)).width == 400
    marked = client.get(f"{path}/2.png", params={"width": 400, "start": page["start"], "end": page["end"]})
    assert marked.status_code == 200
    assert marked.content != plain.content
    assert plain.headers["cache-control"].startswith("private")
    again = client.get(f"{path}/2.png", params={"width": 400}, headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")

    client.post(f"/knowledge/kb/{base}/documents/{document}/reingest")
    wait_until_ready(client, base, document)
    fresh = client.get(f"{path}/2.png", params={"width": 400}, headers={"If-None-Match": plain.headers["etag"]})
    assert fresh.status_code == 200

    for asked, status, code in (
        ("3.png", 404, "not_found"),
        ("0.png", 422, "invalid_request"),
        ("2.png?width=9000", 422, "invalid_request"),
        ("2.png?start=3", 422, "invalid_request"),
        ("2.png?start=9&end=3", 422, "invalid_request"),
        (f"2.png?start=0&end={page['start'] - 2}", 422, "invalid_request"),
    ):
        refused = client.get(f"{path}/{asked}")
        assert (refused.status_code, refused.json()["code"]) == (status, code), asked


def test_a_picture_has_one_page_and_a_text_none(client: httpx.Client) -> None:
    base = client.post("/knowledge/kb", json={"name": "Pictures"}).json()["id"]
    picture = added(client, base, "a.png", office.picture("green"))
    notes = added(client, base, "notes.txt", b"Some notes about pumps.")
    broken = added(client, base, "broken.pdf", b"%PDF-1.7\nand nothing more")
    wait_until_done(client, base, broken)
    path = f"/knowledge/kb/{base}/documents"
    assert client.get(f"{path}/{picture}/pages/1.png").status_code == 200
    answers = [
        client.get(f"{path}/{document}/pages/{page}")
        for document, page in (
            (picture, "2.png"),
            (notes, "1.png"),
            (broken, "1.png"),
            (broken, "1.png?start=0&end=5"),
        )
    ]
    assert [(each.status_code, each.json()["code"]) for each in answers] == [
        (404, "not_found"),
        (404, "not_found"),
        (422, "damaged_file"),
        (409, "conflict"),
    ]


def test_pages_belong_to_their_organisation(client: httpx.Client) -> None:
    unknown = "00000000-0000-7000-8000-000000000001"
    response = client.get(f"/knowledge/kb/{unknown}/documents/{unknown}/pages/1.png")
    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    shown = client.get("/openapi.json").json()["paths"][
        "/knowledge/kb/{kb_id}/documents/{document_id}/pages/{number}.png"
    ]
    assert "image/png" in shown["get"]["responses"]["200"]["content"]
