"""A knowledge base as a LangChain vector store: read through LangChain's own queries, written through ours.

`PGVectorStore` reads any table with an id, a text, a vector and metadata; the view `langchain_chunks` is one. Its
writes would leave chunks without documents and words that no search by words finds, so they are replaced: a text that
comes in by LangChain is a document of one chunk, with everything that search needs. LangChain's packages are imported
with this module: import it at its first use.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

import numpy as np
import psycopg
from langchain_postgres.v2.async_vectorstore import AsyncPGVectorStore
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb
from sqlalchemy import text as sql_text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from stores.postgres.database import Database
from stores.postgres.knowledge import PostgresKnowledge
from stores.vectors import require_vectors
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.knowledge import ChunkDraft, KnowledgeBase, ParsedDocument

VIEW = "langchain_chunks"
#: Texts written at a time.
WRITERS = 4

# A text that is written again is the next revision of its document: of two writers the later one's stays.
_ANNOUNCE = """
INSERT INTO documents (organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256, storage_key,
                       status, stage, progress, importance, langchain_metadata)
VALUES (%(organisation)s, %(document)s, %(knowledge_base)s, %(id)s, '', 'text/plain', %(size)s, %(sha256)s, '', 'ready',
        'ready', 1, 0.5, %(metadata)s)
ON CONFLICT (organisation_id, id) DO UPDATE
    SET size = EXCLUDED.size, sha256 = EXCLUDED.sha256, langchain_metadata = EXCLUDED.langchain_metadata,
        revision = documents.revision + 1, updated_at = now()
RETURNING revision
"""
_INGESTED = """
SELECT c.id FROM chunks c JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
WHERE c.organisation_id = %(organisation)s AND c.knowledge_base_id = %(knowledge_base)s AND c.id = ANY(%(ids)s)
  AND d.langchain_metadata IS NULL
