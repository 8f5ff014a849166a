"""What does a turn cost, beside the least that answers a question at all?

    python -m bench.turn [--rounds 5] [--turns 60] [--parallel 16] [--chunks 5000] [--json FILE]

From HTTP request to HTTP answer: a turn of Tributary with four branches over one knowledge base, over REST and over
LangServe, beside the two floors of `bench.floors`, which do an embedding, a vector query and a chat call. Models are
`bench.instant`; all stand on one PostgreSQL. Systems take turns, so that all meet the same other load.
"""

import argparse
import asyncio
import json
import random
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import make_conninfo
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from bench.harness import Call, Client, Figures, one_by_one, running, side_by_side, spread, write_json
from bench.machine import surroundings
from bench.server import Server, serving
from bench.synthetic import question, write_knowledge_base
from stores.postgres.vector_values import half_vector

MODEL = "openai/instant"
WARMING = 20
FLOOR, OURS = "LangServe graph of 3 nodes", "Tributary over REST"
#: How much of the floor's time a turn may take, and how often its requests a second it must answer.
BOUNDS = {OURS: (0.85, 1.3), "Tributary over LangServe": (1.0, 1.0)}
console = Console()


@dataclass(frozen=True)
class System:
    name: str
    call: Call
    process: int


async def main_run(options: argparse.Namespace) -> None:
    async with AsyncExitStack() as stack:
        provider, _ = await stack.enter_async_context(running("bench.instant"))
        environment = {
            "OPENAI_BASE_URL": provider,
            "OPENAI_API_KEY": "instant",
            "TRIBUTARY_CHAT_MODEL": MODEL,
            "TRIBUTARY_EMBEDDING": MODEL,
        }
        server = await stack.enter_async_context(serving(**environment))
        with Progress(console=console, transient=True) as progress:
            base = await write_knowledge_base(server, options.chunks, progress)
        bot = await _bot(server, base)
        systems = [system async for system in _systems(stack, server, provider, bot, options.chunks)]
        figures = await measure(systems, options)
        first = await _first_token(server, bot, options.turns)
        memory = {system.name: _megabytes(system.process) for system in systems}
    report(figures, first, memory, options)


async def _bot(server: Server, base: str) -> str:
    made = await server.client.post("/api/bots", json={"name": "bench", "knowledgeBaseIds": [base], "model": MODEL})
    return str(made.raise_for_status().json()["id"])


async def _systems(
    stack: AsyncExitStack, server: Server, provider: str, bot: str, chunks: int
) -> AsyncIterator[System]:
    dsn = await asyncio.to_thread(_floor_database, server.database.dsn, chunks)
    for floor, name, path in (("bare", "bare handler", "/chat"), ("langserve", FLOOR, "/graph/invoke")):
        arguments = "bench.floors", floor, "--dsn", dsn, "--provider", provider
        url, process = await stack.enter_async_context(running(*arguments))
        client = await stack.enter_async_context(_client({}))
        yield System(name, _floor_call(client, f"{url}{path}", wrapped=floor == "langserve"), process)
    ours = await stack.enter_async_context(_client({"authorization": server.client.headers["authorization"]}))
    url = str(server.client.base_url).rstrip("/")
    yield System(OURS, lambda: ours.post(f"{url}/api/bots/{bot}/chat", {"message": question()}), server.process.pid)

    async def over_langserve() -> None:
        answer = await ours.post(f"{url}/graphs/chat/invoke", {"input": {"message": question(), "botId": bot}})
        if "sources" not in answer["output"]:
            raise RuntimeError(f"no answer over LangServe: {answer}")

    yield System("Tributary over LangServe", over_langserve, server.process.pid)


def _floor_call(client: Client, url: str, *, wrapped: bool) -> Call:
    def call() -> Any:
        body = {"message": question()}
        return client.post(url, {"input": body} if wrapped else body)

    return call


@asynccontextmanager
async def _client(headers: Mapping[str, str]) -> AsyncIterator[Client]:
    client = Client(headers)
    yield client
    await client.aclose()


def _floor_database(dsn: str, chunks: int) -> str:
    """A database of its own with as many chunks as the knowledge base, in a table that is read as quickly as can be."""
    from bench.instant import DIMENSION, vector_of

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


async def measure(systems: list[System], options: argparse.Namespace) -> dict[str, Figures]:
    figures = {system.name: Figures() for system in systems}
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("turns", total=len(systems) * (options.rounds + 1))
        for system in systems:
            await side_by_side(system.call, WARMING, 4)
            progress.advance(task)
        for number in range(options.rounds):
            # Nobody is always the first.
            for system in systems[number % len(systems) :] + systems[: number % len(systems)]:
                mine = figures[system.name]
                mine.alone.append(await one_by_one(system.call, options.turns))
                times, rate = await side_by_side(system.call, options.turns * 4, options.parallel)
                mine.beside.append(times)
                mine.rates.append(rate)
                progress.advance(task)
    return figures


async def _first_token(server: Server, bot: str, turns: int) -> list[float]:
    """Seconds to the first token of a streamed answer."""
    url = f"{str(server.client.base_url).rstrip('/')}/api/bots/{bot}/chat"
    async with _client({"authorization": server.client.headers["authorization"]}) as client:
        return [await client.first(url, {"message": question()}, b"event: token") for _ in range(turns)]


def _megabytes(process: int) -> float:
    found = psutil.Process(process).memory_full_info()
    return float(getattr(found, "pss", found.rss)) / 2**20


def report(
    figures: Mapping[str, Figures], first: list[float], memory: Mapping[str, float], options: argparse.Namespace
) -> None:
    floor = figures[FLOOR]
    table = Table(title=f"a turn over {options.chunks:,} chunks; {options.rounds} rounds, medians")
    for column in ("", "p50 ms", "p95 ms", f"p95 at {options.parallel}", "requests/s", "± of p50", "MB"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    table.add_column("p50 to floor")
    table.add_column("rate to floor")
    for name, mine in figures.items():
        times = (f"{1000 * each:.1f}" for each in (mine.p50, mine.p95, mine.beside_p95))
        apart = spread([each[len(each) // 2] for each in map(sorted, mine.alone)])
        ratios = f"{mine.p50 / floor.p50:.2f}", f"{mine.rate / floor.rate:.2f}"
        table.add_row(name, *times, f"{mine.rate:.1f}", f"{apart:.0%}", f"{memory[name]:.0f}", *ratios)
    console.print(table)
    for name, (slowest, most) in BOUNDS.items():
        mine = figures[name]
        console.print(
            f"{name}: p50 {mine.p50 / floor.p50:.2f} of the floor's (at most {slowest}), "
            f"{mine.rate / floor.rate:.2f} × its requests a second (at least {most})"
        )
    median = sorted(first)[len(first) // 2]
    console.print(f"first streamed token after {1000 * median:.1f} ms, {median / floor.p50:.2f} of the floor's answer")
    console.print(json.dumps(surroundings()), highlight=False, soft_wrap=True)
    ready = {
        name: {"p50": mine.p50, "p95": mine.p95, "beside_p95": mine.beside_p95, "rate": mine.rate, "rates": mine.rates}
        for name, mine in figures.items()
    }
    write_json(options.json, {"systems": ready, "first_token": median, "memory_mb": dict(memory)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--turns", type=int, default=60, help="of a round, one by one; four times as many in parallel")
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--chunks", type=int, default=5000)
    parser.add_argument("--json", type=Path, default=Path("build/bench/turn.json"))
    random.seed(7)
    asyncio.run(main_run(parser.parse_args()))


if __name__ == "__main__":
    main()
