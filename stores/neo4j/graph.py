"""The knowledge graph on Neo4j: the reader, with all else that an engine does."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any
from uuid import UUID

from stores.asked_together import AskedTogether
from stores.bridging import Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.graph_texts import read_mentions, read_sides, read_stated
from stores.misspelling import Alike, Parts
from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase
from stores.neo4j.graph_writing import Neo4jGraphWriter, place_of
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.protocols.graph_engines import GraphGround
from stores.walking import FAN_OUT, Bounds, Named, Neighbourhood, Way
from tributary.domain.retrieval import EntityFact, RelationFact

#: A statement with its parameters.
_Question = tuple[str, Mapping[str, Any]]
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
        source = Neo4jGraphSource(self._database, self._ground, organisation_id, knowledge_base_id)
        return await search_graph(source, query=query, seeds=seeds, hops=hops, limit=limit)


class Neo4jGraphSource:
    """`GraphSource` of a knowledge base. Questions that are asked at the same moment go out as one statement: the way
    to Neo4j and back takes longer than most answers."""

    def __init__(
        self, database: Neo4jDatabase, ground: GraphGround, organisation_id: UUID, knowledge_base_id: UUID
    ) -> None:
        self._database = database
        self._ground = ground
        self._organisation_id = organisation_id
        self._knowledge_base_id = knowledge_base_id
        self._place = place_of(organisation_id, knowledge_base_id)
        self._together = AskedTogether(self._ask)

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        found = await self._found(cypher.NAMED, names=list(keys))
        return [Named(identifier, key, mentions) for key, identifier, mentions in found]

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        beginnings = [each._asdict() for each in parts.beginnings]
        endings = [each._asdict() | {"text": each.text[::-1]} for each in parts.endings]
        found = await self._found(cypher.ALIKE, beginnings=beginnings, endings=endings, read=read, limit=limit)
        return [Alike(*each) for each in found]

    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        found = await self._found(cypher.MENTIONED_BY, chunks=list(chunk_ids))
        return [
            SeedMention(chunk, identifier, mentions, *place)
            for chunk, identifier, mentions, *places in found
            for place in zip(*places, strict=True)
        ]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        found = await self._found(cypher.NAMESAKES, ids=list(entities), limit=limit)
        return [(entity, namesake) for entity, namesake in found]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        way = Way(scores, bounds)
        width = {"fan_out": bounds.fan_out, "walked": FAN_OUT}
        while entities := way.ahead():
            left = await self._found(cypher.LEAVE, ids=entities, **width)
            way.leave(
                {entity: degree for entity, degree, _ in left},
                {entity: read_sides(sides, bounds.fan_out) for entity, _, sides in left},
            )
        return way.neighbourhood()

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        found = await self._found(cypher.MENTIONS, ids=[*entities, *about], about=list(about))
        mentions = [each for entity, passages in found for each in read_mentions(entity, passages, limit)]
        only = set(about)
        return [each for each in mentions if each.subject or each.entity_id not in only]

    async def stated(self, relations: Sequence[Walked], among: Sequence[str], *, limit: int) -> Sequence[Stated]:
        walked = [list(each) for each in relations]
        return read_stated(await self._found(cypher.STATED, walked=walked, among=list(among), limit=limit))

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        wanted = {"entities": list(entities), "relations": list(relations)}
        known, stated = await self._found(cypher.FACTS, **wanted, samples=_SAMPLES)
        return Facts(
            {
                identifier: EntityFact(name=name, type=kind, description=description)
                for identifier, _, name, kind, description in known
            },
            {
                identifier: RelationFact(source=source, relation=relation, target=target, description=description)
                for identifier, _, source, relation, target, description in stated
            },
            {identifier: carriers for identifier, carriers, *_ in (*known, *stated)},
        )

    async def gone(self, chunk_ids: Collection[str]) -> frozenset[str]:
        present = await self._ground.present(self._organisation_id, [UUID(each) for each in chunk_ids])
        return frozenset(chunk_ids) - {str(each) for each in present}

    async def _found(self, statement: str, **parameters: Any) -> Any:
        return await self._together.ask((statement, parameters))

    async def _ask(self, asked: Sequence[_Question]) -> Sequence[Any]:
        """What each of these finds, asked as one statement."""
        statement = cypher.together(*(each for each, _ in asked))
        parameters = {f"{name}_{n}": value for n, (_, own) in enumerate(asked) for name, value in own.items()}
        [row] = await self._database.ask(statement, **self._place, **parameters)
        found: Sequence[Any] = row["found"]
        return found
