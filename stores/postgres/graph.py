"""The knowledge graph on PostgreSQL: the reader, with the writer."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from stores.asked_together import AskedTogether
from stores.bridging import Mention, SeedMention
from stores.graph_search import Facts, Stated, Walked, search_graph
from stores.graph_texts import read_mentions, read_seed_mentions, read_sides, read_stated
from stores.misspelling import Alike, Parts
from stores.postgres import graph_sql as sql
from stores.postgres.database import Connection, Database
from stores.postgres.graph_writing import PostgresGraphWriter
from stores.postgres.statements import Rows, Statement, sent
from stores.protocols.graph import GraphFindings, SeedPassage
from stores.walking import STEP, Bounds, Named, Neighbourhood
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
        async with self._database.implicit(organisation_id) as connection:
            source = PostgresGraphSource(connection, organisation_id, knowledge_base_id)
            return await search_graph(source, query=query, seeds=seeds, hops=hops, limit=limit)


class PostgresGraphSource:
    """`GraphSource` inside one transaction of the organisation. Where it is a pipeline, questions that are asked at the
    same moment go out together."""

    def __init__(self, connection: Connection, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        self._connection = connection
        self._organisation_id = organisation_id
        self._knowledge_base_id = knowledge_base_id
        self._together = AskedTogether(self._ask)

    async def named(self, keys: Sequence[str]) -> Sequence[Named]:
        rows = await self._fetch(sql.NAMED, keys=_lines(keys))
        return [Named(row["id"], row["name_key"], row["mentions"]) for row in rows]

    async def alike(self, parts: Parts, *, read: int, limit: int) -> Sequence[Alike]:
        wanted = (*parts.beginnings, *parts.endings)
        texts, shortest, longest = zip(*wanted, strict=True)
        ending = [*("f" for _ in parts.beginnings), *("t" for _ in parts.endings)]
        asked = {"texts": _lines(texts), "ending": _text(ending)}
        asked |= {"shortest": _text(shortest), "longest": _text(longest)}
        rows = await self._fetch(sql.ALIKE, **asked, read=read, limit=limit)
        return [Alike(row["id"], row["key"], row["mentions"]) for row in rows]

    async def mentioned_by(self, chunk_ids: Sequence[str]) -> Sequence[SeedMention]:
        [row] = await self._fetch(sql.MENTIONED_BY, chunks=_text(chunk_ids))
        return read_seed_mentions(row["mentions"] or "")

    async def namesakes(self, entities: Sequence[str], *, limit: int) -> Sequence[tuple[str, str]]:
        rows = await self._fetch(sql.NAMESAKES, entities=_text(entities), limit=limit)
        return [(row["entity_id"], row["namesake"]) for row in rows]

    async def neighbourhood(self, scores: Mapping[str, float], bounds: Bounds) -> Neighbourhood:
        seeds = {"seeds": _text(scores), "scores": _text(scores.values()), "step": STEP}
        rows = await self._fetch(sql.NEIGHBOURHOOD, **seeds, **asdict(bounds))
        return Neighbourhood(
            {row["entity_id"]: read_sides(row["sides"] or "") for row in rows},
            {row["entity_id"]: row["degree"] for row in rows},
            cut=any(row["cut"] for row in rows),
        )

    async def mentions(self, entities: Sequence[str], about: Sequence[str], *, limit: int) -> Sequence[Mention]:
        only = [*("f" for _ in entities), *("t" for _ in about)]
        asked = {"entities": _text((*entities, *about)), "about": _text(only)}
        rows = await self._fetch(sql.MENTIONS, **asked, limit=limit)
        return [each for row in rows for each in read_mentions(row["entity_id"], row["passages"])]

    async def stated(self, relations: Sequence[Walked], among: Sequence[str], *, limit: int) -> Sequence[Stated]:
        ids, scores, weights = zip(*relations, strict=True)
        walked = {"relations": _text(ids), "scores": _text(scores), "weights": _text(weights)}
        [row] = await self._fetch(sql.STATED, **walked, among=_text(among), limit=limit)
        return read_stated(row["stated"] or "")

    async def facts(self, entities: Sequence[str], relations: Sequence[str]) -> Facts:
        known: dict[str, EntityFact] = {}
        stated: dict[str, RelationFact] = {}
        for row in await self._fetch(sql.FACTS, entities=_text(entities), relations=_text(relations)):
            name, kind, description = row["name"], row["type"], row["description"]
            if row["entity"]:
                known[row["id"]] = EntityFact(name=name, type=kind, description=description)
            else:
                stated[row["id"]] = RelationFact(
                    source=name, relation=kind, target=row["target"], description=description
                )
        return Facts(known, stated)

    async def gone(self, _chunk_ids: Collection[str]) -> frozenset[str]:
        return frozenset()

    async def _fetch(self, statement: str, **parameters: Any) -> Rows:
        return await self._together.ask((statement, {"knowledge_base": self._knowledge_base_id, **parameters}))

    async def _ask(self, statements: Sequence[Statement]) -> Sequence[Rows]:
        return await sent(self._connection, self._organisation_id, statements)


def _text(each: Iterable[object]) -> str:
    """A list as the statements take it."""
    return " ".join(map(str, each))


def _lines(keys: Iterable[str]) -> str:
    """The same of keys: none holds a line break."""
    return "\n".join(keys)
