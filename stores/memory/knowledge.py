"""Knowledge bases, documents and chunks in memory: the reader and the writer in one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np

from stores.postings import DocumentPostings, index_chunks
from stores.protocols.knowledge import ImageVectors
from stores.vectors import require_directions, require_vectors
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id
from tributary.domain.knowledge import (
    Chunk,
    ChunkDraft,
    Document,
    DocumentStatus,
    DocumentSummary,
    KnowledgeBase,
    KnowledgeBaseMap,
    ParsedDocument,
    Stage,
)
from tributary.models.protocols import Vectors


@dataclass(frozen=True, slots=True)
class StoredContent:
    """The searchable form of a document. Row i of `vectors` and `chunk_ids[i]` belong to `chunks[i]`."""

    parsed: ParsedDocument
    chunks: tuple[ChunkDraft, ...]
    chunk_ids: tuple[UUID, ...]
    vectors: Vectors
    index: DocumentPostings
    summary_vector: Vectors | None
    images: tuple[ImageVectors, ...]


class MemoryKnowledge:
    """`KnowledgeReader` and `KnowledgeWriter` in memory."""

    def __init__(self) -> None:
        self._knowledge_bases: dict[tuple[UUID, UUID], KnowledgeBase] = {}
        self._documents: dict[tuple[UUID, UUID], Document] = {}
        self._contents: dict[tuple[UUID, UUID], StoredContent] = {}

    # What the memory twins of search and graph read.

    def contents(self, organisation_id: UUID, knowledge_base_id: UUID) -> list[tuple[Document, StoredContent]]:
        """The searchable documents, by id."""
        return [
            (document, self._contents[organisation_id, document.id])
            for document in self._in(organisation_id, knowledge_base_id)
            if (organisation_id, document.id) in self._contents
        ]

    def knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> KnowledgeBase | None:
        found = self._knowledge_bases.get((organisation_id, knowledge_base_id))
        if found is None:
            return None
        count = sum(1 for _ in self._in(organisation_id, knowledge_base_id))
        return replace(found, document_count=count)

    # KnowledgeReader

    async def knowledge_bases(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[KnowledgeBase]:
        return [self._known(organisation_id, wanted) for wanted in ids]

    async def knowledge_base_named(self, organisation_id: UUID, name: str) -> KnowledgeBase | None:
        for found in await self.list_knowledge_bases(organisation_id, after=None, limit=len(self._knowledge_bases)):
            if found.name == name:
                return found
        return None

    async def list_knowledge_bases(
        self, organisation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[KnowledgeBase]:
        ids = sorted(each for owner, each in self._knowledge_bases if owner == organisation_id)
        page = [each for each in ids if after is None or each > after][:limit]
        return [self._known(organisation_id, each) for each in page]

    async def document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> Document:
        found = self._documents.get((organisation_id, document_id))
        if found is None or found.knowledge_base_id != knowledge_base_id:
            raise NotFound("Document", document_id)
        return found

    async def list_documents(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[Document]:
        self._known(organisation_id, knowledge_base_id)
        documents = self._in(organisation_id, knowledge_base_id)
        return [each for each in documents if after is None or each.id > after][:limit]

    async def document_text(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> ParsedDocument:
        document = await self.document(organisation_id, knowledge_base_id, document_id)
        content = self._contents.get((organisation_id, document_id))
        if content is None:
            raise Conflict("The document is not parsed yet")
        return ParsedDocument(content.parsed.text, content.parsed.pages, document.title)

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[Chunk]:
        stored = {
            chunk_id: _chunk(self._documents[key], chunk_id, draft)
            for key, content in self._contents.items()
            if key[0] == organisation_id
            for chunk_id, draft in zip(content.chunk_ids, content.chunks, strict=True)
        }
        return [stored[each] for each in ids if each in stored]

    async def map(
        self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID], *, limit: int
    ) -> Sequence[KnowledgeBaseMap]:
        maps = []
        for found in await self.knowledge_bases(organisation_id, knowledge_base_ids):
            documents = [document for document, _ in self.contents(organisation_id, found.id)]
            documents.sort(key=lambda document: (-document.importance, document.id))
            summaries = tuple(_summary(document) for document in documents[:limit])
            maps.append(KnowledgeBaseMap(found.id, found.name, len(documents), summaries))
        return maps

    # KnowledgeWriter

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
    ) -> Mapping[int, UUID] | None:
        document = self._current(organisation_id, document_id, revision)
        if document is None:
            return None
        dimension = self._known(organisation_id, document.knowledge_base_id).dimension
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

    def _known(self, organisation_id: UUID, knowledge_base_id: UUID) -> KnowledgeBase:
        found = self.knowledge_base(organisation_id, knowledge_base_id)
        if found is None:
            raise NotFound("Knowledge base", knowledge_base_id)
        return found

    def _in(self, organisation_id: UUID, knowledge_base_id: UUID) -> Iterable[Document]:
        for (owner, _), document in sorted(self._documents.items()):
            if owner == organisation_id and document.knowledge_base_id == knowledge_base_id:
                yield document

    def _current(self, organisation_id: UUID, document_id: UUID, revision: int) -> Document | None:
        document = self._documents.get((organisation_id, document_id))
        return document if document is not None and document.revision == revision else None

    def _put(self, document: Document) -> Document:
        stored = replace(document, updated_at=_now())
        self._documents[document.organisation_id, document.id] = stored
        return stored


def _now() -> datetime:
    return datetime.now(UTC)


def _summary(document: Document) -> DocumentSummary:
    return DocumentSummary(
        document.id, document.title, document.filename, document.type, document.summary, document.topics
    )


def _chunk(document: Document, chunk_id: UUID, draft: ChunkDraft) -> Chunk:
    return Chunk(
        id=chunk_id,
        knowledge_base_id=document.knowledge_base_id,
        document_id=document.id,
        filename=document.filename,
        text=draft.text,
        start=draft.start,
        end=draft.end,
        page=draft.page,
        importance=document.importance,
        metadata={"title": document.title, "heading": draft.heading, "ordinal": draft.ordinal},
    )
