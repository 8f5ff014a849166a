"""Reading judged sets as they are: rows of `corpus*.jsonl` and `queries.jsonl`, and `qrels.tsv`.

Unlike `bench.datasets` nothing is joined into documents: pages are ranked as pages.
"""

import json
from pathlib import Path
from typing import Any


def read_rows(folder: Path, stem: str) -> list[dict[str, Any]]:
    """The rows of `stem.jsonl`, or of its parts in order."""
    paths = sorted(path for path in folder.glob(f"{stem}*.jsonl") if path.stem.partition("-")[0] == stem)
    # Texts hold line separators of their own, so only the line feed ends a row.
    return [json.loads(line) for path in paths for line in path.read_text("utf8").split("\n") if line.strip()]


def read_grades(folder: Path) -> dict[str, dict[str, int]]:
    """By question, the grade of each relevant document."""
    grades: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text("utf8").split("\n")[1:]:
        if line:
            query, document, grade = line.split("\t")
            if int(grade) > 0:
                grades.setdefault(query, {})[document] = int(grade)
    return grades
