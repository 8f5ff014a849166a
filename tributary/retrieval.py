"""Searching one knowledge base from outside a chat: the same branches and the same scores."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from nodes.retrieval.branches import find_described
from nodes.retrieval.evidence import find_evidence
from nodes.retrieval.pictures import find_pictures
from nodes.retrieval.query import enhanced_query
from nodes.retrieval.question_vectors import QueryEmbedding
from nodes.retrieval.ranking import merge, needs_terms, rerank
from stores.protocols.graph import GraphReader
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.search import ChunkSearch, Judgement
from tributary.domain.bots import Weights
from tributary.domain.knowledge import Chunk, KnowledgeBase
from tributary.domain.retrieval import Hit, RankedHit
from tributary.models.protocols import ImageSpaces, Vectors
from tributary.spending import Spending

#: Candidates that a search considers, whatever it returns.
POOL = 50
#: Passages behind what a graph search walked.
GRAPH_PASSAGES = 10


class Retrieval:
    """What the search routes call."""

    def __init__(
        self,
        *,
        knowledge: KnowledgeReader,
        search: ChunkSearch,
        graph: GraphReader,
        queries: QueryEmbedding,
        images: ImageSpaces,
        spending: Spending,
    ) -> None:
        self._knowledge = knowledge
        self._search = search
        self._graph = graph
        self._queries = queries
        self._images = images
        self._spending = spending

    async def search_text(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, query: str, top_k: int
    ) -> list[dict[str, Any]]:
        """SPEC §9's results, best first.

        Raises:
            NotFound: an unknown knowledge base.
            BudgetExceeded: the question would be embedded by a remote model.
        """
        base = await self._base(organisation_id, knowledge_base_id)
        async with self._spending.searching(organisation_id, base.id, base.embedding):
            return await self._results(organisation_id, await self._found(organisation_id, base, query, top_k))

    async def _judgement(
        self, organisation_id: UUID, base: KnowledgeBase, query: str, vector: Vectors, limit: int
    ) -> Judgement:
        """Vector and words together."""
        return await self._search.judge(
            organisation_id,
            base.id,
            query=query,
            recent="",
            vector=vector,
            embedder=self._queries.embedder(base.embedding),
            limit=limit,
        )

    async def _question_vector(self, base: KnowledgeBase, query: str) -> Vectors:
        embedder = self._queries.embedder(base.embedding)
        text = await asyncio.to_thread(
            enhanced_query, query, (), count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens
        )
        return await self._queries.embed_query(base.embedding, text)

    async def _found(self, organisation_id: UUID, base: KnowledgeBase, query: str, top_k: int) -> list[RankedHit]:
        vector = await self._question_vector(base, query)
        shared = self._images.shared_embedder(base.embedding)
        judgement, pictures = await asyncio.gather(
            self._judgement(organisation_id, base, query, vector, max(POOL, top_k)),
            find_described(organisation_id, base.id, vector, shared, self._search, self._knowledge),
        )
        merged = merge([*judgement.hits, *pictures])
        judged = await _judged(judgement, merged)
        return rerank(merge([*merged, *judged]), Weights(), top=top_k)

    async def search_image(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, image: bytes, top_k: int
    ) -> list[dict[str, Any]]:
        """Chunks of pictures that look like `image`; the vector score is the calibrated similarity.

        Raises:
            NotFound: an unknown knowledge base.
            DamagedFile: the image can't be decoded.
            BudgetExceeded: the image would be embedded by a remote model.
        """
        base = await self._base(organisation_id, knowledge_base_id)
        embedder = self._images.image_embedder(base.embedding)
        async with self._spending.searching(organisation_id, base.id, embedder.name):
            vectors = await embedder.embed_images([image])
        hits = await find_pictures(
            organisation_id,
            knowledge_base_id,
            vectors,
            model=embedder.name,
            similarity=embedder.similarity,
            search=self._search,
            knowledge=self._knowledge,
            limit=top_k,
        )
        # Pictures alone are compared, so nothing but their similarity orders them.
        ranked = rerank(hits, Weights(vector=1.0, text=0.0, importance=0.0), top=top_k)
        return await self._results(organisation_id, ranked)

    async def search_graph(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, query: str, hops: int
    ) -> Mapping[str, Any]:
        """Entities, relations and the passages behind them. Raises as `search_text` does."""
        base = await self._base(organisation_id, knowledge_base_id)
        async with self._spending.searching(organisation_id, base.id, base.embedding):
            vector = await self._question_vector(base, query)
            judgement = await self._judgement(organisation_id, base, query, vector, POOL)
            findings, hits, chunks = await find_evidence(
                organisation_id,
                knowledge_base_id,
                query=query,
                hits=judgement.hits,
                weights=Weights(),
                graph=self._graph,
                knowledge=self._knowledge,
                hops=hops,
                limit=GRAPH_PASSAGES,
            )
            judged = await _judged(judgement, hits)
        ranked = rerank(merge([*hits, *judged]), Weights(), top=len(hits))
        return {
            "entities": findings.entities,
            "relations": findings.relations,
            "results": [_result(hit, _by_id(chunks)[hit["chunkId"]]) for hit in ranked],
            "truncated": findings.truncated,
        }

    async def _base(self, organisation_id: UUID, knowledge_base_id: UUID) -> KnowledgeBase:
        [base] = await self._knowledge.knowledge_bases(organisation_id, [knowledge_base_id])
        return base

    async def _results(self, organisation_id: UUID, ranked: Sequence[RankedHit]) -> list[dict[str, Any]]:
        chunks = _by_id(await self._knowledge.chunks(organisation_id, [UUID(hit["chunkId"]) for hit in ranked]))
        return [_result(hit, chunks[hit["chunkId"]]) for hit in ranked if hit["chunkId"] in chunks]


async def _judged(judgement: Judgement, hits: Sequence[Hit]) -> Sequence[Hit]:
    return await judgement.score([UUID(hit["chunkId"]) for hit in hits if needs_terms(hit)])


def _by_id(chunks: Sequence[Chunk]) -> dict[str, Chunk]:
    return {str(chunk.id): chunk for chunk in chunks}


def _result(hit: RankedHit, chunk: Chunk) -> dict[str, Any]:
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "filename": chunk.filename,
        "page": chunk.page,
        "text": chunk.text,
        "score": hit["score"],
        "vector_score": hit["vector"],
        "text_score": hit["text"],
        "importance": hit["importance"],
        "metadata": {**chunk.metadata, "start": chunk.start, "end": chunk.end},
    }
