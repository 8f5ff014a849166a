"""One set of stores over one place to keep things, in memory or on PostgreSQL, and short ways to fill it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from stores.memory.graph_engine import MemoryGraphEngine
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.search import MemorySearch
from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph_browsing import Neo4jGraphEngine
from stores.postgres.database import Database
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.graph_ground import PostgresGraphGround
from stores.postgres.knowledge import PostgresKnowledge
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.search import PostgresSearch
from stores.protocols.graph_engines import GraphEngine
from stores.protocols.knowledge import ImageVectors
from tests.support.neo4j import Neo4jServer
from tributary.domain.ids import new_id
from tributary.domain.knowledge import (
    ChunkDraft,
    Document,
    DocumentStatus,
    KnowledgeBase,
    Page,
    ParsedDocument,
    Stage,
)
from tributary.models.protocols import Vectors

DIMENSION = 4


class PlainEmbedder:
    """Cosines are the similarities; nothing is embedded: tests give vectors themselves."""

    name = "test/plain"
    dimension = DIMENSION
    max_tokens = 64

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([await self.embed_query(text) for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return towards(len(text))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def similarity(self, cosine: Vectors) -> Vectors:
        return np.clip(cosine, 0.0, 1.0)


def towards(*weights: float) -> Vectors:
    """The unit vector with these first coordinates."""
    vector = np.zeros(DIMENSION, np.float32)
    vector[: len(weights)] = weights
    return np.asarray(vector / np.linalg.norm(vector), np.float32)


@dataclass(frozen=True)
class World:
    """The stores under test, and two organisations that exist in them."""

    knowledge: MemoryKnowledge | PostgresKnowledge
    search: MemorySearch | PostgresSearch
    graph: GraphEngine
    organisation_id: UUID
    other_id: UUID
    embedder: PlainEmbedder = field(default_factory=PlainEmbedder)
    #: The PostgreSQL that keeps it; None in memory.
    postgres: Database | None = None

    @property
    def database(self) -> Database:
        assert self.postgres is not None, "a world in memory has no database"
        return self.postgres

    async def knowledge_base(self, name: str = "manuals", *, organisation_id: UUID | None = None) -> KnowledgeBase:
        return await self.knowledge.create_knowledge_base(
            organisation_id or self.organisation_id,
            name=name,
            description="",
            embedding=self.embedder.name,
            dimension=DIMENSION,
        )

    async def document(self, knowledge_base: KnowledgeBase, **changes: Any) -> Document:
        document = new_document(knowledge_base, **changes)
        await self.knowledge.add_document(document)
        return document

    async def write(
        self,
        document: Document,
        texts: Sequence[str],
        vectors: Sequence[Vectors] | None = None,
        *,
        revision: int | None = None,
        summary: str = "",
        summary_vector: Vectors | None = None,
        title: str = "",
        images: Sequence[ImageVectors] = (),
    ) -> Mapping[int, UUID] | None:
        """Each text as a chunk and a page of its own."""
        drafts = draft(texts)
        pages = tuple(Page(each.ordinal + 1, each.start, each.end) for each in drafts)
        return await self.knowledge.write_document(
            document.organisation_id,
            document.id,
            document.revision if revision is None else revision,
            parsed=ParsedDocument("\n".join(texts), pages, title),
            summary=summary,
            topics=["topic"],
            document_type="manual",
            summary_vector=summary_vector,
            chunks=drafts,
            vectors=np.stack(vectors) if vectors else np.tile(towards(1), (len(texts), 1)),
            images=images,
            embedding=self.embedder.name,
        )

    async def written(self, knowledge_base: KnowledgeBase, *texts: str, **changes: Any) -> list[UUID]:
        """A document of these chunks; their ids in order."""
        document = await self.document(knowledge_base, **changes)
        ids = await self.write(document, texts)
        assert ids is not None
        return [ids[ordinal] for ordinal in range(len(texts))]


def draft(texts: Sequence[str]) -> list[ChunkDraft]:
    drafts, start = [], 0
    for ordinal, text in enumerate(texts):
        drafts.append(ChunkDraft(ordinal, text, start, start + len(text), page=ordinal + 1))
        start += len(text) + 1
    return drafts


def new_document(knowledge_base: KnowledgeBase, **changes: Any) -> Document:
    """A queued document."""
    now = datetime.now(UTC)
    values: dict[str, Any] = {
        "id": new_id(),
        "organisation_id": knowledge_base.organisation_id,
        "knowledge_base_id": knowledge_base.id,
        "filename": "guide.md",
        "title": "Guide",
        "content_type": "text/markdown",
        "size": 10,
        "sha256": "0" * 64,
        "storage_key": f"documents/{uuid4()}",
        "status": DocumentStatus.QUEUED,
        "stage": Stage.QUEUED,
        "progress": 0.0,
        "importance": 0.5,
        "created_at": now,
        "updated_at": now,
    }
    return Document(**(values | changes))


@asynccontextmanager
async def open_world(dsn: str | None, neo4j: Neo4jServer | None = None) -> AsyncIterator[World]:
    """A world on the PostgreSQL of `dsn`, or in memory without one. With `neo4j` its graph is there."""
    if dsn is None:
        knowledge = MemoryKnowledge()
        yield World(knowledge, MemorySearch(knowledge), MemoryGraphEngine(knowledge), uuid4(), uuid4())
        return
    database = Database(dsn, role=SERVING_ROLE, pool_size=8)
    await database.open()
    try:
        organisations = await _organisation(database), await _organisation(database)
        async with open_graph(database, neo4j) as graph:
            yield World(PostgresKnowledge(database), PostgresSearch(database), graph, *organisations, postgres=database)
    finally:
        await database.close()


@asynccontextmanager
async def open_graph(database: Database, neo4j: Neo4jServer | None) -> AsyncIterator[GraphEngine]:
    if neo4j is None:
        yield PostgresGraphEngine(database)
        return
    remote = neo4j_database(neo4j)
    try:
        yield Neo4jGraphEngine(remote, PostgresGraphGround(database))
    finally:
        await remote.close()


def neo4j_database(server: Neo4jServer) -> Neo4jDatabase:
    return Neo4jDatabase(server.uri, username=server.username, password=server.password, patience=2.0)


async def _organisation(database: Database) -> UUID:
    created = uuid4()
    async with database.upkeep() as connection:
        await connection.execute("INSERT INTO organisations (id, name) VALUES (%s, %s)", (created, str(created)))
    return created
