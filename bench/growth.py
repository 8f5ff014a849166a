"""Does a turn cost more the longer its conversation is?

    python -m bench.growth [--marks 50 200 1000] [--window 10] [--chunks 500]

One conversation, each of whose messages brings a text file of its own, over a knowledge base; over HTTP, with the
models of `bench.instant`. The last turns up to each mark are measured, each beside the first turn of a conversation
that is new, so that both meet the same other load: its milliseconds, and the bytes of the rows that it adds to the
database.
"""

import argparse
import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import psycopg

from bench.figures import Bound, Figure, Report
from bench.harness import Client, spread
from bench.server import Server, serving_on_instant
from bench.steps import Steps, bench_parser, run
from bench.synthetic import question, write_knowledge_base

TABLES = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
#: How much more a later turn may cost than a first one.
FLAT = Bound(1.5)
WARMING = 10
NOTE = "The spare key of hall {number} hangs behind the door, below the plan of the pumps. " * 5


@dataclass
class Costs:
    """Of some turns: seconds, and bytes of rows."""

    seconds: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)


@dataclass
class Window:
    """Turns up to a mark, and as many first turns."""

    late: Costs = field(default_factory=Costs)
    first: Costs = field(default_factory=Costs)

    @property
    def time_ratio(self) -> float:
        return median(self.late.seconds) / median(self.first.seconds)

    @property
    def size_ratio(self) -> float:
        return median(self.late.bytes) / median(self.first.bytes)


class Conversing:
    """Sends messages with a new file each."""

    def __init__(self, server: Server, client: Client, bot: str) -> None:
        self._server = server
        self._client = client
        self._url = f"{server.url}/api/bots/{bot}/chat"
        self._files = 0

    async def turn(self, conversation: str | None, costs: Costs | None = None) -> str:
        """The conversation's id, a new one's where there is none; what the turn cost goes to `costs`."""
        body: dict[str, Any] = {"message": question(), "attachments": [await self._upload()]}
        if conversation:
            body["conversationId"] = conversation
        before = await self._size() if costs else 0
        began = time.perf_counter()
        answer = await self._client.post(self._url, body)
        if costs:
            costs.seconds.append(time.perf_counter() - began)
            costs.bytes.append(await self._size() - before)
        return str(answer["conversationId"])

    async def _upload(self) -> dict[str, str]:
        self._files += 1
        note = NOTE.format(number=self._files).encode()
        files = [("files", (f"note-{self._files}.txt", note, "text/plain"))]
        stored = await self._server.client.post("/api/bot/attachments/upload", files=files)
        described = stored.raise_for_status().json()
        return {"id": described["id"], "accessToken": described["accessToken"]}

    async def _size(self) -> int:
        return await asyncio.to_thread(_bytes_of_rows, self._server.database.dsn)


def _bytes_of_rows(dsn: str) -> int:
    """Of all rows of all tables of ours, as the database keeps them: compressed where it compresses."""
    with psycopg.connect(dsn) as connection:
        tables = [name for (name,) in connection.execute(TABLES)]
        sums = " + ".join(f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {name} t)" for name in tables)
        row = connection.execute(f"SELECT {sums}").fetchone()
    assert row is not None
    return int(row[0])


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    last = max(options.marks)
    steps.expect(last + 1)
    async with serving_on_instant() as (server, _):
        steps.begin("writing a knowledge base")
        base = await write_knowledge_base(server, options.chunks)
        steps.advance()
        client = Client(server.authorization)
        conversing = Conversing(server, client, await server.new_bot([base]))
        for _ in range(WARMING):
            await conversing.turn(None)
        windows = await converse(conversing, options, steps)
        await client.aclose()
    return report(windows)


async def converse(conversing: Conversing, options: argparse.Namespace, steps: Steps) -> dict[int, Window]:
    """One conversation up to the last mark."""
    windows = {mark: Window() for mark in sorted(options.marks)}
    conversation = await conversing.turn(None)
    for number in range(2, max(options.marks) + 1):
        steps.begin(f"turn {number:,}")
        window = next((each for mark, each in windows.items() if mark - options.window < number <= mark), None)
        conversation = await conversing.turn(conversation, window.late if window else None)
        if window:
            await conversing.turn(None, window.first)
        steps.advance()
    return windows


def report(windows: Mapping[int, Window]) -> Report:
    first = next(iter(windows.values())).first
    figures = [
        Figure("growth: a conversation's first turn, with a file", 1000 * median(first.seconds), "ms"),
        Figure("growth: rows that it adds", median(first.bytes) / 1024, "kB"),
    ]
    for mark, window in windows.items():
        apart = spread(window.late.seconds)
        figures.append(Figure(f"growth: time of turn {mark:,} ÷ of a first", window.time_ratio, "×", FLAT, apart))
    for mark, window in windows.items():
        apart = spread(window.late.bytes)
        figures.append(Figure(f"growth: bytes of turn {mark:,} ÷ of a first", window.size_ratio, "×", FLAT, apart))
    details = {
        str(mark): {
            "late": {"ms": [1000 * each for each in window.late.seconds], "bytes": window.late.bytes},
            "first": {"ms": [1000 * each for each in window.first.seconds], "bytes": window.first.bytes},
        }
        for mark, window in windows.items()
    }
    return Report("growth", figures, {"windows": details})


def main() -> None:
    parser = bench_parser("growth", __doc__)
    parser.add_argument("--marks", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--window", type=int, default=10, help="turns that are measured up to each mark")
    parser.add_argument("--chunks", type=int, default=500)
    run(parser, measure)


if __name__ == "__main__":
    main()
