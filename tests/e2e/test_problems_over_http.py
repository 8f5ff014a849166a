"""Bad input gets a clear error with a stable code, never a 500."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.launching import Shared

CASES: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("POST", "/api/bots", {"json": {}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"json": {"name": "  "}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"json": {"name": "x", "nmae": "typo"}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"json": {"name": "nul\x00"}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"content": b'{"name": "\\ud800"}'}, 422, "invalid_request"),
    ("POST", "/api/bots", {"json": {"name": "x", "model": "nobody/nothing"}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"json": {"name": "x", "weights": {"vector": 2}}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"content": b"{not json"}, 422, "invalid_request"),
    ("POST", "/api/bots", {"content": b"\xff\xfe"}, 422, "invalid_request"),
    ("POST", "/knowledge/kb", {"json": {"name": "x", "embedding": "nobody/nothing"}}, 422, "invalid_request"),
    ("POST", "/api/bots", {"content": b"[" * 100_000}, 422, "invalid_request"),
    (
        "POST",
        "/api/bot/attachments/upload",
        {"content": b"x", "headers": {"Content-Type": "multipart/form-data; boundary=" + "b" * 3000}},
        422,
        "invalid_request",
    ),
    ("GET", "/api/bots?limit=0", {}, 422, "invalid_request"),
    ("GET", "/api/bots?cursor=nonsense", {}, 422, "invalid_request"),
    ("GET", "/nowhere", {}, 404, "not_found"),
    ("DELETE", "/healthz", {}, 405, "method_not_allowed"),
    ("POST", "/api/bot/attachments/upload", {"json": {}}, 422, "invalid_request"),
]


@pytest.mark.parametrize(("verb", "path", "request_", "status", "code"), CASES)
def test_bad_input_is_a_problem_with_a_stable_code(
    client: httpx.Client, verb: str, path: str, request_: dict[str, Any], status: int, code: str
) -> None:
    headers = {"Content-Type": "application/json"} if "content" in request_ else {}
    response = client.request(verb, path, **{"headers": headers, **request_})
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "code", "detail"} <= response.json().keys()


def test_bad_messages_are_refused_before_anything_is_stored(client: httpx.Client) -> None:
    bot = client.post("/api/bots", json={"name": "b"}).json()["id"]
    six = [{"id": f"00000000-0000-7000-8000-00000000000{n}", "accessToken": "x"} for n in range(6)]
    for body, code in (
        ({}, "invalid_request"),
        ({"message": ""}, "invalid_request"),
        ({"message": "nul\x00"}, "invalid_request"),
        ({"message": "x", "attachments": six}, "too_many_files"),
        ({"message": "x", "replaceMessageId": six[0]["id"]}, "invalid_request"),
    ):
        response = client.post(f"/api/bots/{bot}/chat", json=body)
        assert (response.status_code, response.json()["code"]) == (422, code)
    long = client.post(f"/api/bots/{bot}/chat", json={"message": "x" * 200_001})
    assert (long.status_code, long.json()["code"]) == (413, "message_too_large")
    assert client.get("/api/conversations").json()["items"] == []


def test_a_picture_that_is_no_base64_is_refused(client: httpx.Client) -> None:
    kb = client.post("/knowledge/kb", json={"name": "K"}).json()["id"]
    for picture in ("é", "a", "%%%%"):
        body = {"imageBase64": picture, "mimeType": "image/png"}
        response = client.post(f"/knowledge/kb/{kb}/search/image", json=body)
        assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_document_s_title_has_a_limit(client: httpx.Client) -> None:
    kb = client.post("/knowledge/kb", json={"name": "K"}).json()["id"]
    form = {"files": ("a.md", b"# A", "")}
    response = client.post(f"/knowledge/kb/{kb}/documents", files=form, data={"title": "x" * 501})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_a_body_that_is_too_large_is_refused_declared_or_not(client: httpx.Client) -> None:
    bot = client.post("/api/bots", json={"name": "b"}).json()["id"]
    path, headers = f"/api/bots/{bot}/chat", {"Content-Type": "application/json"}
    declared = client.post(path, content=b" " * (33 * 2**20), headers=headers)
    assert (declared.status_code, declared.json()["code"]) == (413, "message_too_large")

    def pieces() -> Iterator[bytes]:
        for _ in range(33):
            yield b" " * 2**20

    undeclared = client.post(path, content=pieces(), headers=headers)
    assert undeclared.status_code in (413, 422)


def test_health_needs_no_key(shared: Shared) -> None:
    assert httpx.get(f"{shared.running.url}/healthz").json() == {"status": "ok"}
    ready = httpx.get(f"{shared.running.url}/readyz")
    assert (ready.status_code, ready.json()["dependencies"]["postgresql"]) == (200, "ok")
    assert httpx.get(f"{shared.running.url}/openapi.json").status_code == 200


def test_lists_come_in_pages(client: httpx.Client) -> None:
    made = [client.post("/api/bots", json={"name": f"bot {n}"}).json()["id"] for n in range(5)]
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = client.get("/api/bots", params={"limit": 2} | ({"cursor": cursor} if cursor else {})).json()
        found += [bot["id"] for bot in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert found == made
