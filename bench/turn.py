"""What does a turn cost, beside the least that answers a question at all?

    python -m bench.turn [--rounds 5] [--turns 60] [--parallel 16] [--chunks 5000] [--apart] [--json FILE]

From HTTP request to HTTP answer: a turn of Tributary with four branches over one knowledge base, over REST and over
LangServe, beside the two floors of `bench.floors`, which do an embedding, a vector query and a chat call. Models are
`bench.instant`; all stand on one PostgreSQL. Systems take turns, so that all meet the same other load.

`--apart` also times turns that leave something out, one by one: what a turn costs is what they lack.
"""

import argparse
import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psutil
import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import make_conninfo

from bench.figures import Bound, Figure, Report
from bench.harness import Call, Client, Timings, one_by_one, percentile, running, side_by_side
from bench.instant import DIMENSION, vector_of
from bench.memory import megabytes
from bench.server import Server, serving_on_instant
from bench.steps import Steps, bench_parser, run
from bench.synthetic import question, write_knowledge_base
from stores.postgres.vector_values import half_vector

WARMING = 20
BARE, FLOOR = "a bare handler", "a LangServe graph of 3 nodes"
REST, LANGSERVE = "Tributary over REST", "Tributary over LangServe"
#: Of `--apart`: the model's call alone, the graph around it, and the branches; a turn has its conversation besides.
CALL, GRAPH, BRANCHES = "a bare call of the model", "nothing stored, no knowledge base", "nothing stored"
#: How much of the floor's time a turn may take, and how often its requests a second it must answer.
BOUNDS = {REST: (Bound(0.85), Bound(1.3, least=True)), LANGSERVE: (Bound(1.0), Bound(1.0, least=True))}
FIRST_TOKEN_BOUND = Bound(1.0)


@dataclass(frozen=True)
class System:
    """`apart`: it is timed one by one alone."""

    name: str
    call: Call
    process: int
    apart: bool = False


@dataclass
class Found:
    """By the system's name: seconds, and MB of its process; and seconds to the first tokens of streams."""

    timings: dict[str, Timings] = field(default_factory=dict)
    memory: dict[str, float] = field(default_factory=dict)
    first: list[float] = field(default_factory=list)


async def measure(options: argparse.Namespace, steps: Steps) -> Report:
    random.seed(7)
    systems_at_most = 7 if options.apart else 4
    steps.expect(4 + systems_at_most * (options.rounds + 1))
    async with AsyncExitStack() as stack:
        server, provider = await stack.enter_async_context(serving_on_instant())
        steps.begin(f"writing {options.chunks:,} chunks")
        base = await write_knowledge_base(server, options.chunks)
        dsn = await asyncio.to_thread(_floor_database, server.database.dsn, options.chunks)
        steps.advance(3)
        systems = await _floors(stack, provider, dsn) + await _ours(stack, server, base)
        chosen = [each for each in systems if options.apart or not each.apart]
        found = Found(timings=await measure_systems(chosen, options, steps))
        steps.begin("first tokens")
        found.first = await _first_token(server, await server.new_bot([base]), options.turns)
        steps.advance()
        found.memory = {each.name: megabytes([psutil.Process(each.process)]) for each in chosen}
    return report(found, options)


async def _floors(stack: AsyncExitStack, provider: str, dsn: str) -> list[System]:
    client = await stack.enter_async_context(_client({}))
    arguments = "--dsn", dsn, "--provider", provider
    bare, bare_process = await stack.enter_async_context(running("bench.floors", "bare", *arguments))
    graph, graph_process = await stack.enter_async_context(running("bench.floors", "langserve", *arguments))
    return [
        System(BARE, lambda: client.post(f"{bare}/chat", {"message": question()}), bare_process),
        System(FLOOR, lambda: client.post(f"{graph}/graph/invoke", {"input": {"message": question()}}), graph_process),
        System(CALL, lambda: client.post(f"{bare}/answer", {"message": question()}), bare_process, apart=True),
    ]


async def _ours(stack: AsyncExitStack, server: Server, base: str) -> list[System]:
    bot, unknowing = await server.new_bot([base]), await server.new_bot([])
    client = await stack.enter_async_context(_client(server.authorization))

    async def over_rest() -> object:
        return await client.post(f"{server.url}/api/bots/{bot}/chat", {"message": question()})

    async def over_langserve() -> None:
        body = {"input": {"message": question(), "botId": bot}}
        answer = await client.post(f"{server.url}/graphs/chat/invoke", body)
        if "sources" not in answer["output"]:
            raise RuntimeError(f"no answer over LangServe: {answer}")

    def completing(model: str) -> Call:
        def call() -> Any:
            body = {"model": model, "messages": [{"role": "user", "content": question()}]}
            return client.post(f"{server.url}/v1/chat/completions", body)

        return call

    process = server.process.pid
    return [
        System(REST, over_rest, process),
        System(LANGSERVE, over_langserve, process),
        System(GRAPH, completing(unknowing), process, apart=True),
        System(BRANCHES, completing(bot), process, apart=True),
    ]


