"""The knowledge graph on PostgreSQL: the reader, with the writer."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from stores import walking
from stores.postgres import graph_sql as sql
from stores.postgres.database import Connection, Database
from stores.postgres.graph_writing import PostgresGraphWriter
from stores.protocols.graph import GraphFindings
from tributary.domain.retrieval import EntityFact, RelationFact
from tributary.text.entity_keys import phrase_keys

#: Mentions of one seed that are looked at for passages.
_MENTIONS = 500


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
        seed_chunks: Sequence[UUID] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        spans = await asyncio.to_thread(phrase_keys, query)
        place: dict[str, Any] = {"organisation": organisation_id, "knowledge_base": knowledge_base_id}
        async with self._database.organisation(organisation_id) as connection:
            seeds = await _seeds(connection, place, spans, seed_chunks)
            if not seeds:
                return GraphFindings()
            steps, truncated = await _walk(connection, place, seeds, hops)
            entities = list(walking.entity_scores(seeds, steps))[:limit]
            relations = walking.relation_scores(steps)
            return GraphFindings(
                entities=await _entities(connection, place, entities),
                relations=await _relations(connection, place, list(relations)[:limit]),
                passages=walking.passages(seeds, await _supports(connection, place, seeds, relations), limit=limit),
                truncated=truncated,
            )


async def _seeds(
    connection: Connection,
    place: dict[str, Any],
    spans: Mapping[str, tuple[int, int]],
    seed_chunks: Sequence[UUID],
) -> dict[str, float]:
    named = await _fetch(connection, sql.NAMED, place | {"keys": list(spans)})
    seeding = []
    if seed_chunks:
        seeding = await _fetch(connection, sql.MENTIONED_BY, place | {"chunks": list(seed_chunks)})
    return walking.choose_seeds(
        spans,
        [walking.Named(str(row["id"]), row["name_key"], row["mentions"]) for row in named],
        {str(row["id"]): row["mentions"] for row in seeding},
    )


async def _walk(
    connection: Connection, place: dict[str, Any], seeds: Mapping[str, float], hops: int
) -> tuple[list[walking.Step], bool]:
    """The relations walked, and whether a bound kept some out."""
    bounds = {"hops": max(1, min(hops, walking.MAX_HOPS)), "fan_out": walking.FAN_OUT, "step": walking.STEP}
    rows = await _fetch(connection, sql.WALK, place | bounds | _scored("seeds", "scores", seeds))
    steps = [
        walking.Step(str(row["relation_id"]), str(row["entity_id"]), row["score"]) for row in rows if not row["cut"]
    ]
    return steps, any(row["cut"] for row in rows)


async def _entities(connection: Connection, place: dict[str, Any], ids: Sequence[str]) -> tuple[EntityFact, ...]:
    rows = await _fetch(connection, sql.ENTITIES, place | {"ids": [UUID(each) for each in ids]})
    facts = {
        str(row["id"]): EntityFact(name=row["name"], type=row["type"], description=row["description"]) for row in rows
    }
    return tuple(facts[each] for each in ids if each in facts)


async def _relations(connection: Connection, place: dict[str, Any], ids: Sequence[str]) -> tuple[RelationFact, ...]:
    rows = await _fetch(connection, sql.RELATIONS, place | {"ids": [UUID(each) for each in ids]})
    facts = {
        str(row["id"]): RelationFact(
            source=row["source"], relation=row["relation"], target=row["target"], description=row["description"]
        )
        for row in rows
    }
    return tuple(facts[each] for each in ids if each in facts)


async def _supports(
    connection: Connection, place: dict[str, Any], seeds: Mapping[str, float], relations: Mapping[str, float]
) -> list[walking.Support]:
    parameters = _scored("seeds", "scores", seeds) | _scored("relations", "relation_scores", relations)
    rows = await _fetch(connection, sql.PASSAGES, place | parameters | {"mentions": _MENTIONS})
    return [walking.Support(row["chunk_id"], row["document_id"], row["mentioned"], row["stated"]) for row in rows]


def _scored(ids: str, scores: str, values: Mapping[str, float]) -> dict[str, Any]:
    return {ids: [UUID(each) for each in values], scores: list(values.values())}


async def _fetch(connection: Connection, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    return await (await connection.execute(statement, parameters)).fetchall()
