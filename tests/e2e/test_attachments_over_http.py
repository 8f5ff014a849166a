"""Uploading and downloading attachments, as clients see it (SPEC §1)."""

import hashlib
from pathlib import Path
from uuid import uuid4

import httpx
import psutil
import psycopg
import pytest

from tests.support import files
from tests.support.launching import Shared

UPLOAD = "/api/bot/attachments/upload"
MEGABYTE = 2**20


def send(client: httpx.Client, *named: tuple[str, bytes, str]) -> httpx.Response:
    return client.post(UPLOAD, files=[("files", each) for each in named])


def test_a_single_file_stands_at_the_top_level_too(client: httpx.Client) -> None:
    response = send(client, ("note.md", b"# Title\n\nText", "application/octet-stream"))
    body = response.json()
    assert response.status_code == 201
    assert body["files"] == [{key: body[key] for key in ("id", "accessToken", "filename", "contentType", "size")}]
    assert (body["filename"], body["contentType"], body["size"]) == ("note.md", "text/markdown", 13)
    assert len(body["accessToken"]) == 64


def test_the_type_is_decided_from_the_bytes(client: httpx.Client) -> None:
    response = send(client, ("really.jpg", files.png(), "image/jpeg"))
    assert response.json()["contentType"] == "image/png"


def test_one_file_that_fails_does_not_lose_the_others(client: httpx.Client) -> None:
    response = send(
        client, ("a.txt", b"a", "text/plain"), ("b.zip", b"PK\x03\x04rest", "text/plain"), ("c.txt", b"c", "")
    )
    assert response.status_code == 201
    first, second, third = response.json()["files"]
    assert first["size"] == third["size"] == 1
    assert second["filename"] == "b.zip"
    assert second["error"]["code"] == "unsupported_type"


@pytest.mark.parametrize(
    ("name", "content", "status", "code"),
    [
        ("empty.txt", b"", 422, "empty_file"),
        ("page.gif", b"GIF89a" + bytes(40), 415, "unsupported_type"),
        ("cut.png", files.png()[:60], 422, "damaged_file"),
        ("half.pdf", files.pdf(2)[:100], 422, "damaged_file"),
    ],
)
def test_the_only_file_s_refusal_is_the_response(
    client: httpx.Client, name: str, content: bytes, status: int, code: str
) -> None:
    response = send(client, (name, content, "application/octet-stream"))
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["code"] == code
    assert response.json()["files"][0]["error"]["code"] == code


