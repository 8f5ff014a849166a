"""Search over chunks on PostgreSQL: vectors and words, of one snapshot of a knowledge base."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import psycopg

from stores.postgres.candidates import find_candidates
from stores.postgres.database import Database
from stores.postgres.search_sql import SIMILAR_IMAGES
from stores.postgres.statements import query as ask
from stores.postgres.vector_values import half_vector
from stores.scoring import POOL, rank, weigh_terms
from stores.vectors import other_space, require_directions
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors

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
        question = await _question(knowledge_base_id, query, recent)
        hits = await self._hits(organisation_id, question | {"pool": max(POOL, limit), "given": []}, vector, embedder)
        return hits[:limit]

    async def score(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        chunk_ids: Sequence[UUID],
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
    ) -> Sequence[Hit]:
        if not chunk_ids:
            return []
        question = await _question(knowledge_base_id, query, recent)
        # Beside the candidates of a search, since what they are like decides how each of them is judged.
        hits = await self._hits(organisation_id, question | {"pool": POOL, "given": list(chunk_ids)}, vector, embedder)
        wanted = {str(chunk_id) for chunk_id in chunk_ids}
        return [hit for hit in hits if hit["chunkId"] in wanted]

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

    async def _hits(
        self, organisation_id: UUID, parameters: dict[str, object], vector: Vectors, embedder: TextEmbedder
    ) -> list[Hit]:
        require_directions(vector)
        with _spaces_told():
            async with self._database.snapshot(organisation_id) as connection:
                found = await find_candidates(
                    connection, organisation_id, parameters | {"vector": half_vector(vector)}, embedding=embedder.name
                )
        knowledge_base_id = parameters["knowledge_base"]
        assert isinstance(knowledge_base_id, UUID)
        return rank(found.candidates, found.scale, embedder=embedder, knowledge_base_id=knowledge_base_id)


@contextmanager
def _spaces_told() -> Iterator[None]:
    try:
        yield
    except psycopg.errors.DataException as error:
        if error.sqlstate != _OTHER_DIMENSION:
            raise
        raise other_space() from error


async def _question(knowledge_base_id: UUID, query: str, recent: str) -> dict[str, object]:
    weights = await asyncio.to_thread(weigh_terms, query, recent)
    return {"knowledge_base": knowledge_base_id, "terms": list(weights), "weights": list(weights.values())}
