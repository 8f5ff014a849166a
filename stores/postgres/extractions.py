"""What chat models read in passages and saw in pictures, kept in PostgreSQL."""

from collections.abc import Collection, Mapping
from uuid import UUID

from stores.postgres.database import Database

_FIND = """
SELECT passage_hash, made FROM kg_extractions
WHERE organisation_id = %(organisation)s AND document_id = %(document)s AND kind = %(kind)s
  AND passage_hash = ANY(%(hashes)s)
"""
_KEEP = """
INSERT INTO kg_extractions (organisation_id, document_id, kind, passage_hash, made)
SELECT d.organisation_id, d.id, %(kind)s, new.passage_hash, new.made
FROM unnest(%(hashes)s::bytea[], %(made)s::text[]) AS new (passage_hash, made)
JOIN documents d ON d.organisation_id = %(organisation)s AND d.id = %(document)s
ON CONFLICT (organisation_id, document_id, kind, passage_hash) DO UPDATE SET made = excluded.made
"""
_RETAIN = """
DELETE FROM kg_extractions
WHERE organisation_id = %(organisation)s AND document_id = %(document)s AND kind = %(kind)s
  AND NOT passage_hash = ANY(%(hashes)s::bytea[])
"""


#: What a passage says, and what a picture shows.
PASSAGE, PICTURE = "passage", "picture"


class PostgresExtractions:
    """`ExtractionCache` on PostgreSQL. Those of different kinds know nothing of each other."""

    def __init__(self, database: Database, kind: str = PASSAGE) -> None:
        self._database = database
        self._kind = kind

    async def find(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> Mapping[bytes, str]:
        parameters = {
            "organisation": organisation_id,
            "document": document_id,
            "kind": self._kind,
            "hashes": list(hashes),
        }
        async with self._database.organisation(organisation_id) as connection:
            rows = await (await connection.execute(_FIND, parameters)).fetchall()
        return {row["passage_hash"]: row["made"] for row in rows}

    async def keep(self, organisation_id: UUID, document_id: UUID, made: Mapping[bytes, str]) -> None:
        parameters = {"hashes": list(made), "made": list(made.values())}
        await self._execute(_KEEP, organisation_id, document_id, parameters)

    async def retain(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> None:
        await self._execute(_RETAIN, organisation_id, document_id, {"hashes": list(hashes)})

    async def _execute(
        self, statement: str, organisation_id: UUID, document_id: UUID, parameters: Mapping[str, object]
    ) -> None:
        async with self._database.organisation(organisation_id) as connection:
            await connection.execute(
                statement, {"organisation": organisation_id, "document": document_id, "kind": self._kind, **parameters}
            )
