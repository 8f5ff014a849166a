"""Reading benchmark sets: documents, questions, and which documents answer them.

A set is a folder with `corpus*.jsonl` (id, title, text), `queries.jsonl` (id, text) and `qrels.tsv` (qid, docid,
rel). Ids like `file.pdf#page=3` are pages: they become pages of one document, as an upload of the file would.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from tributary.domain.knowledge import Page, ParsedDocument

_PAGE_ID = re.compile(r"(?P<file>.+)#page=(?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class BenchDocument:
    """A document of a set. `unit_of` says by which id its judgements know a chunk of a page."""

    name: str
    parsed: ParsedDocument
    paged: bool

    def unit_of(self, page: int | None) -> str:
        return f"{self.name}#page={page}" if self.paged else self.name

    @property
    def units(self) -> dict[str, str]:
        """The whole text of each unit."""
        text = self.parsed.text
        if not self.paged:
            return {self.name: text}
        return {self.unit_of(page.number): text[page.start : page.end] for page in self.parsed.pages}


#: A cited page that holds less of the reference answer's words is a wrong citation.
_SOUND_OVERLAP = 0.5


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """`cites`: whether the set names a page that holds the answer; None where it names no pages."""

    id: str
    text: str
    cites: bool | None = None


@dataclass(frozen=True, slots=True)
class BenchSet:
    """`judgements`: by question, the grade of each relevant unit."""

    name: str
    documents: tuple[BenchDocument, ...]
    queries: tuple[BenchQuery, ...]
    judgements: dict[str, dict[str, int]]


def load_set(data: Path, name: str, *, limit: int = 600) -> BenchSet:
    """The set of that name below `data`, with its first `limit` judged questions."""
    folder = data / name
    judgements = _judgements(folder / "qrels.tsv")
    queries = [_query(row) for row in _rows(folder, "queries") if row["id"] in judgements]
    return BenchSet(name, tuple(_documents(_rows(folder, "corpus"))), tuple(queries[:limit]), judgements)


def _query(row: dict[str, Any]) -> BenchQuery:
    overlap = row.get("gold_overlap")
    return BenchQuery(row["id"], row["text"], None if overlap is None else overlap >= _SOUND_OVERLAP)


def _rows(folder: Path, stem: str) -> list[dict[str, Any]]:
    paths = sorted(path for path in folder.glob(f"{stem}*.jsonl") if re.fullmatch(rf"{stem}(-\d\d)?", path.stem))
    return [json.loads(line) for path in paths for line in path.read_text("utf8").split("\n") if line.strip()]


def _judgements(path: Path) -> dict[str, dict[str, int]]:
    judgements: dict[str, dict[str, int]] = {}
    for line in path.read_text("utf8").strip().split("\n")[1:]:
        query, document, grade = line.split("\t")
        if int(grade) > 0:
            judgements.setdefault(query, {})[document] = int(grade)
    return judgements


def _documents(rows: list[dict[str, Any]]) -> Iterator[BenchDocument]:
    for name, group in groupby(rows, key=_file_of):
        units = list(group)
        if _PAGE_ID.fullmatch(units[0]["id"]):
            yield BenchDocument(name, _joined(units), paged=True)
        else:
            yield BenchDocument(name, ParsedDocument(units[0]["text"], title=units[0].get("title", "")), paged=False)


def _file_of(row: dict[str, Any]) -> str:
    match = _PAGE_ID.fullmatch(row["id"])
    return match["file"] if match else str(row["id"])


def _joined(units: list[dict[str, Any]]) -> ParsedDocument:
    """Pages as one text, each behind the one before."""
    text, pages = "", []
    for unit in units:
        match = _PAGE_ID.fullmatch(unit["id"])
        assert match is not None
        start = len(text)
        text += unit["text"] + "\n\f"
        pages.append(Page(int(match["number"]), start, len(text)))
    return ParsedDocument(text, tuple(pages), units[0].get("title", ""))
