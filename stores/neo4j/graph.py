"""The knowledge graph on Neo4j: the reader, with all else that an engine does."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from stores.bridging import Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.misspelling import Alike, Parts
from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase, rows
from stores.neo4j.graph_writing import Neo4jGraphWriter, Place, entity_id, place_of
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
        knowledge_base = UUID(self._place["kb"])
        names = [[key, entity_id(knowledge_base, key)] for key in keys]
        found = await self._found(cypher.NAMED, names=names)
        return [Named(identifier, key, mentions) for key, identifier, mentions in found]

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        beginnings = [each._asdict() for each in parts.beginnings]
        endings = [each._asdict() | {"text": each.text[::-1]} for each in parts.endings]
        found = await self._found(cypher.ALIKE, beginnings=beginnings, endings=endings, read=read, limit=limit)
        return [Alike(*each) for each in found]

    async def mentioned_by(self, chunk_ids: Sequence[UUID]) -> Sequence[SeedMention]:
        found = await self._found(cypher.MENTIONED_BY, chunks=[str(each) for each in chunk_ids])
        return [
            SeedMention(UUID(chunk), identifier, mentions, *place)
            for chunk, identifier, mentions, *places in found
            for place in zip(*places, strict=True)
        ]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        found = await self._found(cypher.NAMESAKES, ids=list(entities), limit=limit)
        return [(entity, namesake) for entity, namesake in found]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        way = Way(scores, bounds)
        while entities := way.ahead():
            left = await self._found(cypher.LEAVE, ids=entities, few=HUB, fan_out=bounds.fan_out)
            degrees = {entity: degree for entity, degree, _ in left}
            sides = {entity: heaviest for entity, _, heaviest in left}
            if hubs := [entity for entity, degree in degrees.items() if degree > HUB]:
                sides |= dict(await self._found(cypher.LEAVE_HUBS, ids=hubs, fan_out=bounds.fan_out))
            way.leave(degrees, {entity: [Side(*side) for side in heaviest] for entity, heaviest in sides.items()})
        return way.neighbourhood()

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        known = await self._found(cypher.MENTIONS, ids=list(entities), few=HUB, limit=limit) if entities else []
        found = [[entity, passages] for entity, _, passages in known]
        hubs = [entity for entity, hub, _ in known if hub]
        for ids, statement in ((hubs, cypher.MENTIONS_OF_HUBS), (list(about), cypher.MENTIONS_ABOUT)):
            if ids:
                found += await self._found(statement, ids=ids, limit=limit)
        return [
            Mention(entity, UUID(chunk), UUID(document), subject)
            for entity, passages in found
            for chunk, document, subject in passages
        ]

    async def stated(self, relations: Sequence[Walked], among: Sequence[UUID], *, limit: int) -> Sequence[Stated]:
        walked = [list(each) for each in relations]
        found = await self._found(cypher.STATED, walked=walked, among=[str(each) for each in among], limit=limit)
        return [Stated(UUID(chunk), UUID(document), score) for chunk, document, score in found]

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        wanted = {"entities": list(entities), "relations": list(relations)}
        known, stated = await self._found(cypher.FACTS, **wanted, samples=_SAMPLES)
        chunks = {chunk for _, carriers, *_ in (*known, *stated) for chunk in carriers}
        present = await self._ground.present(self._organisation_id, [UUID(chunk) for chunk in chunks])
        standing = {str(each) for each in present}
        return Facts(
            {
                identifier: EntityFact(name=name, type=kind, description=description)
                for identifier, carriers, name, kind, description in known
                if not standing.isdisjoint(carriers)
            },
            {
                identifier: RelationFact(source=source, relation=relation, target=target, description=description)
                for identifier, carriers, source, relation, target, description in stated
                if not standing.isdisjoint(carriers)
            },
        )

    async def _found(self, statement: str, **parameters: Any) -> list[list[Any]]:
        [row] = await rows(self._transaction, statement, **self._place, **parameters)
        found: list[list[Any]] = row["found"]
        return found
