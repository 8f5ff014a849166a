"""The knowledge graph on PostgreSQL document by document, and removing it whole."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from stores.graph_records import records
from stores.postgres.database import Database
from stores.postgres.graph_sums import LOCK_GRAPH, forget_document
from stores.postgres.statements import query, run
from stores.protocols.graph_engines import GraphCounts, GraphDocument, GraphRecord

_KNOWLEDGE_BASES = """
SELECT id FROM knowledge_bases k
WHERE organisation_id = %(organisation)s AND EXISTS (
    SELECT FROM kg_entities e WHERE e.organisation_id = k.organisation_id AND e.knowledge_base_id = k.id
)
ORDER BY id
"""
_DOCUMENTS = """
SELECT d.id, c.id AS stamp
FROM documents d
CROSS JOIN LATERAL (
    SELECT id FROM chunks
    WHERE organisation_id = d.organisation_id AND document_id = d.id ORDER BY ordinal LIMIT 1
) c
WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s AND {chosen}
  AND EXISTS (SELECT FROM kg_entity_sources s WHERE s.organisation_id = d.organisation_id AND s.document_id = d.id)
ORDER BY d.id
"""
_LISTED = _DOCUMENTS.format(chosen="(%(after)s::uuid IS NULL OR d.id > %(after)s)") + "LIMIT %(limit)s"
_CHOSEN = _DOCUMENTS.format(chosen="d.id = ANY(%(documents)s)")
_ENTITIES = """
SELECT s.document_id AS document, e.key, s.name, s.type, s.description
FROM kg_entity_sources s
JOIN kg_entities e ON e.organisation_id = s.organisation_id AND e.id = s.entity_id
WHERE s.organisation_id = %(organisation)s AND s.document_id = ANY(%(documents)s)
ORDER BY e.key
"""
_NAMES = """
SELECT n.document_id AS document, e.key, n.name_key
FROM kg_names n
JOIN kg_entities e ON e.organisation_id = n.organisation_id AND e.id = n.entity_id
WHERE n.organisation_id = %(organisation)s AND n.document_id = ANY(%(documents)s)
"""
_MENTIONS = """
SELECT m.document_id AS document, m.chunk_id AS chunk, e.key, m.start_offset AS start, m.end_offset AS "end", m.subject
FROM kg_mentions m
JOIN kg_entities e ON e.organisation_id = m.organisation_id AND e.id = m.entity_id
WHERE m.organisation_id = %(organisation)s AND m.document_id = ANY(%(documents)s)
ORDER BY m.chunk_id, m.start_offset, e.key
"""
_STATEMENTS = """
SELECT o.document_id AS document, o.chunk_id AS chunk, s.key AS source, r.relation, t.key AS target, o.description,
       o.weight
FROM kg_relation_sources o
JOIN kg_relations r ON r.organisation_id = o.organisation_id AND r.id = o.relation_id
JOIN kg_entities s ON s.organisation_id = r.organisation_id AND s.id = r.source_id
JOIN kg_entities t ON t.organisation_id = r.organisation_id AND t.id = r.target_id
WHERE o.organisation_id = %(organisation)s AND o.document_id = ANY(%(documents)s)
ORDER BY o.chunk_id, s.key, r.relation, t.key
"""
_COUNTS = """
WITH entities AS (
    SELECT id FROM kg_entities WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
), relations AS (
    SELECT r.id FROM entities e
    JOIN kg_relations r ON r.organisation_id = %(organisation)s AND r.source_id = e.id
)
SELECT (SELECT count(*) FROM entities) AS entities, (SELECT count(*) FROM relations) AS relations,
       (SELECT count(DISTINCT document_id) FROM kg_entity_sources
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s) AS documents,
       (SELECT count(*) FROM entities e
        JOIN kg_mentions m ON m.organisation_id = %(organisation)s AND m.entity_id = e.id) AS mentions,
       (SELECT count(*) FROM relations r
        JOIN kg_relation_sources o ON o.organisation_id = %(organisation)s AND o.relation_id = r.id) AS statements
"""
# All that hangs on an entity goes with it.
_REMOVE = "DELETE FROM kg_entities WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s"


class PostgresGraphArchive:
    """`GraphArchive` on PostgreSQL, and the part of `GraphWriter` that removes a knowledge base's graph."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def knowledge_bases(self, organisation_id: UUID) -> Sequence[UUID]:
        return [row["id"] for row in await query(self._database, organisation_id, _KNOWLEDGE_BASES, {})]

    async def documents(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[GraphDocument]:
        parameters = {"knowledge_base": knowledge_base_id, "after": after, "limit": limit}
        rows = await query(self._database, organisation_id, _LISTED, parameters)
        return [GraphDocument(row["id"], row["stamp"]) for row in rows]

    async def records(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_ids: Sequence[UUID]
    ) -> Sequence[GraphRecord]:
        parameters: dict[str, Any] = {"knowledge_base": knowledge_base_id, "documents": list(document_ids)}
        statements = [(each, parameters) for each in (_CHOSEN, _ENTITIES, _NAMES, _MENTIONS, _STATEMENTS)]
        chosen, entities, names, mentions, stated = await run(self._database, organisation_id, statements)
        documents = [GraphDocument(row["id"], row["stamp"]) for row in chosen]
        return records(documents, entities=entities, names=names, mentions=mentions, statements=stated)

    async def counts(self, organisation_id: UUID, knowledge_base_id: UUID) -> GraphCounts:
        rows = await query(self._database, organisation_id, _COUNTS, {"knowledge_base": knowledge_base_id})
        return GraphCounts(**rows[0])

    async def remove_stale(self, organisation_id: UUID, knowledge_base_id: UUID, document: GraphDocument) -> None:
        """Here a document's facts go with its chunks, so only one that is listed elsewhere can be stale."""
        known = {"knowledge_base": knowledge_base_id, "documents": [document.id]}
        async with self._database.organisation(organisation_id) as connection:
            place = {"organisation": organisation_id, **known}
            rows = await (await connection.execute(f"{_CHOSEN} FOR UPDATE OF d", place)).fetchall()
            if [row["stamp"] for row in rows] == [document.stamp]:
                await forget_document(connection, organisation_id, knowledge_base_id, document.id)

    async def remove_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        place = {"organisation": organisation_id, "knowledge_base": knowledge_base_id}
        async with self._database.organisation(organisation_id) as connection:
            await connection.execute(LOCK_GRAPH, place)
            await connection.execute(_REMOVE, place)
