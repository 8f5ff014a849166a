"""Rows of knowledge bases, documents and chunks as the values of the domain, and the columns they need."""

from typing import Any

from psycopg.rows import DictRow

from tributary.domain.knowledge import (
    Chunk,
    Document,
    DocumentStatus,
    DocumentSummary,
    KnowledgeBase,
    Page,
    ParsedDocument,
    Stage,
)

DOCUMENT_COLUMNS = """
organisation_id, id, knowledge_base_id, filename, title, content_type, size, sha256, storage_key, status, stage,
progress, importance, revision, error, summary, topics, type, created_at, updated_at
"""


def knowledge_base(row: DictRow) -> KnowledgeBase:
    return KnowledgeBase(
        id=row["id"],
        organisation_id=row["organisation_id"],
        name=row["name"],
        description=row["description"],
        embedding=row["embedding"],
        dimension=row["dimension"],
        created_at=row["created_at"],
        document_count=row["document_count"],
    )


def document(row: DictRow) -> Document:
    values: dict[str, Any] = dict(row)
    values["status"] = DocumentStatus(row["status"])
    values["stage"] = Stage(row["stage"])
    values["topics"] = tuple(row["topics"])
    return Document(**values)


def summary(row: DictRow) -> DocumentSummary:
    return DocumentSummary(
        id=row["id"],
        title=row["title"],
        filename=row["filename"],
        type=row["type"],
        summary=row["summary"],
        topics=tuple(row["topics"]),
    )


def chunk(row: DictRow) -> Chunk:
    return Chunk(
        id=row["id"],
        knowledge_base_id=row["knowledge_base_id"],
        document_id=row["document_id"],
        filename=row["filename"],
        text=row["content"],
        start=row["start_offset"],
        end=row["end_offset"],
        page=row["page"],
        importance=row["importance"],
        metadata={"title": row["title"], "heading": row["heading"], "ordinal": row["ordinal"]},
    )


def parsed_document(row: DictRow) -> ParsedDocument:
    pages = tuple(Page(number=number, start=start, end=end) for number, start, end in row["pages"])
    return ParsedDocument(text=row["content"], pages=pages, title=row["title"])
