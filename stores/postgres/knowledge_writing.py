"""Writing knowledge bases and documents to PostgreSQL."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from stores.postgres import knowledge_rows as rows
from stores.postgres.database import Connection, Database
from stores.postgres.document_quota import require_document_room
from stores.postgres.graph_sums import forget_document
from stores.postgres.knowledge_reading import DOCUMENT, fetch_knowledge_bases
from stores.postgres.statements import query
from tributary.domain.errors import NotFound
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus, KnowledgeBase, Stage

_CREATE_KNOWLEDGE_BASE = """
INSERT INTO knowledge_bases (organisation_id, id, name, description, embedding, dimension)
VALUES (%(organisation)s, %(id)s, %(name)s, %(description)s, %(embedding)s, %(dimension)s)
RETURNING *, 0 AS document_count
"""
_UPDATE_KNOWLEDGE_BASE = """
UPDATE knowledge_bases SET name = COALESCE(%(name)s, name), description = COALESCE(%(description)s, description)
WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""
# Deleting a knowledge base first waits for the documents that are being written, without keeping their writers from
# the parent row that their foreign keys share; then the large tables are emptied by knowledge base, which a cascade
# would do a document at a time. Only then is the parent closed, and what was added meanwhile goes too.
_CLAIM_KNOWLEDGE_BASE = """
SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s FOR NO KEY UPDATE
"""
_CLOSE_KNOWLEDGE_BASE = """
SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s FOR UPDATE
"""
_LOCK_ITS_DOCUMENTS = """
SELECT storage_key FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s ORDER BY id FOR UPDATE
"""
_EMPTY_KNOWLEDGE_BASE = tuple(
    f"DELETE FROM {table} WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s"
    for table in ("chunk_postings", "chunks", "documents")
)
_DROP_KNOWLEDGE_BASE = """
DELETE FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""

_ADD_DOCUMENT = """
INSERT INTO documents (organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256,
                       storage_key, status, stage, progress, importance, revision, error, summary, topics, type,
                       created_at, updated_at)
VALUES (%(organisation_id)s, %(id)s, %(knowledge_base_id)s, %(filename)s, %(title)s, %(content_type)s, %(size)s,
        %(sha256)s, %(storage_key)s, %(status)s, %(stage)s, %(progress)s, %(importance)s, %(revision)s, %(error)s,
        %(summary)s, %(topics)s, %(type)s, %(created_at)s, %(updated_at)s)
"""
_UPDATE_DOCUMENT = f"""
UPDATE documents SET title = COALESCE(%(title)s, title), importance = COALESCE(%(importance)s, importance),
                     updated_at = now()
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = %(document)s
RETURNING {rows.DOCUMENT_COLUMNS}
"""
_RENEW_DOCUMENT = f"""
UPDATE documents SET filename = %(filename)s, title = %(title)s, content_type = %(content_type)s, size = %(size)s,
                     sha256 = %(sha256)s, storage_key = %(storage_key)s, status = 'queued', stage = 'queued',
                     progress = 0, error = NULL, revision = revision + 1, updated_at = now()
WHERE organisation_id = %(organisation)s AND id = %(document)s
RETURNING {rows.DOCUMENT_COLUMNS}
"""
_DELETE_DOCUMENT = "DELETE FROM documents WHERE organisation_id = %(organisation)s AND id = %(document)s"
_SET_PROGRESS = """
UPDATE documents SET status = %(status)s, stage = %(stage)s, progress = %(progress)s, error = %(error)s,
                     updated_at = now()
