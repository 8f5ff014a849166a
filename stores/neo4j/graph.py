"""The knowledge graph on Neo4j: the reader, with all else that an engine does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stores.bridging import Mention, SeedMention
from stores.graph_search import Statement, search_graph
from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase, rows
from stores.neo4j.graph_writing import Neo4jGraphWriter, Place, place_of
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.protocols.graph_engines import GraphGround
from stores.walking import Bounds, Edge, Named, Neighbourhood, Way
from tributary.domain.retrieval import EntityFact, RelationFact

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

#: From so many relations on an entity is a hub, whose heaviest ones come from an index.
HUB = 200
#: Chunks that are looked for behind a fact.
_SAMPLES = 8


class Neo4jGraph(Neo4jGraphWriter):
    """`GraphReader` and `GraphWriter` on Neo4j.

    Documents are deleted and replaced elsewhere, and Neo4j may have been away then: facts and passages of chunks that
    are gone are left out of what a search finds.
    """

    def __init__(self, database: Neo4jDatabase, ground: GraphGround) -> None:
        super().__init__(database, ground)

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        seeds: Sequence[SeedPassage] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        place = place_of(organisation_id, knowledge_base_id)

        async def find(transaction: "AsyncManagedTransaction") -> GraphFindings:
            source = Neo4jGraphSource(transaction, place, self._ground, organisation_id)
            return await search_graph(source, query=query, seeds=seeds, hops=hops, limit=limit)

        found = await self._database.read(find)
        present = await self._ground.present(organisation_id, [each.chunk_id for each in found.passages])
        return replace(found, passages=tuple(each for each in found.passages if each.chunk_id in present))


class Neo4jGraphSource:
    """`GraphSource` inside one transaction."""

    def __init__(
        self, transaction: "AsyncManagedTransaction", place: Place, ground: GraphGround, organisation_id: UUID
    ) -> None:
        self._transaction = transaction
        self._place = place
        self._ground = ground
        self._organisation_id = organisation_id

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        found = await self._rows(cypher.NAMED, keys=list(keys))
        return [Named(row["id"], row["key"], row["mentions"]) for row in found]

    async def mentioned_by(self, chunk_ids: Sequence[UUID]) -> Sequence[SeedMention]:
        found = await self._rows(cypher.MENTIONED_BY, chunks=[str(each) for each in chunk_ids])
        return [
            SeedMention(UUID(row["chunk"]), row["id"], row["mentions"], *place)
            for row in found
            for place in zip(row["starts"], row["ends"], row["subjects"], strict=True)
        ]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        found = await self._rows(cypher.NAMESAKES, ids=list(entities), limit=limit)
        return [(row["id"], row["namesake"]) for row in found]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        way = Way(scores, bounds)
        while entities := way.ahead():
            left = await self._rows(cypher.LEAVE, ids=entities, few=HUB, fan_out=bounds.fan_out)
            degrees = {row["id"]: row["degree"] for row in left}
            if hubs := [entity for entity, degree in degrees.items() if degree > HUB]:
                left += await self._rows(cypher.LEAVE_HUBS, ids=hubs, fan_out=bounds.fan_out)
            way.leave(degrees, (Edge(*edge) for row in left for edge in row["edges"]))
        return way.neighbourhood()

    async def mentions(self, entities: Sequence[str], *, limit: int) -> Sequence[Mention]:
        found = await self._rows(cypher.MENTIONS, ids=list(entities), few=HUB, limit=limit)
        if hubs := [row["id"] for row in await self._rows(cypher.HUBS, ids=list(entities), few=HUB)]:
            found += await self._rows(cypher.MENTIONS_OF_HUBS, ids=hubs, limit=limit)
        return [Mention(row["id"], UUID(row["chunk"]), UUID(row["document"]), row["subject"]) for row in found]

    async def statements(self, relations: Sequence[str]) -> Sequence[Statement]:
        found = await self._rows(cypher.STATEMENTS, ids=list(relations))
        return [Statement(row["id"], UUID(row["chunk"]), UUID(row["document"]), row["share"]) for row in found]

    async def entity_facts(self, entities: Sequence[str]) -> Mapping[str, EntityFact]:
        return {
            row["id"]: EntityFact(name=row["name"], type=row["type"], description=row["description"])
            for row in await self._living(cypher.ENTITIES, entities)
        }

    async def relation_facts(self, relations: Sequence[str]) -> Mapping[str, RelationFact]:
        return {
            row["id"]: RelationFact(
                source=row["source"], relation=row["relation"], target=row["target"], description=row["description"]
            )
            for row in await self._living(cypher.RELATIONS, relations)
        }

    async def _living(self, statement: str, ids: Sequence[str]) -> list[dict[str, Any]]:
        """The facts that a chunk still carries."""
        found = await self._rows(statement, ids=list(ids), samples=_SAMPLES)
        chunks = {chunk for row in found for chunk in row["chunks"]}
        present = await self._ground.present(self._organisation_id, [UUID(chunk) for chunk in chunks])
        return [row for row in found if any(UUID(chunk) in present for chunk in row["chunks"])]

    async def _rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return await rows(self._transaction, statement, **self._place, **parameters)
