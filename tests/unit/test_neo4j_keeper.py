"""The keeper of the Neo4j for tests leaves nothing behind, however its starter ends."""

import subprocess
import sys
from pathlib import Path

import psutil


def test_a_server_ends_and_its_folder_goes_when_its_starter_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    server = "import os, pathlib, time; pathlib.Path('pid').write_text(str(os.getpid())); time.sleep(600)"
    keeper = subprocess.Popen(
        [sys.executable, "-m", "tests.support.neo4j_keeper", str(folder), sys.executable, "-c", server],
        stdin=subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=tmp_path,
    )
    assert keeper.stdin is not None
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert keeper.poll() is None
    pid = int((tmp_path / "pid").read_text())
    # What the system does with the pipe of a process that is killed.
    keeper.stdin.close()
    assert keeper.wait(timeout=60) == 0
    assert not psutil.pid_exists(pid)
    assert not folder.exists()
