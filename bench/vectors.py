"""Search by vector at scale: knowledge bases from tiny to huge beside each other in one embedded PostgreSQL.

    python -m bench.vectors --data DIR [--sizes 100 10000 100000] [--wide 100000] [--words 100000] [--folder DIR]

Vectors are those of real passages, slightly perturbed; questions are real ones. For each size, with the index that
upkeep gives it and as the role that serves: recall@5 against the exact answer, p50 and p95 of finding the nearest 100,
and what building and keeping it costs. `--wide` adds one of 3,072 dimensions. Those up to `--words` chunks have
postings, too, and the whole search is timed. The database lies in `--folder` and is removed afterwards.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np
import psutil
import psycopg
from platformdirs import user_cache_path

from bench.collection import organisation, smaller, split_set
from bench.datasets import load_set
from bench.perturbed import Base, Nearest, fill, unit, widened
from bench.postings import Words
from bench.vector_cache import VectorCache
from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import migrate
from stores.postgres.own_indexes import PostgresOwnIndexes
from stores.postgres.search import PostgresSearch
from stores.postgres.vector_values import half_vector
from stores.postgres.word_counts import PostgresWordCounts
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.settings import E5, Settings

#: Sets whose passages and questions are taken, with how many documents of each.
SETS = {
    "retrieval/xquad/en": 240,
    "retrieval/adi": 82,
    "retrieval/scifact": 400,
    "docs_qa/northwind_pdf": 6,
    "docs_qa/aws_docs": 90,
    "multihop/musique100": 400,
}
WIDE = 3072
DEPTH = 5
POOL = 100
QUESTIONS = 200

_NEAREST = "SELECT id FROM nearest_chunks(%(organisation)s, %(base)s, %(vector)s, %(pool)s)"
_SIZES = """
SELECT coalesce(sum(pg_relation_size(name::regclass)), 0)::bigint AS index
FROM own_indexes WHERE knowledge_base_id = %(base)s
"""


@dataclass(frozen=True, slots=True)
class Material:
    """Real texts and questions, with their vectors."""

    texts: list[str]
    passages: Vectors
    questions: list[str]
    asked: Vectors


@dataclass(frozen=True, slots=True)
class Asked:
    """A knowledge base with the questions put to it and their exact answers."""

    base: Base
    vectors: Vectors
    answers: list[set[int]]
    questions: list[str]
    words: bool


async def gather(data: Path, embedder: TextEmbedder) -> Material:
    cache = VectorCache(embedder, user_cache_path("tributary-bench"))
    texts: list[str] = []
    questions: list[str] = []
    for name, documents in SETS.items():
        bench_set = smaller(load_set(data, name, limit=100), documents)
        texts += [text for split in split_set(bench_set, embedder) for text in split.texts]
        questions += [query.text for query in bench_set.queries]
    asked = [questions[row] for row in np.random.default_rng(3).permutation(len(questions))[:QUESTIONS]]
    passages = unit(await cache.documents(texts))
    vectors = unit(await cache.queries(asked))
    cache.close()
    return Material(texts, passages, asked, vectors)


async def fill_all(dsn: str, owner: UUID, material: Material, arguments: argparse.Namespace) -> list[Asked]:
    words = Words(material.texts)
    kinds = [(size, material.passages, material.asked) for size in arguments.sizes]
    if arguments.wide:
        kinds.append((arguments.wide, widened(material.passages, WIDE), widened(material.asked, WIDE)))
    asked = []
    with psycopg.connect(dsn) as connection:
        for size, real, vectors in kinds:
            started = time.perf_counter()
            nearest = Nearest(vectors, DEPTH)
            worded = size <= arguments.words and real.shape[1] != WIDE
            base = fill(connection, owner, real, size, nearest, words if worded else None)
            asked.append(Asked(base, vectors, nearest.answer(), material.questions, worded))
            print(f"{size:>9,} x {base.dimension}: filled in {time.perf_counter() - started:.0f} s", flush=True)
        connection.commit()
        connection.autocommit = True
        started = time.perf_counter()
        connection.execute("VACUUM ANALYZE")
        print(f"vacuumed in {time.perf_counter() - started:.0f} s", flush=True)
    return asked


async def ask(database: Database, asked: Asked) -> None:
    """Prints what searches of the knowledge base find, and take."""
    found, times = [], []

    async def one(vector: Vectors) -> list[set[int]]:
        parameters = {
            "organisation": asked.base.organisation_id,
            "base": asked.base.id,
            "vector": half_vector(vector),
            "pool": POOL,
        }
        started = time.perf_counter()
        async with database.organisation(asked.base.organisation_id) as connection:
            rows = await (await connection.execute(_NEAREST, parameters)).fetchall()
        times.append(time.perf_counter() - started)
        return [{asked.base.row(row["id"]) for row in rows}]

    async with _working(database, len(asked.vectors)) as told:
        for vector in asked.vectors:
            found += await one(vector)
    recall = np.mean([len(rows & exact) / len(exact) for rows, exact in zip(found, asked.answers, strict=True)])
    async with database.organisation(asked.base.organisation_id) as connection:
        row = await (await connection.execute(_SIZES, {"base": asked.base.id})).fetchone()
    assert row is not None
    print(
        f"{asked.base.size:>9,} x {asked.base.dimension}: recall@5 {recall:.3f}, nearest {_times(times)}, "
        f"{told[0]}, "
        f"index {row['index'] / 2**20:.0f} MB",
        flush=True,
    )


async def search(database: Database, asked: Asked, embedder: TextEmbedder) -> None:
    """Prints how long whole searches take: words and vectors."""
    store = PostgresSearch(database)
    times = []
    async with _working(database, len(asked.vectors)) as told:
        for vector, question in zip(asked.vectors, asked.questions, strict=True):
            started = time.perf_counter()
            await store.search(
                asked.base.organisation_id,
                asked.base.id,
                query=question,
                recent="",
                vector=vector,
                embedder=embedder,
                limit=50,
            )
            times.append(time.perf_counter() - started)
    print(f"{asked.base.size:>9,} x {asked.base.dimension}: whole search {_times(times)}, {told[0]}", flush=True)


def _times(seconds: Sequence[float]) -> str:
    """Of the questions after the first ten, which warm up caches and plans."""
    p50, p95 = np.percentile(1000 * np.array(seconds[10:]), (50, 95))
    return f"p50 {p50:.1f} ms, p95 {p95:.1f} ms"


@asynccontextmanager
async def _working(database: Database, searches: int) -> AsyncIterator[list[str]]:
    """Tells, afterwards, the processor time that a search took in the server: on a machine that others use too, time
    alone says little. The pool has one connection, which is the one that works."""
    async with database.pool.connection() as connection:
        backend = psutil.Process(connection.info.backend_pid)
    before, told = backend.cpu_times(), list[str]()
    yield told
    after = backend.cpu_times()
    spent = after.user + after.system - before.user - before.system
    told.append(f"{1000 * spent / searches:.1f} ms of the processor each")


async def measure(dsn: str, role: str | None, arguments: argparse.Namespace) -> None:
    embedders = TextEmbedders(Settings())
    embedder = await embedders.prepare(E5)
    material = await gather(arguments.data, embedder)
    print(f"{len(material.texts)} real passages, {len(material.questions)} questions", flush=True)
    database = Database(dsn, role=role, pool_size=1)
    await database.open()
    owner = await organisation(database)
    everything = await fill_all(dsn, owner, material, arguments)
    builder = Database(dsn, role=role)
    await builder.open()
    await _timed("indexes built", PostgresOwnIndexes(builder, dsn).tend)
    await _timed("words counted", PostgresWordCounts(builder).tend)
    await builder.close()
    for asked in everything:
        await ask(database, asked)
    for asked in everything:
        if asked.words:
            await search(database, asked, embedder)
    await database.close()
    await embedders.aclose()


async def _timed(what: str, call: Callable[[], Awaitable[object]]) -> None:
    started = time.perf_counter()
    result = await call()
    print(f"{what} in {time.perf_counter() - started:.0f} s: {result}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 10_000, 100_000])
    parser.add_argument("--wide", type=int, default=0)
    parser.add_argument("--words", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tributary-bench-", dir=arguments.folder) as folder:
        postgres = EmbeddedPostgres(Path(folder) / "pg")
        dsn = postgres.start()
        try:
            access = asyncio.run(migrate(dsn, dsn))
            asyncio.run(measure(dsn, access.role, arguments))
        finally:
            postgres.stop()


if __name__ == "__main__":
    main()
