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
from stores.postgres.reindexing_sql import (
    ANY_LEFT,
    BEGIN,
    CHUNKS,
    CHUNKS_LEFT,
    CURRENT,
    DOCUMENT_CHUNKS,
    DOCUMENTS_LEFT,
    DROP_IMAGES,
    EXTENT,
    FORGET,
    KEEP_DOCUMENT,
    KEEP_IMAGES,
    KEEP_VECTORS,
    KNOWN,
    LOCK_DOCUMENTS,
    SPACE,
    SWITCH,
)
from stores.postgres.statements import query
from stores.postgres.vector_values import half_vector
from stores.protocols.reindexing import Extent, Moved, Space, StoredChunk, StoredSummary
from stores.vectors import require_directions, require_vectors
from tributary.domain.errors import Conflict, NotFound
from tributary.models.protocols import Vectors


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
            former = await _one(connection, SPACE, values)
            if former is None or Space(**former) != space:
                for statement in FORGET:
                    await connection.execute(statement, values)
                await connection.execute(BEGIN, values)
            extent = await _one(connection, EXTENT, values)
        assert extent is not None
        return Extent(done=int(extent["total"] - extent["left_over"]), total=int(extent["total"]))

    async def chunks_left(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[UUID]:
        values = _named(organisation_id, knowledge_base_id)
        return [row["id"] for row in await query(self._database, organisation_id, CHUNKS_LEFT, values)]

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[StoredChunk]:
        return [_chunk(row) for row in await query(self._database, organisation_id, CHUNKS, {"ids": list(ids)})]

    async def document_chunks(self, organisation_id: UUID, document_id: UUID) -> Sequence[StoredChunk]:
        found = await query(self._database, organisation_id, DOCUMENT_CHUNKS, {"document": document_id})
        return [_chunk(row) for row in found]

    async def keep_vectors(
        self, organisation_id: UUID, knowledge_base_id: UUID, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        values = _named(organisation_id, knowledge_base_id)
        async with self._database.organisation(organisation_id) as connection:
            space = await _space(connection, values)
            require_vectors(vectors, count=len(ids), dimension=space.dimension)
            values |= {"ids": list(ids), "embeddings": [half_vector(vector) for vector in vectors]}
            await connection.execute(KEEP_VECTORS, values)

    async def documents_left(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, limit: int
    ) -> Sequence[StoredSummary]:
        values = _named(organisation_id, knowledge_base_id) | {"limit": limit}
        found = await query(self._database, organisation_id, DOCUMENTS_LEFT, values)
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
        [left] = await query(self._database, organisation_id, ANY_LEFT, values)
        if left["left_over"]:
            return False
        async with without_index(self._database, organisation_id, knowledge_base_id):
            return await self._switch(organisation_id, values)

    async def _switch(self, organisation_id: UUID, values: dict[str, Any]) -> bool:
        async with self._database.organisation(organisation_id) as connection:
            await _require_known(connection, values)
            await connection.execute(LOCK_DOCUMENTS, values)
            space = await _space(connection, values)
            left = await _one(connection, ANY_LEFT, values)
            if left is None or left["left_over"]:
                return False
            values |= {
                "embedding": space.embedding,
                "dimension": space.dimension,
                "image_model": space.image_model,
            }
            for statement in SWITCH:
                await connection.execute(statement, values)
        return True

    async def discard(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        values = _named(organisation_id, knowledge_base_id)
        async with self._database.organisation(organisation_id) as connection:
            await _require_known(connection, values)
            for statement in FORGET:
                await connection.execute(statement, values)


async def _keep_document(connection: Connection, values: dict[str, Any], moved: Moved) -> None:
    summary = None if moved.summary is None else half_vector(moved.summary)
    named = values | {"document": moved.document_id, "revision": moved.revision, "summary": summary}
    if await _one(connection, CURRENT, named) is None:
        return
    await connection.execute(KEEP_DOCUMENT, named)
    if moved.images is not None:
        await connection.execute(DROP_IMAGES, named)
        columns = {"chunks": list(moved.image_chunks), "embeddings": [half_vector(each) for each in moved.images]}
        await connection.execute(KEEP_IMAGES, named | columns)


def _require_space(moved: Moved, space: Space) -> None:
    if moved.summary is not None:
        require_vectors(moved.summary[None, :], count=1, dimension=space.dimension)
    if moved.images is not None:
        require_directions(moved.images)


async def _one(connection: Connection, statement: str, values: dict[str, Any]) -> DictRow | None:
    return await (await connection.execute(statement, values)).fetchone()


async def _require_known(connection: Connection, values: dict[str, Any]) -> None:
    if await _one(connection, KNOWN, values) is None:
        raise NotFound("Knowledge base", values["knowledge_base"])


async def _space(connection: Connection, values: dict[str, Any]) -> Space:
    found = await _one(connection, SPACE, values)
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
