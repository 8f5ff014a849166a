"""Retrieval quality of the product on judged sets: its splitter, its embedder, its PostgreSQL store.

    python -m bench.retrieval --data DIR [--sets NAME …] [--documents N] [--questions N]

Prints for each set nDCG@10 and recall@5 of vectors alone, words alone, both by reciprocal rank, and the store's own
order, with the median time of a search. A document counts by its best chunk; where judgements name pages, a page
does. `--documents` keeps a set small: those that are judged relevant first. Vectors are kept in a folder of the
platform's cache, by model and text.
"""

import argparse
import asyncio
import hashlib
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
from platformdirs import user_cache_path

from bench.datasets import BenchDocument, BenchSet, load_set
from bench.metrics import ndcg_at_k, recall_at_k
from nodes.ingest.splitting import embedding_text, split
from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.migrate import migrate
from stores.postgres.search import PostgresSearch
from tributary.domain.ids import new_id
from tributary.domain.knowledge import ChunkDraft, Document, DocumentStatus, KnowledgeBase, Stage
from tributary.domain.retrieval import Hit
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.settings import E5, Settings

DEFAULT_SETS = (
    "retrieval/scifact",
    "retrieval/xquad/en",
    "retrieval/cmrc2018_zh",
    "docs_qa/northwind_pdf",
    "docs_qa/aws_docs",
)
#: Hits asked for: enough that every unit of the first ten has its best chunk among them.
HITS = 100
RRF_K = 60


class VectorCache:
    """Embeds each text once for all runs."""

    def __init__(self, embedder: TextEmbedder, folder: Path) -> None:
        self._embedder = embedder
        self._folder = folder / embedder.name.replace("/", "-")
        self._folder.mkdir(parents=True, exist_ok=True)

    async def documents(self, texts: Sequence[str]) -> Vectors:
        return await self._kept("passages", texts, self._embedder.embed_documents)

    async def queries(self, texts: Sequence[str]) -> Vectors:
        async def embed(batch: Sequence[str]) -> Vectors:
            return np.stack([await self._embedder.embed_query(text) for text in batch])

        return await self._kept("questions", texts, embed)

    async def _kept(self, kind: str, texts: Sequence[str], embed: Callable[..., object]) -> Vectors:
        digest = hashlib.sha256("\0".join((kind, *texts)).encode()).hexdigest()[:32]
        path = self._folder / f"{digest}.npy"
        if not path.exists():
            vectors = await embed(texts)  # type: ignore[misc]
            np.save(path, vectors)
        kept: Vectors = np.load(path)
        return kept


class Collection:
    """A set in a knowledge base of its own."""

    def __init__(self, database: Database, organisation_id: UUID, embedder: TextEmbedder, cache: VectorCache) -> None:
        self.search = PostgresSearch(database)
        self.organisation_id = organisation_id
        self.units: dict[str, str] = {}
        self._knowledge = PostgresKnowledge(database)
        self._embedder = embedder
        self._cache = cache

    async def fill(self, bench_set: BenchSet) -> KnowledgeBase:
        base = await self._knowledge.create_knowledge_base(
            self.organisation_id,
            name=bench_set.name,
            description="",
            embedding=self._embedder.name,
            dimension=self._embedder.dimension,
        )
        chunks = [await asyncio.to_thread(self._split, document) for document in bench_set.documents]
        texts = [
            embedding_text(chunk, document.parsed.title)
            for document, drafts in zip(bench_set.documents, chunks, strict=True)
            for chunk in drafts
        ]
        vectors = await self._cache.documents(texts)
        first = 0
        for document, drafts in zip(bench_set.documents, chunks, strict=True):
            await self._write(base, document, drafts, vectors[first : first + len(drafts)])
            first += len(drafts)
        print(f"{bench_set.name}: {len(bench_set.documents)} documents, {len(texts)} chunks")
        return base

    def _split(self, document: BenchDocument) -> list[ChunkDraft]:
        return split(document.parsed, count_tokens=self._embedder.count_tokens, max_tokens=self._embedder.max_tokens)

    async def _write(
        self, base: KnowledgeBase, document: BenchDocument, chunks: Sequence[ChunkDraft], vectors: Vectors
    ) -> None:
        row = _document(base, document.name)
        await self._knowledge.add_document(row)
        summary = vectors[:3].mean(axis=0)
        ids = await self._knowledge.write_document(
            self.organisation_id,
            row.id,
            row.revision,
            parsed=document.parsed,
            summary="",
            topics=[],
            document_type="",
            summary_vector=summary if len(chunks) else None,
            chunks=chunks,
            vectors=vectors,
        )
        assert ids is not None
        self.units |= {str(ids[chunk.ordinal]): document.unit_of(chunk.page) for chunk in chunks}


