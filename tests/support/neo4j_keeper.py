"""Keeps one server process for whoever started it: stops it and removes its folder when the other end of stdin is gone,
however that came about.

    python -m tests.support.neo4j_keeper FOLDER COMMAND...
"""

import shutil
import signal
import subprocess
import sys
from pathlib import Path


def keep(folder: Path, command: list[str]) -> None:
    # Ctrl-C in a terminal reaches all of its processes; this one goes when its starter does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (folder / "console.log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        sys.stdin.buffer.read()
    finally:
        # What it keeps is thrown away, so it need not be told to tidy up.
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    keep(Path(sys.argv[1]), sys.argv[2:])
