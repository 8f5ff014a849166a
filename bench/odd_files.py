"""Runs every file of a folder with a `manifest.jsonl` through the upload's checks and prints where they disagree.

    python bench/odd_files.py --data DIR [--all]

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

from tributary.domain.attachments import Modality
from tributary.domain.errors import CallerError, UnsupportedType
from tributary.files.sandbox import Sandbox
from tributary.files.soundness import inspect_file

NAMED = {
    Modality.IMAGE: {".jpg", ".png", ".webp"},
    Modality.PDF: {".pdf"},
    Modality.TEXT: {".txt", ".md"},
    Modality.AUDIO: {".mp3", ".wav"},
}
ATTACHABLE = frozenset().union(*NAMED.values())


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


async def run(folder: Path, *, show_all: bool) -> int:
    lines = [json.loads(line) for line in (folder / "manifest.jsonl").read_text("utf8").splitlines() if line.strip()]
    with Sandbox() as sandbox:
        verdicts = [await judge(folder, line, sandbox) for line in lines]
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
    options = parser.parse_args()
    raise SystemExit(1 if asyncio.run(run(options.data, show_all=options.all)) else 0)


if __name__ == "__main__":
    main()
