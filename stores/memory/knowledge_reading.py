"""Reading knowledge bases, documents and chunks from memory."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from stores.postings import DocumentPostings
from stores.protocols.knowledge import ImageVectors
from stores.text_missing import text_missing
from tributary.domain.errors import NotFound
from tributary.domain.knowledge import (
    Chunk,
    ChunkDraft,
    Document,
    DocumentStatus,
    DocumentSummary,
    KnowledgeBase,
    KnowledgeBaseMap,
    ParsedDocument,
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


class MemoryKnowledgeReader:
    """`KnowledgeReader` in memory."""

    def __init__(self) -> None:
        self._knowledge_bases: dict[tuple[UUID, UUID], KnowledgeBase] = {}
        self._documents: dict[tuple[UUID, UUID], Document] = {}
        self._contents: dict[tuple[UUID, UUID], StoredContent] = {}

    # What the memory twins of search and graph read.

    def has_document(self, organisation_id: UUID, document_id: UUID) -> bool:
        """Whether it exists, searchable or not."""
        return (organisation_id, document_id) in self._documents

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

    # What the memory twin of reindexing writes.

    def put_content(self, document: Document, content: StoredContent) -> None:
        self._contents[document.organisation_id, document.id] = content

    def put_space(self, knowledge_base: KnowledgeBase) -> None:
        self._knowledge_bases[knowledge_base.organisation_id, knowledge_base.id] = knowledge_base

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
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        after: UUID | None,
        limit: int,
        status: DocumentStatus | None = None,
    ) -> Sequence[Document]:
        self._known(organisation_id, knowledge_base_id)
        documents = [each for each in self._in(organisation_id, knowledge_base_id) if status in (None, each.status)]
        return [each for each in documents if after is None or each.id > after][:limit]

    async def document_text(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> ParsedDocument:
        document = await self.document(organisation_id, knowledge_base_id, document_id)
        content = self._contents.get((organisation_id, document_id))
        if content is None:
            raise text_missing(document.error if document.status is DocumentStatus.FAILED else None)
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

    def _known(self, organisation_id: UUID, knowledge_base_id: UUID) -> KnowledgeBase:
        found = self.knowledge_base(organisation_id, knowledge_base_id)
        if found is None:
            raise NotFound("Knowledge base", knowledge_base_id)
        return found

    def _in(self, organisation_id: UUID, knowledge_base_id: UUID) -> Iterable[Document]:
        for (owner, _), document in sorted(self._documents.items()):
            if owner == organisation_id and document.knowledge_base_id == knowledge_base_id:
                yield document


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
