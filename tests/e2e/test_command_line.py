"""The command line on the embedded default, as a newcomer meets it."""

import json
import re
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support.launching import Launcher
from tests.support.pages import pdf_of


@pytest.fixture(scope="module")
def newcomer() -> Iterator[Launcher]:
    """A data folder with nothing in it. Not below pytest's own, which the embedded server's user may not enter."""
    with tempfile.TemporaryDirectory(prefix="tributary-newcomer-") as folder:
        launcher = Launcher(Path(folder), "")
        yield launcher
        launcher.close()


def test_the_newcomer_s_tour(newcomer: Launcher, tmp_path: Path) -> None:
    running = newcomer.start(demo=True)
    shown = "\n".join(running.lines)
    assert running.lines[-1] == f"Tributary ready at {running.url}"

    # The printed request works as pasted.
    command = re.search(r"curl -s .*?\n\n", shown + "\n\n", re.DOTALL)
    assert command is not None
    pasted = subprocess.run(["bash", "-c", command[0]], capture_output=True, text=True, check=True)
    answer = json.loads(pasted.stdout)
    assert answer["sources"]
    assert any(source["cited"] for source in answer["sources"])

    # A second command joins the running database.
    document = tmp_path / "ferry.pdf"
    document.write_bytes(
        pdf_of(["Timetable. The ferry to Norderney leaves at 9:40 from pier three.", "Prices. A ticket is 24 euros."])
    )
    ingested = newcomer.command("ingest", str(document), "--kb", "Ferries")
    assert ingested.returncode == 0, ingested.stderr
    assert "1 of 1 documents are searchable in Ferries" in ingested.stderr

    key = newcomer.command("keys", "create", "--org", "demo")
    assert re.fullmatch(r"\S+\n", key.stdout)
    with running.client(key.stdout.strip()) as client:
        [kb] = [kb for kb in client.get("/knowledge/kb").json()["items"] if kb["name"] == "Ferries"]
        client.post("/api/bots", json={"name": "Harbour", "knowledgeBaseIds": [kb["id"]]})

    asked = newcomer.command("ask", "When does the ferry to Norderney leave?", "--bot", "Harbour")
    assert asked.returncode == 0, asked.stderr
    assert "9:40" in asked.stdout
    assert re.search(r"\[1\] Ferries \(ferry\.pdf\), page 1", asked.stdout)

    note = tmp_path / "note.txt"
    note.write_text("The key to the boathouse hangs behind the door.")
    with_file = newcomer.command(
        "ask", "Where does the key to the boathouse hang?", "--bot", "Harbour", "--file", str(note)
    )
    assert "behind the door" in with_file.stdout

    # The next start finds everything, and shows no key again.
    assert running.stop() == 0
    again = newcomer.start(demo=True)
    assert again.lines[-1] == f"Tributary ready at {again.url}"
    with again.client(key.stdout.strip()) as client:
        assert {kb["name"] for kb in client.get("/knowledge/kb").json()["items"]} == {"Tributary guide", "Ferries"}
    assert again.stop() == 0


def test_what_is_wrong_is_one_line_and_an_exit_code(newcomer: Launcher, tmp_path: Path) -> None:
    unknown = newcomer.command("ask", "hi", "--bot", "nobody")
    assert unknown.returncode == 1
    assert "nobody does not exist" in unknown.stderr
    assert "Traceback" not in unknown.stderr
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 and nothing more")
    refused = newcomer.command("ingest", str(broken), "--kb", "Ferries")
    assert refused.returncode == 1
    assert "broken.pdf" in refused.stderr


def test_every_setting_is_listed(newcomer: Launcher) -> None:
    listed = newcomer.command("settings").stdout
    for name in ("TRIBUTARY_DATA", "DATABASE_URL", "S3_BUCKET", "OPENROUTER_API_KEY", "TRIBUTARY_EMBEDDING"):
        assert name in listed


def test_a_taken_port_is_told(newcomer: Launcher) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused = newcomer.command("serve", "--port", str(taken.getsockname()[1]), "--no-demo")
    assert refused.returncode == 1
    assert "can't be listened on" in refused.stderr


def test_after_a_kill_the_next_clean_stop_takes_postgresql_along(newcomer: Launcher) -> None:
    newcomer.start().kill()
    assert databases(newcomer.data)
    assert newcomer.start().stop() == 0
    assert databases(newcomer.data) == []


def databases(folder: Path) -> list[psutil.Process]:
    """The PostgreSQL servers that run on this data folder."""
    return [
        process
        for process in psutil.process_iter(["name", "cmdline"])
        if process.info["name"] == "postgres" and str(folder / "postgres") in (process.info["cmdline"] or [])
    ]


def test_names_that_read_like_markup_are_text(newcomer: Launcher) -> None:
    refused = newcomer.command("ask", "hi", "--bot", "[/x]")
    assert refused.returncode == 1
    assert "[/x] does not exist" in refused.stderr


def test_a_first_start_that_was_cut_off_is_made_up_for() -> None:
    with tempfile.TemporaryDirectory(prefix="tributary-cut-off-") as folder:
        launcher = Launcher(Path(folder), "")
        try:
            # The organisation is there before the demo, as when a first start was stopped in the middle.
            assert launcher.command("orgs", "set", "demo", "--files-per-day", "100").returncode == 0
            running = launcher.start(demo=True)
            assert any("API key of the organisation demo" in line for line in running.lines)
            assert running.stop() == 0
        finally:
            launcher.close()
