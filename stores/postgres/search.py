"""Search over chunks on PostgreSQL: vectors and words, of one snapshot of a knowledge base."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg

from stores.postgres.candidates import Asking, Found
from stores.postgres.database import Database
from stores.postgres.search_sql import SIMILAR_IMAGES
from stores.postgres.statements import query as ask
from stores.postgres.vector_values import half_vector
from stores.scoring import POOL, Candidates, rank, weigh_terms
from stores.vectors import other_space, require_directions
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.threads import run

#: Characters of a question and its conversation that are read in a thread: fewer take less than the way there.
LONG = 2000
#: What pgvector answers when it is asked to compare vectors of different dimensions.
_OTHER_DIMENSION = "22000"


class PostgresSearch:
    """`ChunkSearch` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
        limit: int,
    ) -> Sequence[Hit]:
        judgement = await self.judge(
            organisation_id,
            knowledge_base_id,
            query=query,
            recent=recent,
            vector=vector,
            embedder=embedder,
            limit=limit,
        )
        return judgement.hits

    async def judge(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
        limit: int,
    ) -> "PostgresJudgement":
        require_directions(vector)
        weights = await run(weigh_terms, query, recent, aside=len(query) + len(recent) > LONG)
        asked = {
            "knowledge_base": knowledge_base_id,
            "terms": list(weights),
            "weights": list(weights.values()),
            "vector": half_vector(vector),
            "pool": max(POOL, limit),
        }
        with _spaces_told():
            async with self._database.snapshot(organisation_id) as connection:
                found = await Asking(connection, organisation_id, asked).find(embedding=embedder.name)
        return PostgresJudgement(self._database, organisation_id, asked, found, embedder, limit)

    async def similar_images(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, vectors: Vectors, embedding: str, limit: int
    ) -> Sequence[tuple[UUID, float]]:
        require_directions(vectors)
        parameters = {
            "organisation": organisation_id,
            "knowledge_base": knowledge_base_id,
            "model": embedding,
            "vectors": [half_vector(vector) for vector in vectors],
            "limit": limit,
        }
        with _spaces_told():
            rows = await ask(self._database, organisation_id, SIMILAR_IMAGES, parameters)
        return [(row["chunk_id"], row["cosine"]) for row in rows]


class PostgresJudgement:
    """`Judgement` by what a search has read. Words that a chunk has got since then don't count."""

    def __init__(
        self,
        database: Database,
        organisation_id: UUID,
        asked: Mapping[str, Any],
        found: Found,
        embedder: TextEmbedder,
        limit: int,
    ) -> None:
        self._database = database
        self._organisation_id = organisation_id
        self._asked = asked
        self._found = found
        self._embedder = embedder
        self.hits: Sequence[Hit] = self._ranked(found.candidates, limit)

    async def score(self, chunk_ids: Sequence[UUID]) -> Sequence[Hit]:
        if not chunk_ids:
            return []
        with _spaces_told():
            async with self._database.implicit(self._organisation_id) as connection:
                asking = Asking(connection, self._organisation_id, self._asked)
                return self._ranked(await asking.given(chunk_ids, self._found))

    def _ranked(self, candidates: Candidates, limit: int | None = None) -> list[Hit]:
        return rank(
            candidates,
            self._found.scale,
            embedder=self._embedder,
            knowledge_base_id=self._asked["knowledge_base"],
            limit=limit,
        )


@contextmanager
def _spaces_told() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.DataException as error:
        if error.sqlstate != _OTHER_DIMENSION:
            raise
        raise other_space() from error
