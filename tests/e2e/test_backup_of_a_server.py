"""A backup that is taken while the server answers, ingests and deletes, restored elsewhere with everything in it."""

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.documents import wait_until_ready
from tests.support.launching import Launcher
from tributary.cli.administration import create_key
from tributary.settings import Settings

FERRY = b"# Ferries\n\nThe ferry to Norderney leaves at 9:40 from pier three. A ticket is 24 euros.\n"
NOTE = b"The key to the boathouse hangs behind the door."


@pytest.fixture
def places() -> Iterator[tuple[Launcher, Launcher, Path]]:
    """A data folder, another, and where a backup goes. Not below pytest's own folder, which the embedded server's user
    may not enter."""
    with tempfile.TemporaryDirectory(prefix="tributary-backed-up-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        launchers = Launcher(home, ""), Launcher(Path(folder) / "restored", "")
        yield (*launchers, Path(folder) / "backup.tar")
        for launcher in launchers:
            launcher.close()


def upload(client: httpx.Client, kb: str, name: str, data: bytes) -> str:
    response = client.post(f"/knowledge/kb/{kb}/documents", files={"files": (name, data)})
    assert response.status_code == 202, response.text
    return str(response.json()["documents"][0]["id"])


def fill(client: httpx.Client) -> dict[str, str]:
    """A knowledge base, another one, a bot, and a conversation about a document and a file; their ids."""
    kb = client.post("/knowledge/kb", json={"name": "Harbour"}).json()["id"]
    busy = client.post("/knowledge/kb", json={"name": "Busy"}).json()["id"]
    document = upload(client, kb, "ferry.md", FERRY)
    wait_until_ready(client, kb, document)
    bot = client.post("/api/bots", json={"name": "Harbour", "knowledgeBaseIds": [kb]}).json()["id"]
    file = client.post("/api/bot/attachments/upload", files={"files": ("note.txt", NOTE)}).json()
    attachments = [{"id": file["id"], "accessToken": file["accessToken"]}]
    body = {"message": "When does the ferry to Norderney leave?", "attachments": attachments}
    answer = client.post(f"/api/bots/{bot}/chat", json=body).json()
    ids = {"kb": kb, "busy": busy, "document": document, "bot": bot, "file": file["id"]}
    return ids | {"conversation": answer["conversationId"]}


def seen(client: httpx.Client, ids: dict[str, str]) -> dict[str, Any]:
    """What its owner sees of all that."""
    kb = f"/knowledge/kb/{ids['kb']}"
    question = {"query": "ferry to Norderney", "topK": 1}
    found = {
        "history": client.get(f"/api/conversations/{ids['conversation']}/messages"),
        "bot": client.get(f"/api/bots/{ids['bot']}"),
        "document": client.get(f"{kb}/documents/{ids['document']}"),
        "text": client.get(f"{kb}/documents/{ids['document']}/text"),
        "search": client.post(f"{kb}/search", json=question),
        "graph": client.get(f"{kb}/graph"),
    }
    assert {response.status_code for response in found.values()} == {200}
    attached = client.get(f"/api/bot/attachments/{ids['file']}")
    return {name: response.json() for name, response in found.items()} | {"file": attached.content}


def bustle(client: httpx.Client, ids: dict[str, str], enough: threading.Event) -> int:
    """Asks, stores and deletes until it is told to stop; how often."""
    rounds = 0
    while not enough.is_set():
        document = upload(client, ids["busy"], "fleeting.md", b"Nobody reads this.")
        body = {"message": "And back?", "conversationId": ids["conversation"]}
        assert client.post(f"/api/bots/{ids['bot']}/chat", json=body).status_code == 200
        assert client.delete(f"/knowledge/kb/{ids['busy']}/documents/{document}").status_code == 204
        rounds += 1
    return rounds


def test_a_backup_of_a_server_at_work_is_restored_with_everything(places: tuple[Launcher, Launcher, Path]) -> None:
    home, elsewhere, backup = places
    running = home.start()
    key = asyncio.run(create_key(Settings(data=home.data, database_url=None), organisation="acme", scope="full"))
    with running.client(key) as client, ThreadPoolExecutor(1) as pool:
        ids = fill(client)
        before, enough = seen(client, ids), threading.Event()
        at_work = upload(client, ids["busy"], "late.md", b"# Late\n\nThe last tram leaves at midnight.\n")
        bustling = pool.submit(bustle, client, ids, enough)
        try:
            made = home.command("backup", str(backup))
        finally:
            enough.set()
        assert made.returncode == 0, made.stderr
        assert "not in the backup" not in made.stderr
        assert bustling.result() > 0
    assert running.stop() == 0

    restored = elsewhere.command("restore", str(backup))
    assert restored.returncode == 0, restored.stderr
    again = elsewhere.start()
    with again.client(key) as client:
        after = seen(client, ids)
        told = before["history"]["items"]
        assert after["history"]["items"][: len(told)] == told
        assert {name: after[name] for name in after if name != "history"} == {
            name: before[name] for name in before if name != "history"
        }
        # What was being ingested is ingested now.
        assert wait_until_ready(client, ids["busy"], at_work)["filename"] == "late.md"
        answer = client.post(f"/api/bots/{ids['bot']}/chat", json={"message": "When does the ferry leave?"})
        assert "9:40" in answer.json()["message"]
    assert again.stop() == 0