def test_six_files_are_too_many_and_none_is_kept(
    client: httpx.Client, shared: Shared, rows: psycopg.Connection[tuple[object, ...]]
) -> None:
    before = rows.execute("SELECT count(*) FROM message_attachments").fetchone()
    response = send(client, *((f"{n}.txt", b"x", "text/plain") for n in range(6)))
    assert (response.status_code, response.json()["code"]) == (422, "too_many_files")
    assert rows.execute("SELECT count(*) FROM message_attachments").fetchone() == before
    assert list((shared.launcher.data / "files" / "incoming").iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [b"no form at all", b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\ncut off'],
)
def test_a_body_that_is_no_whole_form_is_refused(client: httpx.Client, content: bytes) -> None:
    response = client.post(UPLOAD, content=content, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


def test_fifty_megabytes_are_taken_in_constant_memory_and_one_byte_more_is_refused(
    client: httpx.Client, shared: Shared, tmp_path: Path
) -> None:
    """What a hundred small uploads have warmed up does not count; what 50 MB add to it does."""
    line = b"0123456789abcdef" * 63 + b"0123456789abcde\n"
    path = tmp_path / "big.txt"
    path.write_bytes(line * (50 * MEGABYTE // len(line)))
    assert path.stat().st_size == 50 * MEGABYTE
    process = psutil.Process(shared.running.process.pid)
    send(client, ("warm.txt", line * 2048, "text/plain"))
    resting = process.memory_info().rss
    with path.open("rb") as file:
        response = client.post(UPLOAD, files={"files": ("big.txt", file, "text/plain")})
    assert (response.status_code, response.json()["size"]) == (201, 50 * MEGABYTE)
    assert process.memory_info().rss - resting < 8 * MEGABYTE
    with path.open("ab") as file:
        file.write(b"x")
    with path.open("rb") as file:
        response = client.post(UPLOAD, files={"files": ("big.txt", file, "text/plain")})
    assert (response.status_code, response.json()["code"]) == (413, "file_too_large")
    assert list((shared.launcher.data / "files" / "incoming").iterdir()) == []


def test_a_file_comes_back_as_it_went_in_with_safe_headers(client: httpx.Client) -> None:
    content = "Grüße\n".encode() * 1000
    sent = send(client, ('Bericht "neu" ☃.txt', content, "text/html")).json()
    response = client.get(f"/api/bot/attachments/{sent['id']}", params={"token": sent["accessToken"]})
    assert response.status_code == 200
    assert hashlib.sha256(response.content).digest() == hashlib.sha256(content).digest()
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-type"].startswith("text/plain")
    disposition = response.headers["content-disposition"]
    assert disposition.startswith("attachment;")
    assert "filename*=UTF-8''Bericht%20%22neu%22%20%E2%98%83.txt" in disposition


def test_a_wrong_or_missing_token_opens_nothing(client: httpx.Client) -> None:
    sent = send(client, ("a.txt", b"secret", "text/plain")).json()
    path = f"/api/bot/attachments/{sent['id']}"
    for token in ({}, {"token": "x" * 64}, {"token": sent["accessToken"][:-1]}):
        response = client.get(path, params=token)
        assert (response.status_code, response.json()["code"]) == (403, "wrong_token")
        assert client.delete(path, params=token).status_code == 403
    assert client.get(path, params={"token": sent["accessToken"]}).content == b"secret"


def test_an_unused_file_can_be_deleted(client: httpx.Client) -> None:
    sent = send(client, ("a.txt", b"x", "text/plain")).json()
    path, token = f"/api/bot/attachments/{sent['id']}", {"token": sent["accessToken"]}
    assert client.delete(path, params=token).status_code == 204
    assert client.get(path, params=token).status_code == 404


def test_hostile_names_are_only_shown(client: httpx.Client) -> None:
    names = ["../../etc/passwd", "..", "a\r\nSet-Cookie: x.txt", "\u202egnp.txt", "C:\\temp\\x.txt", "é" * 300 + ".txt"]
    for name in names:
        response = send(client, (name, b"x", "text/plain"))
        assert response.status_code == 201
        shown = response.json()["filename"]
        assert not set("/\\\r\n\u202e") & set(shown)
        assert 0 < len(shown.encode()) <= 255
        assert shown not in ("..", ".")


def test_a_quota_is_kept_and_says_so(client: httpx.Client, shared: Shared, request: pytest.FixtureRequest) -> None:
    name = f"org of {request.node.name}"
    assert shared.launcher.command("orgs", "set", name, "--quota-bytes", "10").returncode == 0
    assert send(client, ("a.txt", b"12345678", "text/plain")).status_code == 201
    response = send(client, ("b.txt", b"12345678", "text/plain"))
    assert (response.status_code, response.json()["code"]) == (429, "quota_exceeded")


def test_the_same_idempotency_key_uploads_once(
    client: httpx.Client, rows: psycopg.Connection[tuple[object, ...]]
) -> None:
    key = {"Idempotency-Key": str(uuid4())}
    body = {"files": ("once.txt", b"once", "text/plain")}
    first, second = (client.post(UPLOAD, files=body, headers=key) for _ in range(2))
    assert first.json() == second.json()
    assert (first.status_code, second.status_code) == (201, 201)
    other = client.post(UPLOAD, files={"files": ("other.txt", b"other", "text/plain")}, headers=key)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    found = rows.execute("SELECT count(*) FROM message_attachments WHERE filename = 'once.txt'").fetchone()
    assert found == (1,)


def test_a_replayed_upload_s_token_is_nowhere_in_the_database(
    client: httpx.Client, rows: psycopg.Connection[tuple[object, ...]]
) -> None:
    headers = {"Idempotency-Key": "replayed-once"}
    sent = client.post(UPLOAD, files={"files": ("a.txt", b"x", "text/plain")}, headers=headers).json()
    kept = rows.execute("SELECT body::text, key FROM idempotent_requests").fetchall()
    assert kept
    assert not [row for row in kept if sent["accessToken"] in str(row) or "replayed-once" in str(row)]
