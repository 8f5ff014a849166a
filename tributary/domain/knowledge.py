"""Knowledge bases, their documents and chunks."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

DEFAULT_IMPORTANCE = 0.5


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """`embedding` and `dimension` are fixed at creation: spaces are never mixed."""

    id: UUID
    organisation_id: UUID
    name: str
    description: str
    embedding: str
    dimension: int
    created_at: datetime
    document_count: int = 0


class DocumentStatus(StrEnum):
    QUEUED = "queued"
    PROCESSING = "processing"
    READY = "ready"
    FAILED = "failed"


class Stage(StrEnum):
    """Where a document is in ingestion; each stage ends at a documented share of the progress."""

    QUEUED = "queued"
    PARSING = "parsing"
    SPLITTING = "splitting"
    EMBEDDING = "embedding"
    SUMMARISING = "summarising"
    EXTRACTING = "extracting"
    INDEXING = "indexing"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class Document:
    """One file of a knowledge base. `revision` grows with each replace or re-ingest; a worker that holds an
    older one has lost the race and writes nothing."""

    id: UUID
    organisation_id: UUID
    knowledge_base_id: UUID
    filename: str
    title: str
    content_type: str
    size: int
    sha256: str
    storage_key: str
    status: DocumentStatus
    stage: Stage
    progress: float
    importance: float
    created_at: datetime
    updated_at: datetime
    revision: int = 1
    error: dict[str, str] | None = None
    summary: str = ""
    topics: tuple[str, ...] = ()
    #: What kind of document it is ("manual", "report", …), as ingestion judged it; not the content type.
    type: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a parsed document: `start` and `end` are character offsets into the document's text."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that the layout shows: `text[start:end]`, level 1 the highest."""

    level: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture inside a document, as a small JPEG. It stands behind the characters before `offset`, on the page of
    this number where the document has pages."""

    data: bytes
    offset: int
    page: int | None = None


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """The text of a document, with what is needed to find a passage again.

    `headings` are given, in order, where the text doesn't mark them (a PDF's, by type size) or the parser knows them
    better; Markdown needs none. Only splitting reads them. `pictures` are those inside the document, in order; only
    embedding reads them, and a document that is itself a picture has none.
    """

    text: str
    pages: tuple[Page, ...] = ()
    title: str = ""
    headings: tuple[Heading, ...] = ()
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkDraft:
    """A chunk before it is stored. `text` is exactly `document.text[start:end]`; `heading` is the path of
    headings above it, embedded and indexed with it but not part of the text."""

    ordinal: int
    text: str
    start: int
    end: int
    page: int | None = None
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored chunk with what a citation shows."""

    id: UUID
    knowledge_base_id: UUID
    document_id: UUID
    filename: str
    text: str
    start: int
    end: int
    page: int | None
    importance: float
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A line of a knowledge base's map."""

    id: UUID
    title: str
    filename: str
    type: str
    summary: str
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeBaseMap:
    """What a knowledge base holds: as many documents as were asked for, of `document_count` in all."""

    knowledge_base_id: UUID
    name: str
    document_count: int
    documents: tuple[DocumentSummary, ...]
