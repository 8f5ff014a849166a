"""Retrieval quality of the product on judged sets: its splitter, its embedders, its PostgreSQL store.

    python -m bench.retrieval --data DIR [--embedding NAME …] [--sets NAME …] [--documents N] [--questions N]

For each embedder and set: nDCG@10 and recall@5 of vectors alone, words alone, BM25 over whole documents, the two parts
fused by reciprocal rank with equal weights, and the product's own order; how much the product gains over each of the
first three, with the 95 % interval of a paired bootstrap; and a verdict. A document counts by its best chunk; where
judgements name pages, a page does. One configuration serves all sets. Exits with 1 where a promise of `bench.outcomes`
is broken.

Vectors are kept text by text in a folder of the platform's cache; figures go to `--json` too. `--documents` keeps a
set small: those that are judged relevant first.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from platformdirs import user_cache_path
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from bench.collection import SplitDocument, fill, organisation, smaller, split_set
from bench.datasets import BenchSet, load_set
from bench.machine import surroundings
from bench.outcomes import Outcome, broken_promises
from bench.parts import Parts
from bench.retrieval_report import write_json, write_row, write_table
from bench.vector_cache import VectorCache
from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import migrate
from stores.postgres.search import PostgresSearch
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.settings import E5, MINILM, Settings

SETS = (
    *(f"docs_qa/{name}" for name in ("anthropic_docs", "aws_docs", "northwind_pdf")),
    *(f"multihop/{name}" for name in ("hotpotqa100", "musique100")),
    *(f"retrieval/{name}" for name in ("adi", "cisi", "cmrc2018_zh", "code_chunks", "cranfield", "limit_small", "med")),
    *(f"retrieval/{name}" for name in ("scifact", "xquad/de", "xquad/en", "xquad/ru", "xquad/th")),
)
#: Hits asked for: enough that every unit of the first ten has its best chunk among them.
HITS = 100
#: As many documents as no set has.
WHOLE = 1_000_000


@dataclass(frozen=True)
class Bench:
    """What the measurement of every set of an embedder shares."""

    database: Database
    organisation_id: UUID
    embedder: TextEmbedder
    cache: VectorCache
    progress: Progress

    async def measure(self, bench_set: BenchSet) -> Outcome:
        documents = await asyncio.to_thread(split_set, bench_set, self.embedder)
        texts = [text for each in documents for text in each.texts]
        questions = [query.text for query in bench_set.queries]
        with self._bar(f"{bench_set.name}: embedding", len(texts) + len(questions)) as task:
            vectors = await self.cache.documents(texts, lambda count: self.progress.advance(task, count))
            asked = await self.cache.queries(questions, lambda count: self.progress.advance(task, count))
        outcome = Outcome(self.embedder.name, bench_set, chunks=len(texts))
        await self._search(outcome, documents, vectors, asked)
        return outcome

    async def _search(
        self, outcome: Outcome, documents: Sequence[SplitDocument], vectors: Vectors, asked: Vectors
    ) -> None:
        base, units = await fill(self.database, self.organisation_id, self.embedder, documents, vectors)
        parts, search = Parts(documents, vectors), PostgresSearch(self.database)
        queries = outcome.bench_set.queries
        with self._bar(f"{outcome.bench_set.name}: searching", len(queries)) as task:
            for query, vector in zip(queries, asked, strict=True):
                started = time.perf_counter()
                hits = await search.search(
                    self.organisation_id,
                    base.id,
                    query=query.text,
                    recent="",
                    vector=vector,
                    embedder=self.embedder,
                    limit=HITS,
                )
                outcome.seconds.append(time.perf_counter() - started)
                ours = list(dict.fromkeys(units[hit["chunkId"]] for hit in hits))
                outcome.judge(query, parts.rankings(query.text, vector) | {"ours": ours})
                self.progress.advance(task)

    @contextmanager
    def _bar(self, title: str, total: int) -> Iterator[TaskID]:
        task = self.progress.add_task(title, total=total)
        try:
            yield task
        finally:
            self.progress.remove_task(task)


async def measure_all(options: argparse.Namespace, database: Database, progress: Progress) -> list[Outcome]:
    organisation_id = await organisation(database)
    embedders = TextEmbedders(Settings())
    outcomes = []
    overall = progress.add_task("sets", total=len(options.embedding) * len(options.sets))
    for name in options.embedding:
        embedder = await embedders.prepare(name)
        cache = VectorCache(embedder, user_cache_path("tributary-bench"))
        bench = Bench(database, organisation_id, embedder, cache, progress)
        for chosen in options.sets:
            bench_set = smaller(load_set(options.data, chosen, limit=options.questions), options.documents)
            outcomes.append(await bench.measure(bench_set))
            write_row(progress.console, outcomes[-1])
            progress.advance(overall)
        cache.close()
    await embedders.aclose()
    return outcomes


async def run(options: argparse.Namespace, console: Console) -> list[Outcome]:
    """Everything on a PostgreSQL of its own, in a folder that goes with the run."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        postgres = EmbeddedPostgres(Path(folder) / "pg")
        dsn = postgres.start()
        try:
            access = await migrate(dsn, dsn)
            database = Database(dsn, role=access.role)
            await database.open()
            try:
                with Progress(*columns, console=console, transient=True) as progress:
                    return await measure_all(options, database, progress)
            finally:
                await database.close()
        finally:
            postgres.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--embedding", nargs="+", default=[E5, MINILM], help="local embedders, one after the other")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--documents", type=int, default=WHOLE, help="documents of a set at most")
    parser.add_argument("--questions", type=int, default=600, help="questions of a set at most")
    parser.add_argument("--json", type=Path, default=Path("build/bench/retrieval.json"), help="where the figures go")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 230)
    started = surroundings()
    outcomes = asyncio.run(run(options, console))
    broken = broken_promises(outcomes, whole=options.documents >= WHOLE)
    write_table(console, outcomes, started, broken)
    write_json(options.json, outcomes, started, broken)
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
