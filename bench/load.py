"""Does a server keep its shape under mixed traffic?

    python -m bench.load [--seconds 180] [--people 8] [--warming 20] [--chunks 1000]

People chat with and without files, read streams to their end, leave them, stop them, search, list, add documents and
delete what they have made (`bench.traffic`), all without a pause: what many do in half an hour is done in minutes.
Models are `bench.instant` with 20 ms for an answer. The server is looked at after some traffic that warms it, and at
the end, each time at rest and with all deleted that people made: what it holds then that it did not hold before has
leaked.
"""

import argparse
import asyncio
import random
import statistics
import time
from dataclasses import dataclass, field

import httpx
import psycopg

from bench.figures import Bound, Figure, Report
from bench.memory import family, megabytes
from bench.scraping import scrape, total
from bench.server import Server, serving_on_instant
from bench.steps import Steps, bench_parser, run
from bench.synthetic import write_knowledge_base
from bench.traffic import Person, Tally

#: Seconds of a server at rest before it is looked at, and between looks at its memory under way.
REST, PACE = 6.0, 2.0
CHAT_MS = 20
NOTHING = Bound(0.0)
#: How much larger the server may be in the end, and MB that it may gain in a thousand requests once it is warm.
#: Allocators keep some of what they were given, and caches fill up to their bounds.
SIZE_BOUND, SLOPE_BOUND = Bound(1.1), Bound(1.0)
#: Of clients: the server's own workers come and go.
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
#: Of which nothing may be left when all is deleted that people made. What was spent stays.
TABLES = (
    "conversations",
    "messages",
    "message_attachments",
    "documents",
    "chunks",
    "checkpoints",
    "checkpoint_blobs",
    "checkpoint_writes",
    "kg_entities",
)
ROWS = "SELECT " + " + ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)


@dataclass(frozen=True)
class Look:
    """A server at rest: MB by part, and counts of what it holds."""

    memory: dict[str, float]
    held: dict[str, float]


@dataclass
class Course:
    """The size of the server (MB) at so many requests."""

    requests: list[int] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)

    @property
    def slope(self) -> float:
        """MB in a thousand requests, over the second half."""
        half = len(self.requests) // 2
        requests, sizes = self.requests[half:], self.megabytes[half:]
        if len(set(requests)) < 2:
            return 0.0
        return 1000 * statistics.linear_regression(requests, sizes).slope


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    steps.expect(int(options.warming + options.seconds + 2 * REST))
    async with serving_on_instant(chat_ms=CHAT_MS) as (server, _):
        steps.begin("writing a knowledge base")
        base = await write_knowledge_base(server, options.chunks)
        bot = await server.new_bot([base])
        # More of them than later: what grows to the size that is needed has then grown.
        await _let_people(server, bot, base, 2 * options.people, options.warming, Tally(), steps)
        before = await _look(server, steps)
        tally, course = Tally(), Course()
        watching = asyncio.create_task(_watch(server, tally, course))
        seconds = await _let_people(server, bot, base, options.people, options.seconds, tally, steps)
        watching.cancel()
        after = await _look(server, steps)
    return report(before, after, tally, course, seconds)


async def _let_people(
    server: Server, bot: str, base: str, count: int, seconds: float, tally: Tally, steps: Steps
) -> float:
    """So many people, for so many seconds; then they delete what they have made. Seconds of the former."""
    began = time.perf_counter()
    limits = httpx.Limits(max_connections=2 * count)
    headers = server.authorization
    async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60.0, limits=limits) as client:
        people = [Person(client, bot, base, tally, random.Random(each)) for each in range(count)]

        async def live(person: Person) -> None:
            while time.perf_counter() - began < seconds:
                await person.act()

        ticking = asyncio.create_task(_tick(tally, steps))
        await asyncio.gather(*(live(person) for person in people))
        ticking.cancel()
        took = time.perf_counter() - began
        await asyncio.gather(*(person.clear() for person in people))
    return took


async def _tick(tally: Tally, steps: Steps) -> None:
    while True:
        await asyncio.sleep(1)
        steps.begin(f"{tally.count:,} requests, {len(tally.errors)} errors")
        steps.advance()


async def _watch(server: Server, tally: Tally, course: Course) -> None:
    while True:
        course.requests.append(tally.count)
        course.megabytes.append(await asyncio.to_thread(megabytes, family(server.process.pid)[:1]))
        await asyncio.sleep(PACE)


async def _look(server: Server, steps: Steps) -> Look:
    steps.begin("at rest")
    await asyncio.sleep(REST)
    steps.advance(int(REST))
    memory = await asyncio.to_thread(server.memory)
    samples = await scrape(server.client)
    return Look(
        memory,
        {
            # A pool keeps for a while what it needed at its busiest moment, which comes by chance.
            "connections to PostgreSQL that don't wait in a pool": await asyncio.to_thread(_count, server, CONNECTIONS)
            - total(samples, "tributary_pool_connections", state="idle"),
            "rows": await asyncio.to_thread(_count, server, ROWS),
            "stored files": await asyncio.to_thread(_files, server),
            "asyncio tasks": total(samples, "tributary_event_loop_tasks"),
            "open files": total(samples, "process_open_fds"),
            "turns under way": total(samples, "tributary_turns_in_progress"),
            "open streams": total(samples, "tributary_streams_open"),
        },
    )


def _count(server: Server, statement: str) -> float:
    with psycopg.connect(server.database.dsn) as connection:
        row = connection.execute(statement).fetchone()
    assert row is not None
    return float(row[0])


def _files(server: Server) -> float:
    """Under the roots of uploads and of what ingestion makes."""
    return float(sum(each.is_file() for name in ("files", "work") for each in (server.data / name).rglob("*")))


def _grown(part: str, before: Look, after: Look) -> float:
    return after.memory[part] / before.memory[part]


def report(before: Look, after: Look, tally: Tally, course: Course, seconds: float) -> Report:
    figures = [
        Figure("load: things done by people", tally.count / seconds, "/s"),
        Figure(f"load: errors among {tally.count:,}", len(tally.errors), "", NOTHING),
        Figure("load: memory of the server at rest, after ÷ before", _grown("server", before, after), "×", SIZE_BOUND),
        Figure("load: its growth in 1,000 requests, over the second half", course.slope, "MB", SLOPE_BOUND),
        Figure("load: memory of PostgreSQL at rest, after ÷ before", _grown("postgresql", before, after), "×"),
        *(
            Figure(f"load: {name} at rest, more than before", after.held[name] - held, "", NOTHING)
            for name, held in before.held.items()
        ),
    ]
    details = {"errors": tally.errors[:50], "done": dict(tally.done), "course": vars(course)}
    return Report("load", figures, details | {"before": vars(before), "after": vars(after)})


def main() -> None:
    parser = bench_parser("load", __doc__)
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--warming", type=float, default=20.0, help="seconds of the same before it counts")
    parser.add_argument("--chunks", type=int, default=1000)
    run(parser, measure)


if __name__ == "__main__":
    main()
