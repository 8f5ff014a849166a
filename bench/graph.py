"""How long a search of a large knowledge graph takes, in PostgreSQL and in Neo4j, side by side.

    python -m bench.graph [--entities 100000] [--relations 500000] [--questions 200] [--folder DIR] [--plans]

A question names one to four entities, some of them hubs; every second one also goes on from passages, as a chat turn
does. Three times as many others are asked first, which nobody times: Neo4j compiles what it runs often. With a folder
the data of PostgreSQL stay there, and the next run goes on from them. The Neo4j is the one of the tests unless
NEO4J_URI and NEO4J_PASSWORD name another. Exits with 1 where a search takes longer than is promised.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import psycopg
from rich.console import Console
from rich.table import Table

from bench.graph_data import Synthetic, load_neo4j, load_postgres, synthesise
from bench.machine import surroundings
from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres import graph_sql
from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.postgres.migrate import migrate
from stores.postgres.roles import SERVING_ROLE
from stores.protocols.graph import GraphReader, SeedPassage
from stores.walking import STEP, Bounds
from tests.support.neo4j import Neo4jServer, run_neo4j

Question = tuple[str, tuple[SeedPassage, ...]]
HOPS = 2
#: Milliseconds that a search takes at most, of 95 in a hundred.
PROMISED = 50.0
#: Questions that are asked before, for each one that is timed.
WARMING = 3


def questions(graph: Synthetic, count: int, *, seed: int) -> list[Question]:
    random = np.random.default_rng(seed)
    known = np.unique(graph.mentions[:, 1])
    hubs = np.argsort(-graph.degrees)[:200]
    asked: list[Question] = []
    for n in range(count):
        named = list(random.choice(known, size=random.integers(1, 4)))
        if n % 3 == 0:
            named.append(random.choice(hubs))
        text = " and ".join(graph.name(int(each)) for each in named)
        chunks = random.integers(0, len(graph.chunk_ids), size=8 * (n % 2))
        seeds = tuple(SeedPassage(graph.chunk_ids[chunk], 1.0 - 0.1 * place) for place, chunk in enumerate(chunks))
        asked.append((f"How is {text} related?", seeds))
    return asked


@dataclass
class Timing:
    """Searches of one kind in one engine: milliseconds of each, how many a bound of the walk cut, and milliseconds of
    this process's own time a search."""

    engine: str
    kind: str
    milliseconds: list[float] = field(default_factory=list)
    truncated: int = 0
    busy: float = 0.0

    def at(self, percent: float) -> float:
        return float(np.percentile(self.milliseconds, percent))

    def row(self) -> dict[str, object]:
        count = len(self.milliseconds)
        return {
            "engine": self.engine,
            "asked by": self.kind,
            "questions": count,
            "truncated": self.truncated,
            **{f"p{percent} ms": round(self.at(percent), 1) for percent in (50, 95, 99)},
            "own ms": round(self.busy / count, 1),
        }


async def measure(name: str, reader: GraphReader, graph: Synthetic, count: int) -> list[Timing]:
    """Both kinds in turn, after questions that nobody times: others, so that it is no matter of having just been asked
    the same."""
    for query, seeds in questions(graph, WARMING * count, seed=12):
        await reader.search(graph.organisation, graph.base, query=query, seeds=seeds, hops=HOPS)
    plain, led = Timing(name, "names"), Timing(name, "names and 8 passages")
    for query, seeds in questions(graph, count, seed=11):
        timing = led if seeds else plain
        started, busy = time.perf_counter(), time.process_time()
        found = await reader.search(graph.organisation, graph.base, query=query, seeds=seeds, hops=HOPS)
        timing.milliseconds.append(1000 * (time.perf_counter() - started))
        timing.busy += 1000 * (time.process_time() - busy)
        timing.truncated += found.truncated
        assert found.entities, query
        assert found.passages, query
    return [plain, led]


def write_table(console: Console, graph: Synthetic, timings: Sequence[Timing]) -> None:
    table = Table(
        title=f"{graph.entities} entities, {len(graph.sources)} relations, the largest hub has {graph.degrees.max()}; "
        f"{HOPS} hops, promised: p95 {PROMISED:.0f} ms"
    )
    for heading in timings[0].row():
        table.add_column(heading, justify="left" if heading in ("engine", "asked by") else "right", no_wrap=True)
    for timing in timings:
        table.add_row(*map(str, timing.row().values()))
    console.print(table)