def _document(base: KnowledgeBase, name: str) -> Document:
    now = datetime.now(UTC)
    return Document(
        id=new_id(),
        organisation_id=base.organisation_id,
        knowledge_base_id=base.id,
        filename=name,
        title=name,
        content_type="text/markdown",
        size=0,
        sha256="",
        storage_key="",
        status=DocumentStatus.PROCESSING,
        stage=Stage.INDEXING,
        progress=0.0,
        importance=0.5,
        created_at=now,
        updated_at=now,
    )


def rankings(hits: Sequence[Hit], units: Mapping[str, str]) -> dict[str, list[str]]:
    """The units of a question's hits, in each order that is compared."""
    by_vector = sorted(hits, key=lambda hit: -hit["vector"])
    by_words = sorted((hit for hit in hits if hit["text"] > 0), key=lambda hit: -hit["text"])
    fused: dict[str, float] = {}
    for order in (by_vector, by_words):
        for place, hit in enumerate(order):
            fused[hit["chunkId"]] = fused.get(hit["chunkId"], 0.0) + 1 / (RRF_K + place + 1)
    orders = {
        "vectors": [hit["chunkId"] for hit in by_vector],
        "words": [hit["chunkId"] for hit in by_words],
        "RRF": sorted(fused, key=lambda chunk_id: -fused[chunk_id]),
        "ours": [hit["chunkId"] for hit in hits],
    }
    return {name: list(dict.fromkeys(units[chunk_id] for chunk_id in order)) for name, order in orders.items()}


async def measure(collection: Collection, bench_set: BenchSet, embedder: TextEmbedder, cache: VectorCache) -> None:
    base = await collection.fill(bench_set)
    vectors = await cache.queries([query.text for query in bench_set.queries])
    scores: dict[str, list[tuple[float, float]]] = {}
    times = []
    for query, vector in zip(bench_set.queries, vectors, strict=True):
        started = time.perf_counter()
        hits = await collection.search.search(
            collection.organisation_id,
            base.id,
            query=query.text,
            recent="",
            vector=vector,
            embedder=embedder,
            limit=2 * HITS,
        )
        times.append(time.perf_counter() - started)
        grades = bench_set.judgements[query.id]
        for name, ranking in rankings(hits, collection.units).items():
            scores.setdefault(name, []).append((ndcg_at_k(ranking, grades), recall_at_k(ranking, grades, 5)))
    for name, each in scores.items():
        ndcg, recall = np.mean(each, axis=0)
        print(f"  {name:8} nDCG@10 {ndcg:.3f}  recall@5 {recall:.3f}")
    print(f"  {len(times)} searches, median {1000 * statistics.median(times):.0f} ms")


def smaller(bench_set: BenchSet, documents: int) -> BenchSet:
    """The set with that many documents: the relevant ones, then others in an order that never changes."""
    relevant = {unit for query in bench_set.queries for unit in bench_set.judgements[query.id]}
    ordered = sorted(
        bench_set.documents,
        key=lambda each: (not each.paged and each.name not in relevant, hashlib.sha256(each.name.encode()).digest()),
    )
    return replace(bench_set, documents=tuple(ordered[:documents]))


async def run(arguments: argparse.Namespace) -> None:
    embedders = TextEmbedders(Settings())
    embedder = await embedders.prepare(arguments.embedding)
    cache = VectorCache(embedder, user_cache_path("tributary-bench"))
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        postgres = EmbeddedPostgres(Path(folder) / "pg")
        dsn = postgres.start()
        try:
            access = await migrate(dsn, dsn)
            database = Database(dsn, role=access.role)
            await database.open()
            organisation_id = await _organisation(database)
            for name in arguments.sets:
                bench_set = smaller(load_set(arguments.data, name, limit=arguments.questions), arguments.documents)
                await measure(Collection(database, organisation_id, embedder, cache), bench_set, embedder, cache)
            await database.close()
        finally:
            postgres.stop()
    await embedders.aclose()


async def _organisation(database: Database) -> UUID:
    created = uuid4()
    async with database.upkeep() as connection:
        await connection.execute("INSERT INTO organisations (id, name) VALUES (%s, 'bench')", (created,))
    return created


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(DEFAULT_SETS))
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--questions", type=int, default=600)
    parser.add_argument("--embedding", default=E5)
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
