"""Runs every file of a folder with a `manifest.jsonl` through the upload's checks and prints where they disagree.

    python bench/odd_files.py --data DIR [--all] [--documents]

With `--documents` the files go into a knowledge base instead: their type is told, and they are parsed to text.

A line of the manifest names `file`, `kind` and what is `expected`: accept, reject or either. Types that can't be
attached (Office documents, GIF) count as rightly refused when the refusal names them, and a sound file under the name
of another kind as rightly accepted: the type comes from the bytes.
"""

import argparse
import asyncio
import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tributary.domain.attachments import FileType, Modality
from tributary.domain.errors import CallerError, UnsupportedType
from tributary.files.parsing.detection import CSV, DOCX, HTML, PPTX, TSV, XLSX
from tributary.files.parsing.registry import FORMATS, document_type_of, parse_document
from tributary.files.sandbox import Sandbox
from tributary.files.soundness import inspect_file

NAMED = {
    Modality.IMAGE: {".jpg", ".png", ".webp"},
    Modality.PDF: {".pdf"},
    Modality.TEXT: {".txt", ".md"},
    Modality.AUDIO: {".mp3", ".wav"},
}
ATTACHABLE = frozenset().union(*NAMED.values())
#: By content type, what a document of it may be named.
DOCUMENTS = {
    **{each.value: NAMED[each.modality] for each in FileType if each.modality is not Modality.AUDIO},
    HTML: {".html", ".htm"},
    CSV: {".csv"},
    TSV: {".tsv"},
    DOCX: {".docx", ".docm"},
    PPTX: {".pptx", ".pptm"},
    XLSX: {".xlsx", ".xlsm"},
}


@dataclass(frozen=True)
class Verdict:
    file: str
    expected: str
    outcome: str
    detail: str
    milliseconds: float
    agrees: bool


async def judge(folder: Path, line: dict[str, str], sandbox: Sandbox) -> Verdict:
    started = time.perf_counter()
    path = folder / line["file"]
    attachable = path.suffix in ATTACHABLE
    expected = line["expected"]
    try:
        facts = await inspect_file(path, path.name, sandbox)
    except CallerError as refusal:
        outcome, detail = f"{refusal.status} {refusal.code}", refusal.detail
        agrees = expected != "accept" or (not attachable and isinstance(refusal, UnsupportedType))
    else:
        renamed = path.suffix not in NAMED[facts.file_type.modality]
        outcome, agrees = "accept", expected != "reject" or renamed
        shown = {name: value for name in facts.__slots__ if (value := getattr(facts, name)) is not None}
        detail = " ".join(f"{name}={value}" for name, value in shown.items())
    elapsed = (time.perf_counter() - started) * 1000
    return Verdict(line["file"], expected, outcome, detail, elapsed, agrees)


async def judge_document(folder: Path, line: dict[str, str], sandbox: Sandbox) -> Verdict:
    """The same for a document: a file without text is taken here, and fails with that reason when it is split."""
    started = time.perf_counter()
    path = folder / line["file"]
    expected = line["expected"]
    try:
        content_type = await sandbox.run(document_type_of, path, path.name, timeout=30.0)
        seconds = FORMATS[content_type].seconds
        parsed = await sandbox.run(parse_document, path, content_type, path.name, timeout=seconds)
    except CallerError as refusal:
        outcome, detail = f"{refusal.status} {refusal.code}", refusal.detail
        taken = path.suffix in frozenset().union(*DOCUMENTS.values())
        agrees = expected != "accept" or (not taken and isinstance(refusal, UnsupportedType))
    else:
        outcome = "accept" if parsed.text.strip() else "accept, no text"
        agrees = expected != "reject" or path.suffix not in DOCUMENTS[content_type]
        detail = f"{content_type}, {len(parsed.text)} characters, {len(parsed.pages)} pages"
    elapsed = (time.perf_counter() - started) * 1000
    return Verdict(line["file"], expected, outcome, detail, elapsed, agrees)


async def run(folder: Path, *, show_all: bool, documents: bool) -> int:
    lines = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf8").splitlines() if line.strip()]
    with Sandbox() as sandbox:
        verdicts = [await (judge_document if documents else judge)(folder, line, sandbox) for line in lines]
    for verdict in verdicts:
        if show_all or not verdict.agrees:
            mark = "  " if verdict.agrees else "✗ "
            print(f"{mark}{verdict.expected:7} {verdict.outcome:22} {verdict.milliseconds:7.0f} ms  {verdict.file}")
            print(f"    {verdict.detail}")
    wrong = sum(not verdict.agrees for verdict in verdicts)
    slowest = max(verdicts, key=lambda verdict: verdict.milliseconds)
    counts = Counter((verdict.expected, verdict.outcome.split()[0]) for verdict in verdicts)
    for (expected, outcome), count in sorted(counts.items()):
        print(f"{expected:7} → {outcome:7} {count:4}")
    print(f"{len(verdicts)} files, {wrong} disagreements, slowest {slowest.milliseconds:.0f} ms ({slowest.file})")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds manifest.jsonl")
    parser.add_argument("--all", action="store_true", help="print the files that agree, too")
    parser.add_argument("--documents", action="store_true", help="into a knowledge base, not as attachments")
    options = parser.parse_args()
    raise SystemExit(1 if asyncio.run(run(options.data, show_all=options.all, documents=options.documents)) else 0)


if __name__ == "__main__":
    main()
