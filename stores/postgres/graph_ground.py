"""What PostgreSQL tells of a graph that is kept elsewhere: which engine holds it, and which documents still stand."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from stores.postgres.database import Database
from stores.postgres.graph_sql import LOCKED_CHUNKS
from stores.postgres.statements import query
from stores.protocols.graph_engines import Engine
from tributary.domain.errors import NotFound

# A search asks for hundreds: as one text, since the driver takes long to write out an array.
_PRESENT = """
SELECT id FROM chunks
WHERE organisation_id = %(organisation)s AND id = ANY(string_to_array(%(ids)s, ' ')::uuid[])
"""
_EXISTING = "SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = ANY(%(ids)s)"
_ENGINE = """
SELECT graph_engine FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""
# A row that is settled is only read: a write would queue up all writers of the knowledge base.
_SETTLE = """
WITH settled AS (
    UPDATE knowledge_bases SET graph_engine = %(engine)s
    WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s AND graph_engine IS NULL
    RETURNING id
)
SELECT count(*) FROM settled
"""
_PLACE = """
UPDATE knowledge_bases SET graph_engine = %(engine)s
WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
RETURNING id
"""


class PostgresGraphGround:
    """`GraphPlacement` and `GraphGround` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def engine(self, organisation_id: UUID, knowledge_base_id: UUID) -> Engine | None:
        rows = await query(self._database, organisation_id, _ENGINE, {"knowledge_base": knowledge_base_id})
        return Engine(rows[0]["graph_engine"]) if rows and rows[0]["graph_engine"] else None

    async def settle(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> Engine:
        held = await self.engine(organisation_id, knowledge_base_id)
        if held is None:
            parameters = {"knowledge_base": knowledge_base_id, "engine": engine.value}
            await query(self._database, organisation_id, _SETTLE, parameters)
            held = await self.engine(organisation_id, knowledge_base_id)
        return held or engine

    async def place(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> None:
        parameters = {"knowledge_base": knowledge_base_id, "engine": engine.value}
        if not await query(self._database, organisation_id, _PLACE, parameters):
            raise NotFound("Knowledge base", knowledge_base_id)

    @asynccontextmanager
    async def claim(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, chunk_ids: Sequence[UUID]
    ) -> AsyncIterator[bool]:
        parameters = {
            "organisation": organisation_id,
            "knowledge_base": knowledge_base_id,
            "document": document_id,
            "chunks": list(chunk_ids),
        }
        async with self._database.organisation(organisation_id) as connection:
            rows = await (await connection.execute(LOCKED_CHUNKS, parameters)).fetchall()
            yield bool(rows) and {row["id"] for row in rows} - {None} == set(chunk_ids)

    async def present(self, organisation_id: UUID, chunk_ids: Sequence[UUID]) -> frozenset[UUID]:
        if not chunk_ids:
            return frozenset()
        rows = await query(self._database, organisation_id, _PRESENT, {"ids": " ".join(map(str, chunk_ids))})
        return frozenset(row["id"] for row in rows)

    async def existing(self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID]) -> frozenset[UUID]:
        rows = await query(self._database, organisation_id, _EXISTING, {"ids": list(knowledge_base_ids)})
        return frozenset(row["id"] for row in rows)
