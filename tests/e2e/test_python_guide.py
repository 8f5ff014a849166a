"""The script of `docs/python.md`, run as it is written."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.launching import Launcher

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_script_of_the_guide_runs_as_written(dsn: str, tmp_path: Path) -> None:
    [script] = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (tmp_path / "script.py").write_text(script)
    ran = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", "script.py"],
        cwd=tmp_path,
        env=Launcher(tmp_path / "data", dsn).environment,
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    told = ran.stdout
    assert "painted green. [1]" in told
    assert "[1] yard.md" in told
    assert "     merge_and_rerank" in told
    assert "('invoke_model',)" in told
    assert "Meyer" in told
    assert "merge_and_rerank" in (tmp_path / "turn.mmd").read_text()
    assert "Meyer" in (tmp_path / "yard.html").read_text()
