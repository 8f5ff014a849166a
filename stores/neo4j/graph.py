"""The knowledge graph on Neo4j: the reader, with all else that an engine does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stores.bridging import Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase, rows
from stores.neo4j.graph_writing import Neo4jGraphWriter, Place, place_of
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.protocols.graph_engines import GraphGround
from stores.walking import Bounds, Named, Neighbourhood, Side, Way
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
            way.leave(degrees, {row["id"]: [Side(*side) for side in row["sides"]] for row in left})
        return way.neighbourhood()

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        found = await self._rows(cypher.MENTIONS, ids=list(entities), few=HUB, limit=limit) if entities else []
        hubs = [row["id"] for row in found if row["hub"]]
        for ids, statement in ((hubs, cypher.MENTIONS_OF_HUBS), (list(about), cypher.MENTIONS_ABOUT)):
            if ids:
                found += await self._rows(statement, ids=ids, limit=limit)
        return [
            Mention(row["id"], UUID(chunk), UUID(document), subject)
            for row in found
            for chunk, document, subject in row["passages"]
        ]

    async def stated(self, relations: Sequence[Walked], among: Sequence[UUID], *, limit: int) -> Sequence[Stated]:
        walked = [list(each) for each in relations]
        found = await self._rows(cypher.STATED, walked=walked, among=[str(each) for each in among], limit=limit)
        return [Stated(UUID(row["chunk"]), UUID(row["document"]), row["score"]) for row in found]

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        known = await self._rows(cypher.ENTITIES, ids=list(entities), samples=_SAMPLES)
        stated = await self._rows(cypher.RELATIONS, ids=list(relations), samples=_SAMPLES) if relations else []
        chunks = {chunk for row in (*known, *stated) for chunk in row["chunks"]}
        present = await self._ground.present(self._organisation_id, [UUID(chunk) for chunk in chunks])
        standing = {str(each) for each in present}
        return Facts(
            {
                row["id"]: EntityFact(name=row["name"], type=row["type"], description=row["description"])
                for row in known
                if not standing.isdisjoint(row["chunks"])
            },
            {
                row["id"]: RelationFact(
                    source=row["source"], relation=row["relation"], target=row["target"], description=row["description"]
                )
                for row in stated
                if not standing.isdisjoint(row["chunks"])
            },
        )

    async def _rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return await rows(self._transaction, statement, **self._place, **parameters)