@asynccontextmanager
async def _client(headers: Mapping[str, str]) -> AsyncIterator[Client]:
    client = Client(headers)
    yield client
    await client.aclose()


def _floor_database(dsn: str, chunks: int) -> str:
    """A database of its own with as many chunks as the knowledge base, in a table that is read as quickly as can be."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE floors")
    floors = make_conninfo(dsn, dbname="floors")
    with psycopg.connect(floors, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        connection.execute(
            f"CREATE TABLE floor_chunks (id int PRIMARY KEY, content text, embedding halfvec({DIMENSION}))"
        )
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO floor_chunks VALUES (%s, %s, %b)",
                [(each, f"Chunk {each}. " * 20, half_vector(vector_of(f"chunk {each}"))) for each in range(chunks)],
            )
        connection.execute("VACUUM ANALYZE floor_chunks")
    return floors


async def measure_systems(systems: list[System], options: argparse.Namespace, steps: Steps) -> dict[str, Timings]:
    timings = {system.name: Timings() for system in systems}
    for system in systems:
        steps.begin(f"warming {system.name}")
        await side_by_side(system.call, WARMING, 4)
        steps.advance()
    for number in range(options.rounds):
        # Nobody is always the first.
        for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
            steps.begin(f"round {number + 1}, {system.name}")
            await _round(system, timings[system.name], options)
            steps.advance()
    return timings


async def _round(system: System, mine: Timings, options: argparse.Namespace) -> None:
    mine.alone.append(await one_by_one(system.call, options.turns))
    if not system.apart:
        times, rate = await side_by_side(system.call, options.turns * 4, options.parallel)
        mine.beside.append(times)
        mine.rates.append(rate)


async def _first_token(server: Server, bot: str, turns: int) -> list[float]:
    """Seconds to the first token of a streamed answer."""
    url = f"{server.url}/api/bots/{bot}/chat"
    async with _client(server.authorization) as client:
        return [await client.first(url, {"message": question()}, b"event: token") for _ in range(turns)]


def report(found: Found, options: argparse.Namespace) -> Report:
    timings, floor = found.timings, found.timings[FLOOR]
    figures = [each for name in (BARE, FLOOR, *BOUNDS) for each in _own(name, timings[name], options)]
    for name, (slowest, most) in BOUNDS.items():
        mine = timings[name]
        figures.append(Figure(f"turn: p50 {name} ÷ {FLOOR}", mine.p50 / floor.p50, "×", slowest, mine.apart))
        rate = mine.rate / floor.rate
        figures.append(Figure(f"turn: rate {name} at {options.parallel} ÷ {FLOOR}", rate, "×", most))
    first = percentile(found.first, 50)
    figures.append(Figure("turn: first streamed token, p50", 1000 * first, "ms"))
    figures.append(
        Figure(f"turn: first streamed token ÷ whole answer of {FLOOR}", first / floor.p50, "×", FIRST_TOKEN_BOUND)
    )
    figures += [Figure(f"turn: memory, {name}", found.memory[name], "MB") for name in (BARE, FLOOR, REST)]
    if options.apart:
        figures += _apart(timings)
    return Report("turn", figures, {"systems": _details(timings), "first_token": first, "memory_mb": found.memory})


def _own(name: str, mine: Timings, options: argparse.Namespace) -> list[Figure]:
    parallel = f"at {options.parallel} in parallel"
    return [
        Figure(f"turn: {name}, p50 alone", 1000 * mine.p50, "ms", None, mine.apart),
        Figure(f"turn: {name}, p95 alone", 1000 * mine.p95, "ms"),
        Figure(f"turn: {name}, p95 {parallel}", 1000 * mine.beside_p95, "ms"),
        Figure(f"turn: {name}, {parallel}", mine.rate, "/s"),
    ]


def _apart(timings: Mapping[str, Timings]) -> list[Figure]:
    """What each part adds to the median."""
    call, graph, branches = (timings[name].p50 for name in (CALL, GRAPH, BRANCHES))
    parts = {
        "a request with its call of the model": call,
        "the graph around the call": graph - call,
        "four branches, with the question's embedding": branches - graph,
        "the conversation: its queue, rows and checkpoint": timings[REST].p50 - branches,
    }
    return [Figure(f"turn: of it {name}", 1000 * seconds, "ms") for name, seconds in parts.items()]


def _details(timings: Mapping[str, Timings]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, mine in timings.items():
        told[name] = {"p50": mine.p50, "p95": mine.p95}
        if mine.rates:
            told[name] |= {"beside_p95": mine.beside_p95, "rate": mine.rate, "rates": mine.rates}
    return told


def main() -> None:
    parser = bench_parser("turn", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=60, help="of a round, one by one; four times as many in parallel")
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--apart", action="store_true", help="says what each part of a turn costs, too")
    run(parser, measure)


if __name__ == "__main__":
    main()
