"""The knowledge graph on Neo4j document by document."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stores.graph_records import records
from stores.neo4j import cypher
from stores.neo4j.database import rows
from stores.neo4j.graph_writing import Neo4jGraphWriter, place_of
from stores.protocols.graph_engines import GraphCounts, GraphDocument, GraphRecord

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

_IDS = ("document", "chunk")


class Neo4jGraphArchive(Neo4jGraphWriter):
    """`GraphArchive` on Neo4j."""

    async def knowledge_bases(self, organisation_id: UUID) -> Sequence[UUID]:
        found = await self._fetch(cypher.KNOWLEDGE_BASES, org=str(organisation_id))
        return [UUID(row["id"]) for row in found]

    async def documents(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[GraphDocument]:
        place = place_of(organisation_id, knowledge_base_id)
        behind = None if after is None else str(after)
        found = await self._fetch(cypher.DOCUMENTS, **place, after=behind, limit=limit)
        return [GraphDocument(UUID(row["id"]), UUID(row["stamp"])) for row in found]

    async def records(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_ids: Sequence[UUID]
    ) -> Sequence[GraphRecord]:
        place = place_of(organisation_id, knowledge_base_id) | {"documents": [str(each) for each in document_ids]}
        statements = (cypher.SAID_ENTITIES, cypher.SAID_NAMES, cypher.SAID_MENTIONS, cypher.SAID_STATEMENTS)

        async def read(transaction: "AsyncManagedTransaction") -> list[GraphRecord]:
            chosen = await rows(transaction, cypher.CHOSEN_DOCUMENTS, **place)
            documents = [GraphDocument(UUID(row["id"]), UUID(row["stamp"])) for row in chosen]
            entities, names, mentions, stated = [
                [_with_ids(row) for row in await rows(transaction, statement, **place)] for statement in statements
            ]
            places = [part for row in mentions for part in _places(row)]
            return records(documents, entities=entities, names=names, mentions=places, statements=stated)

        return await self._database.read(read)

    async def counts(self, organisation_id: UUID, knowledge_base_id: UUID) -> GraphCounts:
        [row] = await self._fetch(cypher.COUNTS, **place_of(organisation_id, knowledge_base_id))
        return GraphCounts(**row)

    async def remove_stale(self, organisation_id: UUID, knowledge_base_id: UUID, document: GraphDocument) -> None:
        await self._remove(place_of(organisation_id, knowledge_base_id), document.id, stamp=document.stamp)

    async def _fetch(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        async def read(transaction: "AsyncManagedTransaction") -> list[dict[str, Any]]:
            return await rows(transaction, statement, **parameters)

        return await self._database.read(read)


def _with_ids(row: dict[str, Any]) -> dict[str, Any]:
    return row | {name: UUID(row[name]) for name in _IDS if name in row}


def _places(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row for each place at which the chunk mentions the entity."""
    return [
        row | {"start": start, "end": end, "subject": subject}
        for start, end, subject in zip(row["starts"], row["ends"], row["subjects"], strict=True)
    ]
