"""Knowledge bases, documents and chunks: reading and writing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tributary.domain.knowledge import (
    Chunk,
    ChunkDraft,
    Document,
    DocumentStatus,
    KnowledgeBase,
    KnowledgeBaseMap,
    ParsedDocument,
    Stage,
)
from tributary.models.protocols import Vectors


@dataclass(frozen=True, slots=True)
class ImageVectors:
    """What an image embedder made of a document's pictures: row i of `vectors` is a picture of chunk `ordinals[i]`."""

    model: str
    ordinals: tuple[int, ...]
    vectors: Vectors


class KnowledgeReader(Protocol):
    async def knowledge_bases(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[KnowledgeBase]:
        """In the order of `ids`; raises `NotFound` where one is unknown."""
        ...

    async def knowledge_base_named(self, organisation_id: UUID, name: str) -> KnowledgeBase | None:
        """The oldest of that name."""
        ...

    async def list_knowledge_bases(
        self, organisation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[KnowledgeBase]:
        """By id, oldest first, those behind `after`."""
        ...

    async def document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> Document: ...

    async def list_documents(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        after: UUID | None,
        limit: int,
        status: DocumentStatus | None = None,
    ) -> Sequence[Document]:
        """By id, oldest first, those behind `after`; with `status`, those in that state."""
        ...

    async def document_text(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> ParsedDocument:
        """Raises `Conflict` while the document was never indexed; it says why where that failed."""
        ...

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[Chunk]:
        """The chunks that still exist, in the order of `ids`, in one round trip."""
        ...

    async def map(
        self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID], *, limit: int
    ) -> Sequence[KnowledgeBaseMap]:
        """The searchable documents of each, the most important first, at most `limit` of each; in order of the
        ids. A document that is ingested again is searchable all the while."""
        ...


class KnowledgeWriter(Protocol):
    async def create_knowledge_base(
        self, organisation_id: UUID, *, name: str, description: str, embedding: str, dimension: int
    ) -> KnowledgeBase: ...

    async def update_knowledge_base(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, name: str | None, description: str | None
    ) -> KnowledgeBase: ...

    async def delete_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[str]:
        """Removes it with all that is in it, unlinks it from bots, and returns the storage keys of its files."""
        ...

    async def add_document(self, document: Document) -> None:
        """Raises `NotFound` where the knowledge base is unknown, `QuotaExceeded` where the organisation's quota of
        bytes has no room for it: counted in the same transaction, so that no two pass together."""
        ...

    async def update_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        title: str | None,
        importance: float | None,
    ) -> Document: ...

    async def renew_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        *,
        replacement: Document | None,
    ) -> tuple[Document, str | None]:
        """Queues the document again under the next revision, with the file of `replacement` where there is one.
        What is searchable stays until the new revision is written. Returns the document, and the storage key that
        nothing needs any more. Raises `QuotaExceeded` as `add_document` does, and then nothing is changed."""
        ...

    async def delete_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> str:
        """Removes the document and all that only it supports; returns its storage key."""
        ...

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
        """False, with nothing changed, when the document is gone or has a newer revision: the worker stops."""
        ...

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
        """Puts chunks, vectors, postings and summary in the place of the former ones: one transaction, bulk writes.
        Returns the chunk ids by ordinal; None when the revision is not the document's any more.

        Raises:
            EmbeddingChanged: the vectors are of `embedding`, where that is given, and the knowledge base is not any
                more.
            Conflict: vectors that are not of the knowledge base's dimension, not one a chunk, not finite or zero.
        """
        ...
