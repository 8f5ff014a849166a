"""Moving a knowledge base to another embedding, in PostgreSQL.

New vectors of chunks and summaries wait in tables of their own; those of pictures stand beside the old ones already,
since pictures are only ever searched by the model of their knowledge base. The switch locks the knowledge base against
documents that are being written, which lock it too, and against nothing else: searches and uploads go on.
"""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow

from stores.postgres import knowledge_rows as rows
from stores.postgres.database import Connection, Database, translated
from stores.postgres.index_pause import without_index
from stores.postgres.statements import query
from stores.postgres.vector_values import half_vector
from stores.protocols.reindexing import Extent, Moved, Space, StoredChunk, StoredSummary
from stores.vectors import require_directions, require_vectors
from tributary.domain.errors import Conflict, NotFound
from tributary.models.protocols import Vectors

_KNOWN = """
SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s FOR NO KEY UPDATE
"""
_SPACE = """
SELECT embedding, dimension, image_model FROM reindexings
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
"""
_BEGIN = """
INSERT INTO reindexings (organisation_id, knowledge_base_id, embedding, dimension, image_model)
VALUES (%(organisation)s, %(knowledge_base)s, %(embedding)s, %(dimension)s, %(image_model)s)
"""
_FORGET = tuple(
    f"DELETE FROM {table} WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s"
    for table in ("next_chunk_vectors", "next_documents", "reindexings")
)

_HERE = "c.organisation_id = %(organisation)s AND c.knowledge_base_id = %(knowledge_base)s"
_UNMOVED_CHUNKS = f"""
FROM chunks c
WHERE {_HERE} AND NOT EXISTS (
    SELECT FROM next_chunk_vectors n WHERE n.organisation_id = c.organisation_id AND n.chunk_id = c.id
)
"""
_UNMOVED_DOCUMENTS = """
FROM documents d
WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s AND d.indexed_revision > 0
  AND NOT EXISTS (
    SELECT FROM next_documents n
    WHERE n.organisation_id = d.organisation_id AND n.document_id = d.id AND n.revision = d.indexed_revision
  )
"""
_EXTENT = f"""
SELECT (SELECT count(*) FROM chunks c WHERE {_HERE})
       + (SELECT count(*) FROM documents d WHERE d.organisation_id = %(organisation)s
          AND d.knowledge_base_id = %(knowledge_base)s AND d.indexed_revision > 0) AS total,
       (SELECT count(*) {_UNMOVED_CHUNKS}) + (SELECT count(*) {_UNMOVED_DOCUMENTS}) AS left_over
"""
_CHUNKS_LEFT = f"SELECT c.id {_UNMOVED_CHUNKS} ORDER BY c.id"
_DOCUMENTS_LEFT = f"""
SELECT {rows.DOCUMENT_COLUMNS}, indexed_revision {_UNMOVED_DOCUMENTS} ORDER BY d.id LIMIT %(limit)s
"""
_CHUNK = """
SELECT c.id, c.document_id, c.ordinal, d.title, c.heading, c.content, c.start_offset, c.end_offset, c.page
"""
_CHUNKS = f"""
{_CHUNK}
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (id, position)
JOIN chunks c ON c.organisation_id = %(organisation)s AND c.id = wanted.id
JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
ORDER BY wanted.position
"""
_DOCUMENT_CHUNKS = f"""
{_CHUNK}
FROM chunks c JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
WHERE c.organisation_id = %(organisation)s AND c.document_id = %(document)s
ORDER BY c.ordinal
"""
# Chunks are locked against a deletion until their vectors are stored; those that are gone are left out.
_KEEP_VECTORS = """
WITH present AS MATERIALIZED (
    SELECT c.id, new.embedding
    FROM unnest(%(ids)s::uuid[], %(embeddings)b::halfvec[]) AS new (id, embedding)
    JOIN chunks c ON c.organisation_id = %(organisation)s AND c.id = new.id
    FOR KEY SHARE OF c
)
INSERT INTO next_chunk_vectors (organisation_id, knowledge_base_id, chunk_id, embedding)
SELECT %(organisation)s, %(knowledge_base)s, id, embedding FROM present
ON CONFLICT (organisation_id, chunk_id) DO UPDATE SET embedding = EXCLUDED.embedding
"""
_CURRENT = """
SELECT id FROM documents
WHERE organisation_id = %(organisation)s AND id = %(document)s AND indexed_revision = %(revision)s FOR NO KEY UPDATE
"""
_KEEP_DOCUMENT = """
INSERT INTO next_documents (organisation_id, knowledge_base_id, document_id, revision, summary_embedding)
VALUES (%(organisation)s, %(knowledge_base)s, %(document)s, %(revision)s, %(summary)s)
ON CONFLICT (organisation_id, document_id)
    DO UPDATE SET revision = EXCLUDED.revision, summary_embedding = EXCLUDED.summary_embedding
"""
_DROP_IMAGES = """
DELETE FROM chunk_images i USING chunks c
WHERE i.organisation_id = %(organisation)s AND i.model = %(image_model)s AND c.organisation_id = i.organisation_id
  AND c.id = i.chunk_id AND c.document_id = %(document)s
"""
_KEEP_IMAGES = """
INSERT INTO chunk_images (organisation_id, knowledge_base_id, model, chunk_id, embedding, number)
SELECT %(organisation)s, %(knowledge_base)s, %(image_model)s, new.*
FROM unnest(%(chunks)s::uuid[], %(embeddings)b::halfvec[]) WITH ORDINALITY AS new
ON CONFLICT (organisation_id, chunk_id, model, number) DO NOTHING
"""

