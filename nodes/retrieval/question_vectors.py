"""The vector that a turn's question is searched by: its own, leaning towards the conversation before it."""

import asyncio
from typing import Protocol

import numpy as np

from nodes.retrieval.query import conversation_share, enhanced_query
from nodes.retrieval.state import SearchPlan
from tributary.models.protocols import TextEmbedder, Vectors


class QueryEmbedding(Protocol):
    """Embeds questions; the branches of a turn that ask for the same text share one call."""

    def embedder(self, name: str) -> TextEmbedder: ...

    async def embed_query(self, name: str, text: str) -> Vectors: ...


async def question_vector(plan: SearchPlan, embedding: str, queries: QueryEmbedding) -> Vectors:
    """The direction between the question alone and the question with the conversation.

    Embedded as one text, a long conversation drowns the question: after a change of subject nothing of it is left.
    """
    embedder, query = queries.embedder(embedding), plan["query"]
    if not plan["recent"]:
        return await queries.embed_query(embedding, query)
    text = await asyncio.to_thread(
        enhanced_query,
        query,
        plan["recent"],
        count_tokens=embedder.count_tokens,
        max_tokens=embedder.max_tokens,
    )
    if text == query:
        return await queries.embed_query(embedding, query)
    alone, enhanced = await asyncio.gather(queries.embed_query(embedding, query), queries.embed_query(embedding, text))
    return blend(alone, enhanced, conversation_share(query))


def blend(alone: Vectors, enhanced: Vectors, share: float) -> Vectors:
    """A unit vector between two, nearer to `enhanced` the larger its share; opposite ones leave the first."""
    mixed = (1.0 - share) * alone + share * enhanced
    length = float(np.linalg.norm(mixed))
    return np.asarray(mixed / length, np.float32) if length > 1e-6 else alone
