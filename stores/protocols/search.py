"""Search over the chunks of one knowledge base."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors


class Judgement(Protocol):
    """How a question judges the chunks of one knowledge base."""

    @property
    def hits(self) -> Sequence[Hit]:
        """What `ChunkSearch.search` gives."""
        ...

    async def score(self, chunk_ids: Sequence[UUID]) -> Sequence[Hit]:
        """The same terms for chunks that another branch found, as the search would give them; chunks that are gone,
        or another knowledge base's, are left out. Costs little beside the search: its words are known."""
        ...


class ChunkSearch(Protocol):
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
        """Chunks by vector similarity and by words, from one pool of candidates: each hit carries both terms.

        `query` is the question as asked; `recent` is the conversation before it, whose words count less.
        Best first by 60 % vector, 25 % text and 15 % importance, ties by chunk id; at most `limit`; nothing
        found is `[]`. Punctuation, quotes and operators in the query are text.
        """
        ...

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
    ) -> Judgement:
        """The same search, which can be asked about more chunks."""
        ...

    async def similar_images(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, vectors: Vectors, embedding: str, limit: int
    ) -> Sequence[tuple[UUID, float]]:
        """Chunk ids of the knowledge base's pictures with their best cosine to any of the vectors, best first."""
        ...
