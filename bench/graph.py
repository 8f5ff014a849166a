"""How long a search of a large knowledge graph takes, in PostgreSQL and in Neo4j, side by side.

    python -m bench.graph [--entities 100000] [--relations 500000] [--questions 200] [--folder DIR] [--plans]

A question names one to four entities, some of them hubs; every second one also goes on from passages, as a chat turn
does. With a folder the data stay there, and the next run goes on from them. The Neo4j is the one of the tests unless
NEO4J_URI and NEO4J_PASSWORD name another.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import psycopg

from bench.graph_data import Synthetic, load_neo4j, load_postgres, synthesise
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


def questions(graph: Synthetic, count: int) -> list[Question]:
    random = np.random.default_rng(11)
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


async def measure(name: str, reader: GraphReader, graph: Synthetic, asked: Sequence[Question]) -> None:
    for query, seeds in asked[:20]:
        await reader.search(graph.organisation, graph.base, query=query, seeds=seeds, hops=HOPS)
    plain: list[float] = []
    led: list[float] = []
    truncated, busy = 0, time.process_time()
    for query, seeds in asked:
        started = time.perf_counter()
        found = await reader.search(graph.organisation, graph.base, query=query, seeds=seeds, hops=HOPS)
        (led if seeds else plain).append(1000 * (time.perf_counter() - started))
        truncated += found.truncated
        assert found.entities, query
        assert found.passages, query
    for kind, times in (("entities of the question", plain), ("and of 8 passages", led)):
        p50, p95, p99 = np.percentile(times, [50, 95, 99])
        print(f"{name:10} {kind:25} p50 {p50:6.1f}  p95 {p95:6.1f}  p99 {p99:6.1f} ms   of {len(times)}")
    own = 1000 * (time.process_time() - busy) / len(asked)
    print(f"{name:10} truncated {truncated} of {len(asked)}; {own:.1f} ms of this process's own time a search")


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


async def run(dsn: str, server: Neo4jServer, graph: Synthetic, count: int, plans: bool) -> None:
    database = Database(dsn, role=SERVING_ROLE)
    remote = Neo4jDatabase(server.uri, username=server.username, password=server.password)
    await database.open()
    try:
        neo4j = Neo4jGraphEngine(remote, PostgresGraphGround(database))
        if graph.base not in await neo4j.knowledge_bases(graph.organisation):
            started = time.perf_counter()
            await load_neo4j(remote, graph)
            print(f"loaded into Neo4j in {time.perf_counter() - started:.0f} s")
        largest = int(graph.degrees.max())
        print(f"{graph.entities} entities, {len(graph.sources)} relations, the largest hub has {largest}; {HOPS} hops")
        asked = questions(graph, count)
        await measure("PostgreSQL", PostgresGraphEngine(database), graph, asked)
        await measure("Neo4j", neo4j, graph, asked)
        if plans:
            await show_plan(database, graph)
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
    chosen = parser.parse_args()
    external = os.environ.get("NEO4J_URI")
    given = nullcontext(Neo4jServer(external, os.environ["NEO4J_PASSWORD"])) if external else None
    with opened(chosen.folder) as folder:
        graph = synthesise(*place_of(folder), entities=chosen.entities, relations=chosen.relations)
        embedded = EmbeddedPostgres(folder / "pg")
        try:
            dsn = ready_postgres(embedded.start(), graph)
            with given or run_neo4j(heap="2g", page_cache="1g", lasting=True) as server:
                asyncio.run(run(dsn, server, graph, chosen.questions, chosen.plans))
        finally:
            embedded.stop()


if __name__ == "__main__":
    main()
