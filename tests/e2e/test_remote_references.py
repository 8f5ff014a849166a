"""Documents are read, never followed: no reader asks the network for anything, or opens a file that they name."""

from pathlib import Path

import httpx

from tests.support.documents import wait_until_done
from tests.support.listening import run_listener
from tests.support.remote_references import documents

#: The names of those that a knowledge base takes; the others are refused, which reads nothing either.
READ = {"page.html", "notes.md", "table.csv", "letter.docx", "slides.pptx", "sheet.xlsx", "paper.pdf"}


def test_no_document_makes_its_reader_fetch_anything(client: httpx.Client, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden.txt"
    hidden.write_text("the vault opens at dawn")
    base = client.post("/knowledge/kb", json={"name": "far"}).json()["id"]
    path = f"/knowledge/kb/{base}/documents"
    with run_listener() as listener:
        ready = set()
        for name, content in documents(listener.url, hidden.as_uri()).items():
            [sent] = client.post(path, files={"files": (name, content)}).json()["documents"]
            if "id" not in sent or wait_until_done(client, base, sent["id"])["status"] != "ready":
                continue
            ready.add(name)
            assert "tides" in (text := client.get(f"{path}/{sent['id']}/text").json()["text"].lower())
            assert "vault" not in text
        assert ready >= READ
        assert listener.asked == []
        # The listener does hear: the test would notice.
        assert httpx.get(f"{listener.url}/heard").status_code == 200
        assert listener.asked == ["GET /heard"]
