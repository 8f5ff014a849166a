"""The notebook from its first cell to its last, in a kernel of its own, on the embedded default."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

from tests.support.launching import OURS

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "quickstart.ipynb"


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Where the embedded PostgreSQL may run as another user, too."""
    with tempfile.TemporaryDirectory(prefix="tributary-notebook-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def ran(place: Path) -> Any:
    """The notebook with its outputs, run elsewhere than in the checkout."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call] # of nbformat
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    if cache := os.environ.get("TRIBUTARY_MODEL_CACHE"):
        environment["TRIBUTARY_MODEL_CACHE"] = cache
    environment |= {"TMPDIR": str(place), "IPYTHONDIR": str(place / "ipython")}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(place)}})
    client.execute(env=environment)
    return notebook


def outputs(notebook: Any, containing: str) -> str:
    """All that a cell has shown, as text; the cell is the one that holds these words."""
    [cell] = [each for each in notebook.cells if each.cell_type == "code" and containing in each.source]
    shown = [each.get("text") or "\n".join(each.get("data", {}).values()) for each in cell.outputs]
    return "\n".join(str(each) for each in shown)


def test_every_cell_runs_without_a_warning(ran: Any) -> None:
    for cell in ran.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text


def test_documents_are_found_and_cited(ran: Any) -> None:
    assert outputs(ran, "await workspace.ingest").count("'ready'") == 3
    answer = outputs(ran, "answered = await")
    assert "green" in answer
    assert "[1]" in answer


def test_steps_and_scores_are_shown(ran: Any) -> None:
    steps = outputs(ran, 'stream_mode="updates"')
    for node in ("validate_attachments", "    search_graph", "    merge_and_rerank", "record_answer"):
        assert f"{node}: " in steps
    assert "cranes.md" in outputs(ran, "def score_table")
    assert "evidence" in outputs(ran, "found = await")


def test_both_graphs_are_drawn_without_a_network(ran: Any) -> None:
    drawn = "\n".join(str(each["data"]) for cell in ran.cells if cell.source == "chat" for each in cell.outputs)
    assert "```mermaid" in drawn
    assert "merge_and_rerank" in drawn
    page = outputs(ran, "workspace.drawing")
    assert "Meyer" in page
    assert "iframe" in page


def test_swapped_nodes_make_a_difference(ran: Any) -> None:
    assert "by evidence alone" in outputs(ran, "async def merge_and_rerank")
    assert "Read " in outputs(ran, "async def invoke_model")
    edited = outputs(ran, 'interrupt_before=["compose_context"]')
    assert "cranes.md" not in edited
    assert "rules.md" in edited


def test_nothing_is_left_running(ran: Any, place: Path) -> None:
    running = [each.info["cmdline"] or [] for each in psutil.process_iter(["cmdline"])]
    assert not [words for words in running if any(str(place) in word for word in words)]


def test_what_is_committed_has_no_outputs() -> None:
    committed = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call] # of nbformat
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in committed.cells)
