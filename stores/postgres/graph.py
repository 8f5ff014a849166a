"""The knowledge graph on PostgreSQL: the reader, with the writer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from stores.bridging import Mention, SeedMention
from stores.graph_search import Statement, search_graph
from stores.postgres import graph_sql as sql
from stores.postgres.database import Connection, Database
from stores.postgres.graph_writing import PostgresGraphWriter
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.walking import STEP, Bounds, Edge, Named, Neighbourhood
from tributary.domain.retrieval import EntityFact, RelationFact


class PostgresGraph(PostgresGraphWriter):
    """`GraphReader` and `GraphWriter` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)

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
        async with self._database.organisation(organisation_id) as connection:
            source = PostgresGraphSource(connection, organisation_id, knowledge_base_id)
            return await search_graph(source, query=query, seeds=seeds, hops=hops, limit=limit)


class PostgresGraphSource:
    """`GraphSource` inside one transaction of the organisation."""

    def __init__(self, connection: Connection, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        self._connection = connection
        self._place = {"organisation": organisation_id, "knowledge_base": knowledge_base_id}

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        rows = await self._fetch(sql.NAMED, keys=list(keys))
        return [Named(str(row["id"]), row["name_key"], row["mentions"]) for row in rows]

    async def mentioned_by(self, chunk_ids: Sequence[UUID]) -> Sequence[SeedMention]:
        return [SeedMention(**row) for row in await self._fetch(sql.MENTIONED_BY, chunks=list(chunk_ids))]

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        rows = await self._fetch(sql.NAMESAKES, entities=_ids(entities), limit=limit)
        return [(row["entity_id"], row["namesake"]) for row in rows]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        seeds = {"seeds": _ids(list(scores)), "scores": list(scores.values()), "step": STEP}
        rows = await self._fetch(sql.NEIGHBOURHOOD, **seeds, **asdict(bounds))
        edges = {
            row["relation_id"]: Edge(row["relation_id"], row["source_id"], row["target_id"], row["weight"])
            for row in rows
            if row["relation_id"] is not None
        }
        degrees = {row["entity_id"]: row["degree"] for row in rows}
        return Neighbourhood(list(edges.values()), degrees, cut=any(row["cut"] for row in rows))

    async def mentions(self, entities: Sequence[str], *, limit: int) -> Sequence[Mention]:
        rows = await self._fetch(sql.MENTIONS, entities=_ids(entities), limit=limit)
        # A passage with several mentions has a row for each; the first says whether it is about the entity.
        found: dict[tuple[str, UUID], Mention] = {}
        for row in rows:
            found.setdefault((row["entity_id"], row["chunk_id"]), Mention(**row))
        return list(found.values())

    async def statements(self, relations: Sequence[str]) -> Sequence[Statement]:
        rows = await self._fetch(sql.STATEMENTS, relations=_ids(relations))
        return [Statement(row["relation_id"], row["chunk_id"], row["document_id"], row["share"]) for row in rows]

    async def entity_facts(self, entities: Sequence[str]) -> Mapping[str, EntityFact]:
        rows = await self._fetch(sql.ENTITIES, ids=_ids(entities))
        return {
            str(row["id"]): EntityFact(name=row["name"], type=row["type"], description=row["description"])
            for row in rows
        }

    async def relation_facts(self, relations: Sequence[str]) -> Mapping[str, RelationFact]:
        rows = await self._fetch(sql.RELATIONS, ids=_ids(relations))
        return {
            str(row["id"]): RelationFact(
                source=row["source"], relation=row["relation"], target=row["target"], description=row["description"]
            )
            for row in rows
        }

    async def _fetch(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        return await (await self._connection.execute(statement, self._place | parameters)).fetchall()


def _ids(texts: Sequence[str]) -> list[UUID]:
    return [UUID(each) for each in texts]