WHERE organisation_id = %(organisation)s AND id = %(document)s AND revision = %(revision)s
RETURNING id
"""


class PostgresCatalogueWriter:
    """The part of `KnowledgeWriter` that changes single rows: what exists, and in which state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create_knowledge_base(
        self, organisation_id: UUID, *, name: str, description: str, embedding: str, dimension: int
    ) -> KnowledgeBase:
        parameters = {
            "organisation": organisation_id,
            "id": new_id(),
            "name": name,
            "description": description,
            "embedding": embedding,
            "dimension": dimension,
        }
        async with self._database.organisation(organisation_id) as connection:
            row = await (await connection.execute(_CREATE_KNOWLEDGE_BASE, parameters)).fetchone()
        assert row is not None
        return rows.knowledge_base(row)

    async def update_knowledge_base(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, name: str | None, description: str | None
    ) -> KnowledgeBase:
        parameters = {
            "organisation": organisation_id,
            "knowledge_base": knowledge_base_id,
            "name": name,
            "description": description,
        }
        async with self._database.organisation(organisation_id) as connection:
            await connection.execute(_UPDATE_KNOWLEDGE_BASE, parameters)
            return (await fetch_knowledge_bases(connection, organisation_id, [knowledge_base_id]))[0]

    async def delete_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[str]:
        parameters = {"organisation": organisation_id, "knowledge_base": knowledge_base_id}
        async with self._database.organisation(organisation_id) as connection:
            if await (await connection.execute(_CLAIM_KNOWLEDGE_BASE, parameters)).fetchone() is None:
                raise NotFound("Knowledge base", knowledge_base_id)
            documents = await (await connection.execute(_LOCK_ITS_DOCUMENTS, parameters)).fetchall()
            for statement in (*_EMPTY_KNOWLEDGE_BASE, _CLOSE_KNOWLEDGE_BASE):
                await connection.execute(statement, parameters)
            documents += await (await connection.execute(_LOCK_ITS_DOCUMENTS, parameters)).fetchall()
            await connection.execute(_DROP_KNOWLEDGE_BASE, parameters)
        return [row["storage_key"] for row in documents]

    async def add_document(self, document: Document) -> None:
        parameters: dict[str, Any] = {name: getattr(document, name) for name in document.__dataclass_fields__}
        parameters["error"] = Jsonb(document.error) if document.error else None
        parameters["topics"] = list(document.topics)
        try:
            async with self._database.organisation(document.organisation_id) as connection:
                await require_document_room(connection, document.organisation_id, document.size)
                await connection.execute(_ADD_DOCUMENT, parameters)
        except psycopg.errors.ForeignKeyViolation as error:
            raise NotFound("Knowledge base", document.knowledge_base_id) from error

    async def update_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        title: str | None,
        importance: float | None,
    ) -> Document:
        parameters = _named(organisation_id, knowledge_base_id, document_id)
        parameters |= {"title": title, "importance": importance}
        found = await query(self._database, organisation_id, _UPDATE_DOCUMENT, parameters)
        if not found:
            raise NotFound("Document", document_id)
        return rows.document(found[0])

    async def renew_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        replacement: Document | None,
    ) -> tuple[Document, str | None]:
        parameters = _named(organisation_id, knowledge_base_id, document_id)
        async with self._database.organisation(organisation_id) as connection:
            former = await _lock_document(connection, parameters)
            source = replacement or former
            if source.size > former.size:
                await require_document_room(connection, organisation_id, source.size - former.size)
            for name in ("filename", "title", "content_type", "size", "sha256", "storage_key"):
                parameters[name] = getattr(source, name)
            row = await (await connection.execute(_RENEW_DOCUMENT, parameters)).fetchone()
        assert row is not None
        superseded = former.storage_key if former.storage_key != source.storage_key else None
        return rows.document(row), superseded

    async def delete_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> str:
        parameters = _named(organisation_id, knowledge_base_id, document_id)
        async with self._database.organisation(organisation_id) as connection:
            # Waits for a writer that holds the row; what it wrote goes with the row.
            document = await _lock_document(connection, parameters)
            await forget_document(connection, organisation_id, knowledge_base_id, document_id)
            await connection.execute(_DELETE_DOCUMENT, parameters)
        return document.storage_key

    async def set_progress(
        self,
        organisation_id: UUID,
        document_id: UUID,
        revision: int,
        *,
        status: DocumentStatus,
        stage: Stage,
        progress: float,
        error: dict[str, str] | None = None,
    ) -> bool:
        parameters = {
            "organisation": organisation_id,
            "document": document_id,
            "revision": revision,
            "status": status.value,
            "stage": stage.value,
            "progress": progress,
            "error": Jsonb(error) if error else None,
        }
        return bool(await query(self._database, organisation_id, _SET_PROGRESS, parameters))


def _named(organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> dict[str, Any]:
    return {"organisation": organisation_id, "knowledge_base": knowledge_base_id, "document": document_id}


async def _lock_document(connection: Connection, parameters: dict[str, Any]) -> Document:
    row = await (await connection.execute(f"{DOCUMENT} FOR UPDATE", parameters)).fetchone()
    if row is None:
        raise NotFound("Document", parameters["document"])
    return rows.document(row)
