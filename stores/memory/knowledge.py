"""Knowledge bases, documents and chunks in memory: the reader, with the writer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from stores.memory.knowledge_reading import MemoryKnowledgeReader, StoredContent
from stores.postings import index_chunks
from stores.protocols.knowledge import ImageVectors
from stores.vectors import require_directions, require_embedding, require_vectors
from tributary.domain.ids import new_id
from tributary.domain.knowledge import (
    ChunkDraft,
    Document,
    DocumentStatus,
    KnowledgeBase,
    ParsedDocument,
    Stage,
)
from tributary.models.protocols import Vectors


async def _no_quota(_: UUID, __: int) -> None:
    return None


class MemoryKnowledge(MemoryKnowledgeReader):
    """`KnowledgeReader` and `KnowledgeWriter` in memory. `require_room` raises where a quota, which others keep, has no
    room for that many bytes more."""

    require_room: Callable[[UUID, int], Awaitable[None]] = staticmethod(_no_quota)

    async def create_knowledge_base(
        self, organisation_id: UUID, *, name: str, description: str, embedding: str, dimension: int
    ) -> KnowledgeBase:
        created = KnowledgeBase(new_id(), organisation_id, name, description, embedding, dimension, _now())
        self._knowledge_bases[organisation_id, created.id] = created
        return created

    async def update_knowledge_base(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, name: str | None, description: str | None
    ) -> KnowledgeBase:
        former = self._known(organisation_id, knowledge_base_id)
        self._knowledge_bases[organisation_id, knowledge_base_id] = replace(
            former,
            name=former.name if name is None else name,
            description=former.description if description is None else description,
        )
        return self._known(organisation_id, knowledge_base_id)

    async def delete_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[str]:
        self._known(organisation_id, knowledge_base_id)
        documents = list(self._in(organisation_id, knowledge_base_id))
        for document in documents:
            await self.delete_document(organisation_id, knowledge_base_id, document.id)
        del self._knowledge_bases[organisation_id, knowledge_base_id]
        return [document.storage_key for document in documents]

    async def add_document(self, document: Document) -> None:
        self._known(document.organisation_id, document.knowledge_base_id)
        await self.require_room(document.organisation_id, document.size)
        self._documents[document.organisation_id, document.id] = document

    async def update_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        title: str | None,
        importance: float | None,
    ) -> Document:
        former = await self.document(organisation_id, knowledge_base_id, document_id)
        return self._put(
            replace(
                former,
                title=former.title if title is None else title,
                importance=former.importance if importance is None else importance,
            )
        )

    async def renew_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        replacement: Document | None,
    ) -> tuple[Document, str | None]:
        former = await self.document(organisation_id, knowledge_base_id, document_id)
        source = replacement or former
        if source.size > former.size:
            await self.require_room(organisation_id, source.size - former.size)
        renewed = replace(
            former,
            filename=source.filename,
            title=source.title,
            content_type=source.content_type,
            size=source.size,
            sha256=source.sha256,
            storage_key=source.storage_key,
            status=DocumentStatus.QUEUED,
            stage=Stage.QUEUED,
            progress=0.0,
            error=None,
            revision=former.revision + 1,
        )
        superseded = former.storage_key if former.storage_key != source.storage_key else None
        return self._put(renewed), superseded

    async def delete_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> str:
        document = await self.document(organisation_id, knowledge_base_id, document_id)
        del self._documents[organisation_id, document_id]
        self._contents.pop((organisation_id, document_id), None)
        return document.storage_key

    async def set_progress(
        self,
        organisation_id: UUID,
        document_id: UUID,
        revision: int,
        *,
        status: DocumentStatus,
        stage: Stage,
        progress: float,
        error: dict[str, str] | None = None,
    ) -> bool:
        document = self._current(organisation_id, document_id, revision)
        if document is None:
            return False
        self._put(replace(document, status=status, stage=stage, progress=progress, error=error))
        return True

    async def write_document(
        self,
        organisation_id: UUID,
        document_id: UUID,
        revision: int,
        *,
        parsed: ParsedDocument,
        summary: str,
        topics: Sequence[str],
        document_type: str,
        summary_vector: Vectors | None,
        chunks: Sequence[ChunkDraft],
        vectors: Vectors,
        images: Sequence[ImageVectors] = (),
        embedding: str | None = None,
    ) -> Mapping[int, UUID] | None:
        document = self._current(organisation_id, document_id, revision)
        if document is None:
            return None
        base = self._known(organisation_id, document.knowledge_base_id)
        require_embedding(embedding, base.embedding)
        dimension = base.dimension
        require_vectors(vectors, count=len(chunks), dimension=dimension)
        if summary_vector is not None:
            require_vectors(summary_vector[None, :], count=1, dimension=dimension)
        for image in images:
            require_directions(image.vectors)
        ids = tuple(new_id() for _ in chunks)
        self._contents[organisation_id, document_id] = StoredContent(
            parsed=parsed,
            chunks=tuple(chunks),
            chunk_ids=ids,
            vectors=np.array(vectors, np.float32),
            index=index_chunks(chunks, parsed.title),
            summary_vector=summary_vector,
            images=tuple(images),
        )
        self._put(replace(document, summary=summary, topics=tuple(topics), type=document_type))
        return {chunk.ordinal: chunk_id for chunk, chunk_id in zip(chunks, ids, strict=True)}

    def _current(self, organisation_id: UUID, document_id: UUID, revision: int) -> Document | None:
        document = self._documents.get((organisation_id, document_id))
        return document if document is not None and document.revision == revision else None

    def _put(self, document: Document) -> Document:
        stored = replace(document, updated_at=_now())
        self._documents[document.organisation_id, document.id] = stored
        return stored


def _now() -> datetime:
    return datetime.now(UTC)
