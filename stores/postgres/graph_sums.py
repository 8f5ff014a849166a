"""Taking a document out of the knowledge graph, and keeping entities and relations the sums of their sources."""

from collections.abc import Sequence
from uuid import UUID

from stores.postgres.database import Connection

#: Documents of a knowledge base share entities: their graph changes queue up, so that sums stay exact and two
#: writers never wait for each other's rows in turn.
LOCK_GRAPH = "SELECT pg_advisory_xact_lock(hashtextextended('knowledge graph ' || %(knowledge_base)s::text, 0))"

_KNOWS_DOCUMENT = """
SELECT 1 FROM kg_entity_sources WHERE organisation_id = %(organisation)s AND document_id = %(document)s LIMIT 1
"""
_FORGET_RELATIONS = """
WITH gone AS (
    DELETE FROM kg_relation_sources WHERE organisation_id = %(organisation)s AND document_id = %(document)s
    RETURNING relation_id
)
SELECT DISTINCT relation_id AS id FROM gone
"""
# Its names and mentions go with a source.
_FORGET_ENTITIES = """
WITH gone AS (
    DELETE FROM kg_entity_sources WHERE organisation_id = %(organisation)s AND document_id = %(document)s
    RETURNING entity_id
)
SELECT entity_id AS id FROM gone
"""

_SUM_RELATIONS = """
UPDATE kg_relations r SET weight = s.weight, description = s.description
FROM (
    SELECT relation_id, sum(weight) AS weight,
           (array_agg(description ORDER BY description = '', weight DESC, chunk_id))[1] AS description
    FROM kg_relation_sources
    WHERE organisation_id = %(organisation)s AND relation_id = ANY(%(ids)s)
    GROUP BY relation_id
) s
WHERE r.organisation_id = %(organisation)s AND r.id = s.relation_id
"""
_DROP_RELATIONS = """
DELETE FROM kg_relations r
WHERE r.organisation_id = %(organisation)s AND r.id = ANY(%(ids)s) AND NOT EXISTS (
    SELECT FROM kg_relation_sources s WHERE s.organisation_id = r.organisation_id AND s.relation_id = r.id
)
"""
# The name and the type that most mentions use; the description of the document that speaks most of it.
_SUM_ENTITIES = """
UPDATE kg_entities e SET name = s.name, type = s.type, description = s.description,
                         documents = s.documents, mentions = s.mentions, degree = s.degree
FROM (
    SELECT o.entity_id, count(*) AS documents, sum(o.mentions) AS mentions,
           (array_agg(o.name ORDER BY o.mentions DESC, o.name))[1] AS name,
           (array_agg(o.type ORDER BY o.mentions DESC, o.type))[1] AS type,
           (array_agg(o.description ORDER BY o.description = '', o.mentions DESC, o.description))[1] AS description,
           (SELECT count(*) FROM kg_relations r
            WHERE r.organisation_id = %(organisation)s AND r.source_id = o.entity_id)
         + (SELECT count(*) FROM kg_relations r
            WHERE r.organisation_id = %(organisation)s AND r.target_id = o.entity_id
              AND r.source_id <> r.target_id) AS degree
    FROM kg_entity_sources o
    WHERE o.organisation_id = %(organisation)s AND o.entity_id = ANY(%(ids)s)
    GROUP BY o.entity_id
) s
WHERE e.organisation_id = %(organisation)s AND e.id = s.entity_id
"""
_DROP_ENTITIES = """
DELETE FROM kg_entities e
WHERE e.organisation_id = %(organisation)s AND e.id = ANY(%(ids)s) AND NOT EXISTS (
    SELECT FROM kg_entity_sources s WHERE s.organisation_id = e.organisation_id AND s.entity_id = e.id
)
"""


async def forget_document(
    connection: Connection, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID
) -> None:
    """Takes out what the document says. Entities and relations that others support stay, with the sums of what
    is left; the rest goes. The caller holds the document's row lock."""
    parameters = {"organisation": organisation_id, "knowledge_base": knowledge_base_id, "document": document_id}
    if await (await connection.execute(_KNOWS_DOCUMENT, parameters)).fetchone() is None:
        return
    await connection.execute(LOCK_GRAPH, parameters)
    relations = await (await connection.execute(_FORGET_RELATIONS, parameters)).fetchall()
    entities = await (await connection.execute(_FORGET_ENTITIES, parameters)).fetchall()
    await refresh_sums(connection, organisation_id, [row["id"] for row in entities], [row["id"] for row in relations])


async def refresh_sums(
    connection: Connection, organisation_id: UUID, entities: Sequence[UUID], relations: Sequence[UUID]
) -> None:
    """Recomputes the named entities and relations from their sources; those without any go."""
    for statement, ids in (
        (_DROP_RELATIONS, relations),
        (_SUM_RELATIONS, relations),
        (_DROP_ENTITIES, entities),
        (_SUM_ENTITIES, entities),
    ):
        await connection.execute(statement, {"organisation": organisation_id, "ids": list(ids)})