async def show_plan(database: Database, graph: Synthetic) -> None:
    """The walk's plan, as the role that serves reads it: from the twenty largest hubs, the worst there is."""
    seeds = [graph.id(int(n)) for n in np.argsort(-graph.degrees)[:20]]
    leaving = {"seeds": " ".join(seeds), "scores": " ".join("1" for _ in seeds), "step": STEP}
    async with database.organisation(graph.organisation) as connection:
        cursor = await connection.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {graph_sql.NEIGHBOURHOOD}",
            {"organisation": graph.organisation} | leaving | asdict(Bounds(hops=HOPS)),
        )
        for row in await cursor.fetchall():
            print("   ", row["QUERY PLAN"])


def place_of(folder: Path) -> tuple[UUID, UUID]:
    """The organisation and the knowledge base of the data in the folder."""
    known = folder / "place.json"
    if not known.exists():
        known.write_text(json.dumps([str(uuid4()), str(uuid4())]))
    organisation, base = json.loads(known.read_text())
    return UUID(organisation), UUID(base)


def ready_postgres(dsn: str, graph: Synthetic) -> str:
    """The database of the bench, with the graph in it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = 'graph'").fetchone():
            return psycopg.conninfo.make_conninfo(dsn, dbname="graph")
        connection.execute("CREATE DATABASE graph")
    own = psycopg.conninfo.make_conninfo(dsn, dbname="graph")
    asyncio.run(migrate(own, own))
    started = time.perf_counter()
    with psycopg.connect(own, autocommit=True) as connection:
        connection.execute("INSERT INTO organisations (id, name) VALUES (%s, 'bench')", (graph.organisation,))
        connection.execute(
            "INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension, graph_engine) "
            "VALUES (%s, %s, 'bench', 'none', 4, 'postgres')",
            (graph.organisation, graph.base),
        )
    load_postgres(own, graph)
    print(f"loaded into PostgreSQL in {time.perf_counter() - started:.0f} s")
    return own


async def run(dsn: str, server: Neo4jServer, graph: Synthetic, count: int, plans: bool) -> list[Timing]:
    database = Database(dsn, role=SERVING_ROLE)
    remote = Neo4jDatabase(server.uri, username=server.username, password=server.password)
    await database.open()
    try:
        neo4j = Neo4jGraphEngine(remote, PostgresGraphGround(database))
        if graph.base not in await neo4j.knowledge_bases(graph.organisation):
            started = time.perf_counter()
            await load_neo4j(remote, graph)
            print(f"loaded into Neo4j in {time.perf_counter() - started:.0f} s")
        timings = await measure("PostgreSQL", PostgresGraphEngine(database), graph, count)
        timings += await measure("Neo4j", neo4j, graph, count)
        if plans:
            await show_plan(database, graph)
        return timings
    finally:
        await remote.close()
        await database.close()


@contextmanager
def opened(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as made:
        yield Path(made)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times searches of a large knowledge graph on both engines.")
    parser.add_argument("--entities", type=int, default=100_000)
    parser.add_argument("--relations", type=int, default=500_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--plans", action="store_true")
    parser.add_argument("--json", type=Path, default=Path("build/bench/graph.json"), help="where the figures go")
    chosen = parser.parse_args()
    external = os.environ.get("NEO4J_URI")
    machine = surroundings()
    given = nullcontext(Neo4jServer(external, os.environ["NEO4J_PASSWORD"])) if external else None
    with opened(chosen.folder) as folder:
        graph = synthesise(*place_of(folder), entities=chosen.entities, relations=chosen.relations)
        embedded = EmbeddedPostgres(folder / "pg")
        try:
            dsn = ready_postgres(embedded.start(), graph)
            with given or run_neo4j(heap="2g", page_cache="1g", lasting=True) as server:
                timings = asyncio.run(run(dsn, server, graph, chosen.questions, chosen.plans))
        finally:
            embedded.stop()
    write_table(Console(width=None if sys.stdout.isatty() else 140), graph, timings)
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    figures = {"surroundings": machine, "searches": [timing.row() for timing in timings]}
    chosen.json.write_text(json.dumps(figures, indent=1), "utf8")
    sys.exit(any(timing.at(95) > PROMISED for timing in timings))


if __name__ == "__main__":
    main()
