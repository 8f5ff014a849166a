"""Reading knowledge bases, documents and chunks from PostgreSQL."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.rows import DictRow

from stores.postgres import knowledge_rows as rows
from stores.postgres.database import Connection, Database
from stores.postgres.statements import query, run
from stores.text_missing import text_missing
from tributary.domain.errors import NotFound
from tributary.domain.knowledge import Chunk, Document, DocumentStatus, KnowledgeBase, KnowledgeBaseMap, ParsedDocument

_KNOWLEDGE_BASE = """
SELECT k.*, (SELECT count(*) FROM documents d
             WHERE d.organisation_id = k.organisation_id AND d.knowledge_base_id = k.id) AS document_count
FROM knowledge_bases k
WHERE k.organisation_id = %(organisation)s
"""
KNOWLEDGE_BASES = f"{_KNOWLEDGE_BASE} AND k.id = ANY(%(ids)s)"
_KNOWLEDGE_BASE_NAMED = f"{_KNOWLEDGE_BASE} AND k.name = %(name)s ORDER BY k.id LIMIT 1"
_KNOWLEDGE_BASE_PAGE = f"""
{_KNOWLEDGE_BASE} AND (%(after)s::uuid IS NULL OR k.id > %(after)s) ORDER BY k.id LIMIT %(limit)s
"""

_EXISTS = "SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s"

DOCUMENT = f"""
SELECT {rows.DOCUMENT_COLUMNS} FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = %(document)s
"""
_DOCUMENT_PAGE = f"""
SELECT {rows.DOCUMENT_COLUMNS} FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
  AND (%(after)s::uuid IS NULL OR id > %(after)s) AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY id LIMIT %(limit)s
"""
_DOCUMENT_TEXT = """
SELECT d.title, d.status, d.error, t.content, t.pages
FROM documents d LEFT JOIN document_texts t ON t.organisation_id = d.organisation_id AND t.document_id = d.id
WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s AND d.id = %(document)s
"""

_CHUNKS = """
SELECT c.id, c.knowledge_base_id, c.document_id, c.ordinal, c.content, c.heading, c.start_offset, c.end_offset,
       c.page, d.filename, d.title, d.importance
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (id, position)
JOIN chunks c ON c.organisation_id = %(organisation)s AND c.id = wanted.id
JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
ORDER BY wanted.position
"""

_MAP_HEADS = """
SELECT k.id, k.name, (SELECT count(*) FROM documents d
                      WHERE d.organisation_id = k.organisation_id AND d.knowledge_base_id = k.id
                        AND d.indexed_revision > 0) AS document_count
FROM knowledge_bases k
WHERE k.organisation_id = %(organisation)s AND k.id = ANY(%(ids)s)
"""
_MAP_DOCUMENTS = """
SELECT d.*
FROM unnest(%(ids)s::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT id, knowledge_base_id, title, filename, type, summary, topics, importance FROM documents
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = wanted.id AND indexed_revision > 0
    ORDER BY importance DESC, id LIMIT %(limit)s
) d
ORDER BY d.importance DESC, d.id
"""


async def fetch_knowledge_bases(
    connection: Connection, organisation_id: UUID, ids: Sequence[UUID]
) -> list[KnowledgeBase]:
    """In the order of `ids`; raises `NotFound` where one is unknown."""
    cursor = await connection.execute(KNOWLEDGE_BASES, {"organisation": organisation_id, "ids": list(ids)})
    return _in_order(ids, await cursor.fetchall())


def _in_order(ids: Sequence[UUID], found: Sequence[DictRow]) -> list[KnowledgeBase]:
    by_id = {row["id"]: rows.knowledge_base(row) for row in found}
    for wanted in ids:
        if wanted not in by_id:
            raise NotFound("Knowledge base", wanted)
    return [by_id[wanted] for wanted in ids]


class PostgresKnowledgeReader:
    """`KnowledgeReader` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def knowledge_bases(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[KnowledgeBase]:
        return _in_order(ids, await query(self._database, organisation_id, KNOWLEDGE_BASES, {"ids": list(ids)}))

    async def knowledge_base_named(self, organisation_id: UUID, name: str) -> KnowledgeBase | None:
        found = await query(self._database, organisation_id, _KNOWLEDGE_BASE_NAMED, {"name": name})
        return rows.knowledge_base(found[0]) if found else None

    async def list_knowledge_bases(
        self, organisation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[KnowledgeBase]:
        page = {"after": after, "limit": limit}
        found = await query(self._database, organisation_id, _KNOWLEDGE_BASE_PAGE, page)
        return [rows.knowledge_base(row) for row in found]

    async def document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> Document:
        row = await self._document_row(DOCUMENT, organisation_id, knowledge_base_id, document_id)
        return rows.document(row)

    async def list_documents(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        after: UUID | None,
        limit: int,
        status: DocumentStatus | None = None,
    ) -> Sequence[Document]:
        page = {
            "knowledge_base": knowledge_base_id,
            "after": after,
            "limit": limit,
            "status": status.value if status else None,
        }
        bases, found = await run(
            self._database, organisation_id, [(_EXISTS, {"knowledge_base": knowledge_base_id}), (_DOCUMENT_PAGE, page)]
        )
        if not bases:
            raise NotFound("Knowledge base", knowledge_base_id)
        return [rows.document(row) for row in found]

    async def document_text(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> ParsedDocument:
        row = await self._document_row(_DOCUMENT_TEXT, organisation_id, knowledge_base_id, document_id)
        if row["content"] is None:
            raise text_missing(row["error"] if row["status"] == DocumentStatus.FAILED else None)
        return rows.parsed_document(row)

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[Chunk]:
        if not ids:
            return []
        return [rows.chunk(row) for row in await query(self._database, organisation_id, _CHUNKS, {"ids": list(ids)})]

    async def map(
        self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID], *, limit: int
    ) -> Sequence[KnowledgeBaseMap]:
        wanted = {"ids": list(knowledge_base_ids), "limit": limit}
        heads, documents = await run(self._database, organisation_id, [(_MAP_HEADS, wanted), (_MAP_DOCUMENTS, wanted)])
        return _maps(knowledge_base_ids, heads, documents)

    async def _document_row(
        self, statement: str, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID
    ) -> DictRow:
        parameters = {
            "organisation": organisation_id,
            "knowledge_base": knowledge_base_id,
            "document": document_id,
        }
        found = await query(self._database, organisation_id, statement, parameters)
        if not found:
            raise NotFound("Document", document_id)
        return found[0]


def _maps(ids: Sequence[UUID], heads: Sequence[DictRow], documents: Sequence[DictRow]) -> list[KnowledgeBaseMap]:
    by_id = {row["id"]: row for row in heads}
    for wanted in ids:
        if wanted not in by_id:
            raise NotFound("Knowledge base", wanted)
    return [
        KnowledgeBaseMap(
            knowledge_base_id=wanted,
            name=by_id[wanted]["name"],
            document_count=by_id[wanted]["document_count"],
            documents=tuple(rows.summary(row) for row in documents if row["knowledge_base_id"] == wanted),
        )
        for wanted in ids
    ]