_ANY_LEFT = f"SELECT EXISTS (SELECT {_UNMOVED_CHUNKS}) OR EXISTS (SELECT {_UNMOVED_DOCUMENTS}) AS left_over"
_SWITCH = (
    """
    UPDATE chunks c SET embedding = n.embedding FROM next_chunk_vectors n
    WHERE c.organisation_id = %(organisation)s AND c.knowledge_base_id = %(knowledge_base)s
      AND n.organisation_id = c.organisation_id AND n.knowledge_base_id = c.knowledge_base_id AND n.chunk_id = c.id
    """,
    """
    UPDATE documents d SET summary_embedding = n.summary_embedding FROM next_documents n
    WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s
      AND n.organisation_id = d.organisation_id AND n.document_id = d.id
    """,
    """
    DELETE FROM chunk_images
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND model <> %(image_model)s
    """,
    """
    UPDATE knowledge_bases SET embedding = %(embedding)s, dimension = %(dimension)s
    WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
    """,
    *_FORGET,
)


class PostgresReindexing:
    """`ReindexStore` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @asynccontextmanager
    async def hold(self, organisation_id: UUID, knowledge_base_id: UUID) -> AsyncIterator[None]:
        key = _lock_key(organisation_id, knowledge_base_id)
        # A connection of its own: with it the lock goes, whatever becomes of this process.
        dsn = make_conninfo(self._database.dsn, application_name="tributary reindex")
        with translated():
            async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
                taken = await (await connection.execute("SELECT pg_try_advisory_lock(%s)", (key,))).fetchone()
                if taken is None or not taken[0]:
                    raise Conflict("The knowledge base is being reindexed already")
                yield

    async def begin(self, organisation_id: UUID, knowledge_base_id: UUID, space: Space) -> Extent:
        values = _named(organisation_id, knowledge_base_id) | {
            "embedding": space.embedding,
            "dimension": space.dimension,
            "image_model": space.image_model,
        }
        async with self._database.organisation(organisation_id) as connection:
            await _require_known(connection, values)
            former = await _one(connection, _SPACE, values)
            if former is None or Space(**former) != space:
                for statement in _FORGET:
                    await connection.execute(statement, values)
                await connection.execute(_BEGIN, values)
            extent = await _one(connection, _EXTENT, values)
        assert extent is not None
        return Extent(done=int(extent["total"] - extent["left_over"]), total=int(extent["total"]))

    async def chunks_left(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[UUID]:
        values = _named(organisation_id, knowledge_base_id)
        return [row["id"] for row in await query(self._database, organisation_id, _CHUNKS_LEFT, values)]

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[StoredChunk]:
        return [_chunk(row) for row in await query(self._database, organisation_id, _CHUNKS, {"ids": list(ids)})]

    async def document_chunks(self, organisation_id: UUID, document_id: UUID) -> Sequence[StoredChunk]:
        found = await query(self._database, organisation_id, _DOCUMENT_CHUNKS, {"document": document_id})
        return [_chunk(row) for row in found]

    async def keep_vectors(
        self, organisation_id: UUID, knowledge_base_id: UUID, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        values = _named(organisation_id, knowledge_base_id)
        async with self._database.organisation(organisation_id) as connection:
            space = await _space(connection, values)
            require_vectors(vectors, count=len(ids), dimension=space.dimension)
            values |= {"ids": list(ids), "embeddings": [half_vector(vector) for vector in vectors]}
            await connection.execute(_KEEP_VECTORS, values)

    async def documents_left(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, limit: int
    ) -> Sequence[StoredSummary]:
        values = _named(organisation_id, knowledge_base_id) | {"limit": limit}
        found = await query(self._database, organisation_id, _DOCUMENTS_LEFT, values)
        return [_summary(row) for row in found]

    async def keep_documents(self, organisation_id: UUID, knowledge_base_id: UUID, moved: Sequence[Moved]) -> None:
        values = _named(organisation_id, knowledge_base_id)
        async with self._database.organisation(organisation_id) as connection:
            space = await _space(connection, values)
            for each in sorted(moved, key=lambda each: each.document_id):
                _require_space(each, space)
                await _keep_document(connection, values | {"image_model": space.image_model}, each)

    async def switch(self, organisation_id: UUID, knowledge_base_id: UUID) -> bool:
        values = _named(organisation_id, knowledge_base_id)
        [left] = await query(self._database, organisation_id, _ANY_LEFT, values)
        if left["left_over"]:
            return False
        async with without_index(self._database, organisation_id, knowledge_base_id):
            return await self._switch(organisation_id, values)

    async def _switch(self, organisation_id: UUID, values: dict[str, Any]) -> bool:
        async with self._database.organisation(organisation_id) as connection:
            await _require_known(connection, values)
            space = await _space(connection, values)
            left = await _one(connection, _ANY_LEFT, values)
            if left is None or left["left_over"]:
                return False
            values |= {
                "embedding": space.embedding,
                "dimension": space.dimension,
                "image_model": space.image_model,
            }
            for statement in _SWITCH:
                await connection.execute(statement, values)
        return True

    async def discard(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        values = _named(organisation_id, knowledge_base_id)
        async with self._database.organisation(organisation_id) as connection:
            await _require_known(connection, values)
            for statement in _FORGET:
                await connection.execute(statement, values)


async def _keep_document(connection: Connection, values: dict[str, Any], moved: Moved) -> None:
    summary = None if moved.summary is None else half_vector(moved.summary)
    named = values | {"document": moved.document_id, "revision": moved.revision, "summary": summary}
    if await _one(connection, _CURRENT, named) is None:
        return
    await connection.execute(_KEEP_DOCUMENT, named)
    if moved.images is not None:
        await connection.execute(_DROP_IMAGES, named)
        columns = {"chunks": list(moved.image_chunks), "embeddings": [half_vector(each) for each in moved.images]}
        await connection.execute(_KEEP_IMAGES, named | columns)


def _require_space(moved: Moved, space: Space) -> None:
    if moved.summary is not None:
        require_vectors(moved.summary[None, :], count=1, dimension=space.dimension)
    if moved.images is not None:
        require_directions(moved.images)


async def _one(connection: Connection, statement: str, values: dict[str, Any]) -> DictRow | None:
    return await (await connection.execute(statement, values)).fetchone()


async def _require_known(connection: Connection, values: dict[str, Any]) -> None:
    if await _one(connection, _KNOWN, values) is None:
        raise NotFound("Knowledge base", values["knowledge_base"])


async def _space(connection: Connection, values: dict[str, Any]) -> Space:
    found = await _one(connection, _SPACE, values)
    if found is None:
        raise Conflict("The knowledge base is not being reindexed")
    return Space(**found)


def _named(organisation_id: UUID, knowledge_base_id: UUID) -> dict[str, Any]:
    return {"organisation": organisation_id, "knowledge_base": knowledge_base_id}


def _lock_key(organisation_id: UUID, knowledge_base_id: UUID) -> int:
    digest = hashlib.sha256(f"reindex {organisation_id} {knowledge_base_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _chunk(row: DictRow) -> StoredChunk:
    return StoredChunk(
        id=row["id"],
        document_id=row["document_id"],
        ordinal=row["ordinal"],
        title=row["title"],
        heading=row["heading"],
        text=row["content"],
        start=row["start_offset"],
        end=row["end_offset"],
        page=row["page"],
    )


def _summary(row: DictRow) -> StoredSummary:
    revision = row.pop("indexed_revision")
    return StoredSummary(rows.document(row), revision)
