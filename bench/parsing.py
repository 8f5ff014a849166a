"""Every file of a folder through the sandboxed parsers: how each is taken as a document or why it is refused.

    python -m bench.parsing --data DIR

`DIR` holds any files. Prints a line a file and the totals; a file that hangs is a failure (exit code 1).
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from pathlib import Path

from tributary.domain.errors import TributaryError
from tributary.files.parsing.registry import FORMATS, document_type_of, parse_document
from tributary.files.sandbox import Sandbox


async def ingest(sandbox: Sandbox, path: Path) -> tuple[str, str]:
    """How it went, and its particulars."""
    try:
        content_type = await sandbox.run(document_type_of, path, path.name, timeout=30.0)
        seconds = FORMATS[content_type].seconds
        parsed = await sandbox.run(parse_document, path, content_type, path.name, timeout=seconds)
    except TributaryError as error:
        return error.code, error.detail
    facts = f"{len(parsed.pages)} pages, {len(parsed.text)} characters, {len(parsed.headings)} headings"
    return ("taken" if parsed.text.strip() else "taken, no text"), f"{facts}, “{parsed.title}”"


async def main(data: Path) -> int:
    outcomes: Counter[str] = Counter()
    slowest = (0.0, "")
    with Sandbox(workers=1) as sandbox:
        for path in sorted(each for each in data.rglob("*") if each.is_file()):
            started = time.perf_counter()
            outcome, particulars = await ingest(sandbox, path)
            elapsed = time.perf_counter() - started
            slowest = max(slowest, (elapsed, path.name))
            outcomes[outcome] += 1
            print(f"{outcome:16} {elapsed:6.2f} s  {path.relative_to(data)}: {particulars[:150]}")
    print("\n" + "\n".join(f"{count:4} {outcome}" for outcome, count in outcomes.most_common()))
    print(f"slowest: {slowest[0]:.2f} s, {slowest[1]}")
    return 1 if slowest[0] > max(each.seconds for each in FORMATS.values()) else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    sys.exit(asyncio.run(main(parser.parse_args().data)))