"""
_KNOWN = """
SELECT id FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = ANY(%(documents)s)
"""


@dataclass(frozen=True, slots=True)
class _Text:
    id: str
    content: str
    vector: Sequence[float]
    metadata: dict[str, Any]


def reading_engine(dsn: str, *, role: str | None, base: KnowledgeBase) -> AsyncEngine:
    """Connections that see this knowledge base of this organisation, for as long as they live, and nothing else."""
    settings = {"app.organisation": str(base.organisation_id), "app.knowledge_base": str(base.id)}
    if role:
        settings["role"] = role
    options = " ".join(f"-c {name}={value}" for name, value in settings.items())
    conninfo = make_conninfo(dsn, application_name="tributary langchain", options=options)

    async def connect() -> psycopg.AsyncConnection[Any]:
        return await psycopg.AsyncConnection.connect(conninfo)

    return create_async_engine("postgresql+psycopg://", async_creator=connect, pool_size=2, pool_pre_ping=True)


class ChunkVectorStore(AsyncPGVectorStore):
    """LangChain's store over one knowledge base. Call `write_to` before it is written to."""

    _database: Database
    _base: KnowledgeBase

    def write_to(self, database: Database, base: KnowledgeBase) -> None:
        self._database = database
        self._base = base

    async def aadd_embeddings(
        self,
        texts: Iterable[str],
        embeddings: list[list[float]],
        metadatas: list[dict[str, Any]] | None = None,
        ids: list[Any] | None = None,
        **kwargs: Any,  # noqa: ARG002 # LangChain's signature
    ) -> list[str]:
        """Each text becomes a document of one chunk; one of the same id is replaced.

        Raises:
            Conflict: vectors of another dimension than the knowledge base's, or an id of an ingested passage.
            NotFound: the knowledge base is gone.
        """
        contents = list(texts)
        if not contents:
            return []
        named = [str(each) if each is not None else str(uuid4()) for each in ids or [None] * len(contents)]
        described = metadatas or [{} for _ in contents]
        rows = [_Text(*each) for each in zip(named, contents, embeddings, map(_plain, described), strict=True)]
        require_vectors(np.asarray(embeddings, np.float32), count=len(rows), dimension=self._base.dimension)
        await self._refuse_ingested(named)
        # Of several with one id the last one stays, as if they had come one after the other.
        await self._write_all(list({row.id: row for row in rows}.values()))
        return named

    async def adelete(
        self,
        ids: list[Any] | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 # LangChain's signature
        **kwargs: Any,  # noqa: ARG002
    ) -> bool | None:
        """Deletes texts that came in by LangChain; unknown ids are ignored. False where nothing says which.

        Raises:
            Conflict: an id of a passage of an ingested document, which goes with its document alone.
        """
        if not ids and not filter:
            return False
        named = [str(each) for each in ids] if ids else None
        if filter:
            found = await self._matching(filter)
            named = found if named is None else [each for each in named if each in set(found)]
        chosen = named or []
        await self._refuse_ingested(chosen)
        knowledge = PostgresKnowledge(self._database)
        for document in await self._known(chosen):
            try:
                await knowledge.delete_document(self._base.organisation_id, self._base.id, document)
            except NotFound:
                continue
        return True

    async def _write_all(self, rows: Sequence[_Text]) -> None:
        for first in range(0, len(rows), WRITERS):
            writing = [self._write(row) for row in rows[first : first + WRITERS]]
            for outcome in await asyncio.gather(*writing, return_exceptions=True):
                if outcome is not None:
                    raise outcome

    async def _write(self, row: _Text) -> None:
        place = self._place() | {"document": self._document(row.id)}
        content = row.content.encode("utf8", "surrogatepass")
        facts = {
            "id": row.id,
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "metadata": Jsonb(row.metadata),
        }
        try:
            async with self._database.organisation(self._base.organisation_id) as connection:
                announced = await (await connection.execute(_ANNOUNCE, place | facts)).fetchone()
        except psycopg.errors.ForeignKeyViolation as error:
            raise NotFound("Knowledge base", self._base.id) from error
        assert announced is not None
        await PostgresKnowledge(self._database).write_document(
            self._base.organisation_id,
            place["document"],
            announced["revision"],
            parsed=ParsedDocument(row.content),
            summary="",
            topics=[],
            document_type="",
            summary_vector=None,
            chunks=[ChunkDraft(0, row.content, 0, len(row.content))],
            vectors=np.asarray([row.vector], np.float32),
        )

    async def _matching(self, filter: dict[str, Any]) -> list[str]:  # noqa: A002
        """Ids of the texts that LangChain's filter names."""
        clause, parameters = self._create_filter_clause(filter)
        statement = f'SELECT "{self.id_column}" FROM "{self.schema_name}"."{self.table_name}" WHERE {clause}'
        async with self.engine.connect() as connection:
            rows = await connection.execute(sql_text(statement), parameters)
            return [str(row[0]) for row in rows]

    async def _refuse_ingested(self, ids: Sequence[str]) -> None:
        chunks = [each for each in map(_uuid, ids) if each is not None]
        if not chunks:
            return
        async with self._database.organisation(self._base.organisation_id) as connection:
            row = await (await connection.execute(_INGESTED, self._place() | {"ids": chunks})).fetchone()
        if row is not None:
            raise Conflict(f"{row['id']} is a passage of an ingested document: replace or delete its document")

    async def _known(self, ids: Sequence[str]) -> list[UUID]:
        documents = [self._document(each) for each in ids]
        async with self._database.organisation(self._base.organisation_id) as connection:
            rows = await (await connection.execute(_KNOWN, self._place() | {"documents": documents})).fetchall()
        return [row["id"] for row in rows]

    def _document(self, langchain_id: str) -> UUID:
        """The document of a text: found by its id, apart from all others of other knowledge bases."""
        return uuid5(self._base.id, langchain_id)

    def _place(self) -> dict[str, Any]:
        return {"organisation": self._base.organisation_id, "knowledge_base": self._base.id}


def _plain(metadata: dict[str, Any] | None) -> dict[str, Any]:
    """As JSON keeps it; raises `TypeError` for what it can't, before anything is written."""
    kept: dict[str, Any] = json.loads(json.dumps(metadata or {}))
    return kept


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
