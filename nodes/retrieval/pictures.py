"""Finding pictures of a knowledge base by vectors of their space."""

from collections.abc import Callable
from uuid import UUID

from nodes.retrieval.ranking import image_hits
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.search import ChunkSearch
from tributary.domain.retrieval import Hit
from tributary.models.protocols import Vectors


async def find_pictures(
    organisation_id: UUID,
    knowledge_base_id: UUID,
    vectors: Vectors,
    *,
    model: str,
    similarity: Callable[[Vectors], Vectors],
    search: ChunkSearch,
    knowledge: KnowledgeReader,
    limit: int,
) -> list[Hit]:
    """The pictures nearest to any of `vectors`, as hits of their chunks. `model` names the space that both are in;
    `similarity` is its calibration for what was asked with."""
    found = await search.similar_images(
        organisation_id, knowledge_base_id, vectors=vectors, embedding=model, limit=limit
    )
    chunks = await knowledge.chunks(organisation_id, [chunk_id for chunk_id, _ in found]) if found else []
    return image_hits(found, chunks, similarity)
