"""Writing what a document says into the knowledge graph on PostgreSQL."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from stores.postgres import graph_sql as sql
from stores.postgres.database import Connection, Database
from stores.postgres.graph_sums import LOCK_GRAPH, forget_document, refresh_sums
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from stores.walking import MAX_RELATION_LENGTH
from tributary.domain.ids import new_id


class PostgresGraphWriter:
    """`GraphWriter` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def write_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        draft: GraphDraft,
        chunk_ids: Sequence[UUID],
    ) -> None:
        place = _place(organisation_id, knowledge_base_id, document_id)
        async with self._database.organisation(organisation_id) as connection:
            rows = await _rows(connection, sql.LOCKED_CHUNKS, place | {"chunks": list(chunk_ids)})
            if {row["id"] for row in rows} - {None} != set(chunk_ids) or not rows:
                # Deleted or replaced meanwhile: these chunks are not the document's any more.
                return
            await forget_document(connection, organisation_id, knowledge_base_id, document_id)
            # All writers of the knowledge base queue up behind the lock: what is done under it goes out in a few
            # pipelines, each of which ends where its rows are wanted.
            async with connection.pipeline():
                await connection.execute(LOCK_GRAPH, place)
                entities = await _write_entities(connection, place, draft)
                await _write_mentions(connection, place, draft.mentions, entities, chunk_ids)
                relations = await _write_relations(connection, place, draft.relations, entities, chunk_ids)
                await refresh_sums(connection, organisation_id, list(entities.values()), relations)

    async def remove_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        place = _place(organisation_id, knowledge_base_id, document_id)
        async with self._database.organisation(organisation_id) as connection:
            if await _rows(connection, sql.LOCKED_DOCUMENT, place):
                await forget_document(connection, organisation_id, knowledge_base_id, document_id)


def _place(organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> dict[str, Any]:
    return {"organisation": organisation_id, "knowledge_base": knowledge_base_id, "document": document_id}


async def _rows(connection: Connection, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    return await (await connection.execute(statement, parameters)).fetchall()


async def _write_entities(connection: Connection, place: dict[str, Any], draft: GraphDraft) -> dict[str, UUID]:
    """The ids of the draft's entities by key."""
    drafts = {entity.key: entity for entity in draft.entities if entity.key}
    counts = Counter(mention.key for mention in draft.mentions)
    ordered: list[EntityDraft] = [drafts[key] for key in sorted(drafts)]
    columns: dict[str, Any] = {
        "keys": [entity.key for entity in ordered],
        "names": [entity.name for entity in ordered],
        "types": [entity.type for entity in ordered],
        "descriptions": [entity.description for entity in ordered],
        "mentions": [counts[entity.key] for entity in ordered],
    }
    await connection.execute(sql.ADD_ENTITIES, place | columns | {"ids": [new_id() for _ in ordered]})
    ids = {row["key"]: row["id"] for row in await _rows(connection, sql.ENTITY_IDS, place | columns)}
    await connection.execute(sql.ADD_SOURCES, place | columns | {"ids": [ids[entity.key] for entity in ordered]})
    names = sorted({(key, ids[entity.key]) for entity in ordered for key in (entity.key, *entity.aliases) if key})
    await connection.execute(
        sql.ADD_NAMES, place | {"keys": [key for key, _ in names], "ids": [entity_id for _, entity_id in names]}
    )
    return ids


async def _write_mentions(
    connection: Connection,
    place: dict[str, Any],
    mentions: Sequence[MentionDraft],
    entities: Mapping[str, UUID],
    chunk_ids: Sequence[UUID],
) -> None:
    known = [mention for mention in mentions if mention.key in entities]
    columns = {
        "chunks": [chunk_ids[mention.chunk] for mention in known],
        "ids": [entities[mention.key] for mention in known],
        "starts": [mention.start for mention in known],
        "ends": [mention.end for mention in known],
        "subjects": [mention.subject for mention in known],
    }
    await connection.execute(sql.ADD_MENTIONS, place | columns)


async def _write_relations(
    connection: Connection,
    place: dict[str, Any],
    relations: Sequence[RelationDraft],
    entities: Mapping[str, UUID],
    chunk_ids: Sequence[UUID],
) -> list[UUID]:
    """The ids of the relations that the document states. Those to entities that the draft lacks are left out."""
    known = [each for each in relations if each.source in entities and each.target in entities and each.weight > 0]
    columns: dict[str, Any] = {
        "chunks": [chunk_ids[each.chunk] for each in known],
        "sources": [entities[each.source] for each in known],
        "relations": [each.relation[:MAX_RELATION_LENGTH] for each in known],
        "targets": [entities[each.target] for each in known],
        "descriptions": [each.description for each in known],
        "weights": [each.weight for each in known],
        "ids": [new_id() for _ in known],
    }
    await connection.execute(sql.ADD_RELATIONS, place | columns)
    rows = await _rows(connection, sql.ADD_RELATION_SOURCES, place | columns)
    return list({row["relation_id"] for row in rows})
