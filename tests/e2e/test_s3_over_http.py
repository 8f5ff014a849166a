"""Attachments with S3 enabled, against a real S3 server over HTTP."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import psycopg
import pytest

from tests.support.launching import Launcher, Running
from tests.support.s3 import ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, S3Server

MEGABYTE = 2**20
UPLOAD = "/api/bot/attachments/upload"


@dataclass(frozen=True)
class World:
    s3: S3Server
    bucket: str
    running: Running
    client: httpx.Client
    files: Path
    dsn: str

    def listing(self) -> str:
        return self.s3.request("GET", self.bucket)


@pytest.fixture
def world(launcher: Launcher, dsn: str) -> Iterator[World]:
    with S3Server() as s3:
        bucket = s3.new_bucket()
        running = launcher.start(
            environment={
                "S3_BUCKET": bucket,
                "S3_ENDPOINT_URL": s3.endpoint,
                "S3_REGION": REGION,
                "S3_ACCESS_KEY_ID": ACCESS_KEY_ID,
                "S3_SECRET_ACCESS_KEY": SECRET_ACCESS_KEY,
            }
        )
        with running.client(launcher.key()) as client:
            yield World(s3, bucket, running, client, launcher.data / "files", dsn)


def test_a_file_is_copied_to_s3_billed_and_read_from_there_when_the_disk_has_lost_it(world: World) -> None:
    sent = world.client.post(UPLOAD, files={"files": ("a.txt", b"kept twice", "text/plain")}).json()
    assert sent["id"] in world.listing()
    with psycopg.connect(world.dsn) as connection:
        events = connection.execute("SELECT kind, bytes FROM billing_events").fetchall()
    assert [size for _, size in events] == [10]
    for path in world.files.rglob(sent["id"]):
        path.unlink()
    token = {"token": sent["accessToken"]}
    assert world.client.get(f"/api/bot/attachments/{sent['id']}", params=token).content == b"kept twice"
    assert world.client.delete(f"/api/bot/attachments/{sent['id']}", params=token).status_code == 204
    assert sent["id"] not in world.listing()


def test_a_refused_file_leaves_nothing_in_the_bucket(world: World) -> None:
    assert world.client.post(UPLOAD, files={"files": ("a.gif", b"GIF89a" + bytes(40), "")}).status_code == 415
    assert "<Contents>" not in world.listing()
    with psycopg.connect(world.dsn) as connection:
        assert connection.execute("SELECT count(*) FROM billing_events").fetchone() == (0,)


def test_fifty_megabytes_to_s3_grow_the_process_by_few(world: World, tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    line = b"0123456789abcde\n" * 64
    path.write_bytes(line * (50 * MEGABYTE // len(line)))
    process = psutil.Process(world.running.process.pid)
    world.client.post(UPLOAD, files={"files": ("warm.txt", line * 4096, "text/plain")})
    resting = process.memory_info().rss
    with path.open("rb") as file:
        response = world.client.post(UPLOAD, files={"files": ("big.txt", file, "text/plain")})
    assert response.status_code == 201, response.text
    assert process.memory_info().rss - resting < 24 * MEGABYTE


def test_a_bucket_that_is_gone_is_a_dependency_and_nothing_is_left(world: World) -> None:
    world.s3.request("DELETE", world.bucket)
    response = world.client.post(UPLOAD, files={"files": ("a.txt", b"x", "text/plain")})
    assert (response.status_code, response.json()["code"]) == (503, "dependency_unavailable")
    assert world.client.get("/readyz").status_code == 503
    with psycopg.connect(world.dsn) as connection:
        assert connection.execute("SELECT count(*) FROM message_attachments").fetchone() == (0,)


def test_deleting_a_conversation_erases_its_checkpoints_its_files_and_their_objects(world: World) -> None:
    client = world.client
    files = [("gone.txt", b"The zebrafinch vault opens at dawn."), ("kept.txt", b"Nobody asked about this.")]
    gone, kept = (client.post(UPLOAD, files={"files": file}).json() for file in files)
    bot = client.post("/api/bots", json={"name": "b"}).json()["id"]
    claim = {"id": gone["id"], "accessToken": gone["accessToken"]}
    body = {"message": "When does the zebrafinch vault open?", "attachments": [claim]}
    once = {"Idempotency-Key": "once"}
    asked = client.post(f"/api/bots/{bot}/chat", json=body, headers=once).json()["conversationId"]
    other = client.post(f"/api/bots/{bot}/chat", json={"message": "What else?"}).json()["conversationId"]
    assert {"checkpoints", "messages", "attachment_uses"} <= _tables_with(world, asked)
    assert "messages" in _tables_with(world, "zebrafinch")
    left = _tables_with(world, other)
    assert gone["id"] in world.listing()
    assert list(world.files.rglob(gone["id"]))

    assert client.delete(f"/api/conversations/{asked}").status_code == 204

    # What it cost stays, under its id; of what was said and sent nothing does.
    assert _tables_with(world, asked) == {"usage_entries"}
    assert _tables_with(world, gone["id"]) == set()
    assert _tables_with(world, "zebrafinch") == set()
    on_disk = [path for path in world.files.rglob("*") if path.is_file()]
    assert [path.name for path in on_disk] == [kept["id"]]
    assert gone["id"] not in world.listing()
    assert kept["id"] in world.listing()
    assert _tables_with(world, other) == left


def _tables_with(world: World, text: str) -> set[str]:
    """All tables in which a row holds the text somewhere, in bytes too."""
    with psycopg.connect(world.dsn) as connection:
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        found = set()
        for (name,) in names:
            rows = f"SELECT FROM {name} AS each WHERE strpos(each::text, %s) > 0 OR strpos(each::text, %s) > 0 LIMIT 1"
            if connection.execute(rows, (text, text.encode().hex())).fetchone() is not None:
                found.add(name)
    return found
