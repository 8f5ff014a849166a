"""Search over chunks on PostgreSQL: vectors and words in one statement."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

import psycopg
from psycopg.rows import DictRow

from stores.postgres.database import Database
from stores.postgres.search_sql import SEARCH, SIMILAR_IMAGES
from stores.postgres.statements import Rows, Statement, pipelined
from stores.postgres.vector_values import half_vector
from stores.scoring import BM25_B, BM25_K1, DOCUMENT_SHARE, POOL, Candidate, Scale, rank, weigh_terms
from stores.vectors import other_space, require_directions, require_same_space
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors

_EMBEDDING = """
SELECT embedding FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""
#: Postings that a question reads before it has candidates. Words that were counted ahead wait beyond it.
BUDGET = 10_000

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
        question = await _question(organisation_id, knowledge_base_id, query, recent)
        hits = await self._hits(question | {"pool": max(POOL, limit), "given": []}, vector, embedder)
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
        question = await _question(organisation_id, knowledge_base_id, query, recent)
        # Beside the candidates of a search, since what they are like decides how each of them is judged.
        hits = await self._hits(question | {"pool": POOL, "given": list(chunk_ids)}, vector, embedder)
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
        [rows] = await self._fetch([(SIMILAR_IMAGES, parameters)], parameters)
        return [(row["chunk_id"], row["cosine"]) for row in rows]

    async def _hits(self, parameters: dict[str, object], vector: Vectors, embedder: TextEmbedder) -> list[Hit]:
        require_directions(vector)
        rows, embedding = await self._searched(parameters | {"vector": half_vector(vector)})
        require_same_space(embedder.name, embedding)
        if not rows:
            return []
        knowledge_base_id = parameters["knowledge_base"]
        assert isinstance(knowledge_base_id, UUID)
        scale = Scale(best=rows[0]["best"], ideal=rows[0]["ideal"])
        return rank([_candidate(row) for row in rows], scale, embedder=embedder, knowledge_base_id=knowledge_base_id)

    async def _searched(self, parameters: dict[str, object]) -> tuple[list[DictRow], str | None]:
        """What is found, and the knowledge base's embedding, looked at behind the search: a move to another one that
        the search did not see is told, and one that it saw is seen here as well."""
        rows, embeddings = await self._fetch([(SEARCH, parameters), (_EMBEDDING, parameters)], parameters)
        return rows, embeddings[0]["embedding"] if embeddings else None

    async def _fetch(self, statements: Sequence[Statement], parameters: dict[str, object]) -> list[Rows]:
        organisation_id = parameters["organisation"]
        assert isinstance(organisation_id, UUID)
        try:
            async with self._database.organisation(organisation_id) as connection:
                return await pipelined(connection, organisation_id, statements)
        except psycopg.errors.DataException as error:
            if error.sqlstate != _OTHER_DIMENSION:
                raise
            raise other_space() from error


async def _question(organisation_id: UUID, knowledge_base_id: UUID, query: str, recent: str) -> dict[str, object]:
    weights = await asyncio.to_thread(weigh_terms, query, recent)
    return {
        "organisation": organisation_id,
        "knowledge_base": knowledge_base_id,
        "terms": list(weights),
        "weights": list(weights.values()),
        "k1": BM25_K1,
        "b": BM25_B,
        "document_share": DOCUMENT_SHARE,
        "budget": BUDGET,
    }


def _candidate(row: DictRow) -> Candidate:
    return Candidate(
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        importance=row["importance"],
        cosine=row["cosine"],
        lexical=row["lexical"],
        summary=row["summary"],
    )
