"""A judged set as the product holds it: split, embedded, and written to a knowledge base of its own."""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

from bench.datasets import BenchDocument, BenchSet
from nodes.ingest.extracting import extract
from nodes.ingest.splitting import embedding_text, split
from stores.postgres.database import Database
from stores.postgres.knowledge import PostgresKnowledge
from stores.protocols.graph import GraphWriter
from tributary.domain.ids import new_id
from tributary.domain.knowledge import ChunkDraft, Document, DocumentStatus, KnowledgeBase, Stage
from tributary.models.protocols import TextEmbedder, Vectors


@dataclass(frozen=True, slots=True)
class SplitDocument:
    document: BenchDocument
    chunks: list[ChunkDraft]

    @property
    def texts(self) -> list[str]:
        """What is embedded, a text a chunk."""
        return [embedding_text(chunk, self.document.parsed.title) for chunk in self.chunks]

    @property
    def units(self) -> list[str]:
        """By which id the judgements know each chunk."""
        return [self.document.unit_of(chunk.page) for chunk in self.chunks]


def split_set(bench_set: BenchSet, embedder: TextEmbedder) -> list[SplitDocument]:
    """Its documents, as the product's splitter cuts them for this embedder."""
    return [
        SplitDocument(
            document,
            split(document.parsed, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens),
        )
        for document in bench_set.documents
    ]


def smaller(bench_set: BenchSet, documents: int) -> BenchSet:
    """The set with that many documents: the relevant ones, then others in an order that never changes."""
    relevant = {unit for query in bench_set.queries for unit in bench_set.judgements[query.id]}
    ordered = sorted(
        bench_set.documents,
        key=lambda each: (not each.paged and each.name not in relevant, hashlib.sha256(each.name.encode()).digest()),
    )
    return replace(bench_set, documents=tuple(ordered[:documents]))


async def organisation(database: Database) -> UUID:
    """A new organisation for the knowledge bases of a run."""
    created = new_id()
    async with database.upkeep() as connection:
        await connection.execute("INSERT INTO organisations (id, name) VALUES (%s, %s)", (created, f"bench-{created}"))
    return created


async def fill(
    database: Database,
    organisation_id: UUID,
    embedder: TextEmbedder,
    documents: Sequence[SplitDocument],
    vectors: Vectors,
    *,
    graph: GraphWriter | None = None,
) -> tuple[KnowledgeBase, dict[str, str]]:
    """Writes the documents, and what the local extractor finds in them where there is a `graph`; gives their knowledge
    base, and by chunk id the unit that its judgements know."""
    knowledge = PostgresKnowledge(database)
    base = await knowledge.create_knowledge_base(
        organisation_id, name="judged", description="", embedding=embedder.name, dimension=embedder.dimension
    )
    units: dict[str, str] = {}
    first = 0
    for each in documents:
        behind = first + len(each.chunks)
        units |= await _write(knowledge, base, each, vectors[first:behind], graph)
        first = behind
    return base, units


async def _write(
    knowledge: PostgresKnowledge,
    base: KnowledgeBase,
    split_document: SplitDocument,
    vectors: Vectors,
    graph: GraphWriter | None,
) -> dict[str, str]:
    row = _document(base, split_document.document)
    await knowledge.add_document(row)
    ids = await knowledge.write_document(
        base.organisation_id,
        row.id,
        row.revision,
        parsed=split_document.document.parsed,
        summary="",
        topics=[],
        document_type="",
        # Stands in for a summary's vector: writing summaries is another measurement.
        summary_vector=vectors[:3].mean(axis=0) if len(vectors) else None,
        chunks=split_document.chunks,
        vectors=vectors,
    )
    assert ids is not None
    if graph is not None:
        chunks = split_document.chunks
        draft = await asyncio.to_thread(extract, split_document.document.parsed, chunks)
        key = base.organisation_id, base.id, row.id
        await graph.write_document(*key, draft, [ids[chunk.ordinal] for chunk in chunks])
    return {
        str(ids[chunk.ordinal]): unit for chunk, unit in zip(split_document.chunks, split_document.units, strict=True)
    }


def _document(base: KnowledgeBase, document: BenchDocument) -> Document:
    now = datetime.now(UTC)
    return Document(
        id=new_id(),
        organisation_id=base.organisation_id,
        knowledge_base_id=base.id,
        filename=document.name,
        title=document.parsed.title or document.name,
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
