"""Knowledge bases as a whole: made in an embedding space, and removed with everything that is in them."""

import logging
from uuid import UUID

from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphWriter
from stores.protocols.knowledge import KnowledgeWriter
from tributary.domain.errors import Conflict, DependencyError
from tributary.domain.knowledge import KnowledgeBase
from tributary.ingestion.departures import Departures
from tributary.models.embeddings import TextEmbedders
from tributary.models.names import parse_embedding

logger = logging.getLogger(__name__)


class KnowledgeBases:
    def __init__(
        self,
        *,
        writer: KnowledgeWriter,
        graph: GraphWriter,
        blobs: BlobStore,
        embedders: TextEmbedders,
        default_embedding: str,
        departures: Departures,
    ) -> None:
        self._writer = writer
        self._graph = graph
        self._blobs = blobs
        self._embedders = embedders
        self._default = default_embedding
        self._departures = departures

    async def create(
        self, organisation_id: UUID, *, name: str, description: str = "", embedding: str | None = None
    ) -> KnowledgeBase:
        """A knowledge base in the space of `embedding`, which it keeps.

        Raises:
            InvalidRequest: no embedding of that name.
            ProviderError: a remote model whose dimension could not be asked for.
        """
        chosen = embedding or self._default
        dimension = await self._embedders.dimension(chosen)
        return await self._writer.create_knowledge_base(
            organisation_id, name=name, description=description, embedding=chosen, dimension=dimension
        )

    async def update(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        name: str | None,
        description: str | None,
        embedding: str | None,
    ) -> KnowledgeBase:
        """Changes what is not None.

        Raises:
            NotFound: unknown.
            Conflict: `embedding` is another one than it has. Its vectors would not be of one space any more.
        """
        if embedding is not None:
            # Nothing is changed: it is looked up.
            base = await self._writer.update_knowledge_base(
                organisation_id, knowledge_base_id, name=None, description=None
            )
            if base.embedding != embedding:
                parse_embedding(embedding)
                raise Conflict(
                    f"The knowledge base is embedded by {base.embedding}; the operator moves it to another embedding "
                    f"with `tributary reindex {base.id} --embedding {embedding}`"
                )
        return await self._writer.update_knowledge_base(
            organisation_id, knowledge_base_id, name=name, description=description
        )

    async def delete(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """Removes it, its documents and their files; bots that it was linked to go on without it."""
        keys = await self._writer.delete_knowledge_base(organisation_id, knowledge_base_id)
        await self._departures.knowledge_base(knowledge_base_id)
        await self._remove_graph(organisation_id, knowledge_base_id)
        await self._blobs.delete(keys)

    async def _remove_graph(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """Nobody finds it any more; where its store is away, upkeep removes it later."""
        try:
            await self._graph.remove_knowledge_base(organisation_id, knowledge_base_id)
        except DependencyError as error:
            logger.warning("the graph of knowledge base %s is removed later: %s", knowledge_base_id, error.detail)
