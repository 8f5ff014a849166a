"""Which schemas this version knows."""

from pathlib import Path

import pytest

from stores.postgres.migrate import head, require_known


def test_the_disk_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readiness asks on the event loop, where LangGraph's server refuses to wait for a disk, and does not start."""
    newest = head()
    monkeypatch.delattr(Path, "glob")
    assert head() == newest
    require_known(newest)
