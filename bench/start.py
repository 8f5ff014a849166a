"""How long from nothing to a first answer, and what a server holds on to at rest.

    python -m bench.start [--runs 3]

On the embedded default with the built-in models, installed and compiled: `tributary serve` on an empty folder, which
makes the database and the demo, and again on the folder that it left. Each time from the start of the process to the
answer of a chat over HTTP; after it, and a rest, the memory of the server, its readers and PostgreSQL. The rest is
longer where documents were read: their readers end when they have had nothing to do for a while.
"""

import argparse
import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.figures import Bound, Figure, Report
from bench.harness import spread
from bench.server import memory_of, started
from bench.steps import Steps, bench_parser, run

#: Seconds between the answer and the look at memory: after documents were read, and without any.
LONG_REST, REST = 13.0, 3.0
QUESTION = "Which formats can I put into a knowledge base?"
IMPORT = "import time; began = time.perf_counter(); import server; print(time.perf_counter() - began)"
#: Seconds to the first answer, and MB of all processes at rest.
ANSWER_BOUND, MEMORY_BOUND = Bound(6.0), Bound(350.0)
_SHOWN = re.compile(r"/api/bots/(?P<bot>[0-9a-f-]+)/chat.*?Bearer (?P<key>[^'\s]+)", re.DOTALL)


@dataclass(frozen=True)
class Demo:
    """What a first start shows."""

    bot: str
    key: str


@dataclass
class Start:
    """Seconds to the first answer, and MB at rest by part."""

    seconds: float
    memory: dict[str, float]

    @property
    def megabytes(self) -> float:
        return sum(self.memory.values())


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    # Where it isn't written there is no bytecode, and each start compiles everything.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    steps.expect(2 + 3 * options.runs)
    steps.begin("compiling")
    await _twice(steps, 0.0)
    imports, firsts, laters = [], [], []
    for number in range(options.runs):
        steps.begin(f"run {number + 1}")
        imports.append(await import_seconds())
        steps.advance()
        first, later = await _twice(steps, LONG_REST)
        firsts.append(first)
        laters.append(later)
    return report(imports, firsts, laters)


async def import_seconds() -> float:
    """Of `import server`, in a process of its own."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", IMPORT, stdout=PIPE)
    said, _ = await process.communicate()
    return float(said)


async def _twice(steps: Steps, long_rest: float) -> tuple[Start, Start]:
    """On an empty folder, and on the same."""
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        data = Path(folder) / "data"
        first, demo = await start(data, long_rest, None)
        steps.advance()
        later, _ = await start(data, min(REST, long_rest), demo)
        steps.advance()
    return first, later


async def start(data: Path, rest: float, demo: Demo | None) -> tuple[Start, Demo]:
    """Without a `demo` to ask the server is to make one."""
    began = time.perf_counter()
    async with started(data, {}, demo=demo is None) as server:
        known = demo or _demo_of(server.printed)
        await _ask(server.url, known)
        seconds = time.perf_counter() - began
        await asyncio.sleep(rest)
        memory = await asyncio.to_thread(memory_of, server.process.pid, data)
    return Start(seconds, memory), known


def _demo_of(printed: str) -> Demo:
    found = _SHOWN.search(printed)
    if found is None:
        raise RuntimeError(f"the server did not show its demo: {printed}")
    return Demo(found["bot"], found["key"])


async def _ask(url: str, demo: Demo) -> None:
    headers = {"Authorization": f"Bearer {demo.key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60.0) as client:
        answer = (await client.post(f"/api/bots/{demo.bot}/chat", json={"message": QUESTION})).raise_for_status()
    if not answer.json()["sources"]:
        raise RuntimeError("the first answer has no sources: the embedder was not needed for it")


def report(imports: Sequence[float], firsts: Sequence[Start], laters: Sequence[Start]) -> Report:
    def answer(name: str, starts: Sequence[Start]) -> Figure:
        times = [each.seconds for each in starts]
        return Figure(name, statistics.median(times), "s", ANSWER_BOUND, spread(times))

    def memory(name: str, starts: Sequence[Start]) -> Figure:
        sizes = [each.megabytes for each in starts]
        return Figure(name, statistics.median(sizes), "MB", MEMORY_BOUND, spread(sizes))

    figures = [
        answer("start: process to first answer, on an empty folder (database and demo are made)", firsts),
        answer("start: process to first answer, on a folder that is there", laters),
        Figure("start: `import server`", statistics.median(imports), "s", None, spread(imports)),
        memory("start: memory at rest after it, server, readers and PostgreSQL, first start", firsts),
        memory("start: memory at rest after it, server, readers and PostgreSQL, later start", laters),
    ]
    details = {
        name: [{"seconds": each.seconds, "memory_mb": each.memory} for each in starts]
        for name, starts in (("first", firsts), ("later", laters))
    }
    return Report("start", figures, {**details, "imports": list(imports)})


def main() -> None:
    parser = bench_parser("start", __doc__)
    parser.add_argument("--runs", type=int, default=3)
    run(parser, measure)


if __name__ == "__main__":
    main()
