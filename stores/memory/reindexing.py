"""Moving a knowledge base to another embedding, in memory."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import UUID

import numpy as np

from stores.memory.knowledge import MemoryKnowledge
from stores.memory.knowledge_reading import StoredContent
from stores.protocols.knowledge import ImageVectors
from stores.protocols.reindexing import Extent, Moved, Space, StoredChunk, StoredSummary
from stores.vectors import require_directions, require_vectors
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.knowledge import Document, KnowledgeBase
from tributary.models.protocols import Vectors

_Key = tuple[UUID, UUID]


@dataclass(slots=True)
class _Move:
    space: Space
    vectors: dict[UUID, Vectors] = field(default_factory=dict)
    documents: dict[UUID, Moved] = field(default_factory=dict)


class MemoryReindexing:
    """`ReindexStore` over what a `MemoryKnowledge` holds."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge
        self._moves: dict[_Key, _Move] = {}
        self._held: set[_Key] = set()

    @asynccontextmanager
    async def hold(self, organisation_id: UUID, knowledge_base_id: UUID) -> AsyncIterator[None]:
        key = organisation_id, knowledge_base_id
        if key in self._held:
            raise Conflict("The knowledge base is being reindexed already")
        self._held.add(key)
        try:
            yield
        finally:
            self._held.discard(key)

    async def begin(self, organisation_id: UUID, knowledge_base_id: UUID, space: Space) -> Extent:
        self._require(organisation_id, knowledge_base_id)
        key = organisation_id, knowledge_base_id
        if key not in self._moves or self._moves[key].space != space:
            self._moves[key] = _Move(space)
        chunks = sum(len(content.chunks) for _, content in self._contents(key))
        total = chunks + len(self._contents(key))
        left = len(await self.chunks_left(*key)) + len(await self.documents_left(*key, limit=total))
        return Extent(done=total - left, total=total)

    async def chunks_left(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[UUID]:
        key = organisation_id, knowledge_base_id
        found = [each for _, content in self._contents(key) for each in content.chunk_ids]
        return sorted(each for each in found if each not in self._moves[key].vectors)

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[StoredChunk]:
        stored = {each.id: each for base in self._bases(organisation_id) for each in self._stored(base)}
        return [stored[each] for each in ids if each in stored]

    async def document_chunks(self, organisation_id: UUID, document_id: UUID) -> Sequence[StoredChunk]:
        found = [each for base in self._bases(organisation_id) for each in self._stored(base)]
        return [each for each in found if each.document_id == document_id]

    async def keep_vectors(
        self, organisation_id: UUID, knowledge_base_id: UUID, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        move = self._moves[organisation_id, knowledge_base_id]
        require_vectors(vectors, count=len(ids), dimension=move.space.dimension)
        move.vectors |= dict(zip(ids, vectors, strict=True))

    async def documents_left(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, limit: int
    ) -> Sequence[StoredSummary]:
        key = organisation_id, knowledge_base_id
        return [
            StoredSummary(document, document.revision)
            for document, _ in self._contents(key)
            if not self._is_moved(key, document)
        ][:limit]

    async def keep_documents(self, organisation_id: UUID, knowledge_base_id: UUID, moved: Sequence[Moved]) -> None:
        move = self._moves[organisation_id, knowledge_base_id]
        for each in moved:
            if each.summary is not None:
                require_vectors(each.summary[None, :], count=1, dimension=move.space.dimension)
            if each.images is not None:
                require_directions(each.images)
            move.documents[each.document_id] = each

    async def switch(self, organisation_id: UUID, knowledge_base_id: UUID) -> bool:
        key = organisation_id, knowledge_base_id
        if await self.chunks_left(*key) or await self.documents_left(*key, limit=1):
            return False
        move = self._moves.pop(key)
        for document, content in self._contents(key):
            made = move.documents[document.id]
            rows = [move.vectors[each] for each in content.chunk_ids]
            vectors = np.stack(rows) if rows else np.empty((0, move.space.dimension), np.float32)
            self._knowledge.put_content(document, _moved_content(content, vectors, made, move.space.image_model))
        base = self._require(organisation_id, knowledge_base_id)
        self._knowledge.put_space(replace(base, embedding=move.space.embedding, dimension=move.space.dimension))
        return True

    async def discard(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        self._require(organisation_id, knowledge_base_id)
        self._moves.pop((organisation_id, knowledge_base_id), None)

    def _require(self, organisation_id: UUID, knowledge_base_id: UUID) -> KnowledgeBase:
        found = self._knowledge.knowledge_base(organisation_id, knowledge_base_id)
        if found is None:
            raise NotFound("Knowledge base", knowledge_base_id)
        return found

    def _contents(self, key: _Key) -> list[tuple[Document, StoredContent]]:
        return self._knowledge.contents(*key)

    def _is_moved(self, key: _Key, document: Document) -> bool:
        made = self._moves[key].documents.get(document.id)
        return made is not None and made.revision == document.revision

    def _bases(self, organisation_id: UUID) -> list[_Key]:
        return [key for key in self._moves if key[0] == organisation_id]

    def _stored(self, key: _Key) -> list[StoredChunk]:
        return [
            StoredChunk(
                chunk_id,
                document.id,
                draft.ordinal,
                document.title,
                draft.heading,
                draft.text,
                draft.start,
                draft.end,
                draft.page,
            )
            for document, content in self._contents(key)
            for chunk_id, draft in zip(content.chunk_ids, content.chunks, strict=True)
        ]


def _moved_content(content: StoredContent, vectors: Vectors, made: Moved, image_model: str) -> StoredContent:
    images = content.images
    if made.images is not None:
        ordinals = {chunk_id: draft.ordinal for chunk_id, draft in zip(content.chunk_ids, content.chunks, strict=True)}
        places = tuple(ordinals[each] for each in made.image_chunks)
        images = (ImageVectors(image_model, places, made.images),) if places else ()
    return replace(content, vectors=vectors, summary_vector=made.summary, images=images)
