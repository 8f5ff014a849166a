"""The documents of a knowledge base: sending, following, reading, replacing and deleting them (SPEC §6)."""

import asyncio
import json
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from tributary.domain.attachments import MAX_FILE_BYTES
from tributary.domain.errors import InvalidRequest, NotFound, TributaryError
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import DEFAULT_IMPORTANCE, Chunk, Document, DocumentStatus, Stage
from tributary.routes.access import CallerOf, OwnerOf, ServicesOf
from tributary.routes.described import events as described_events
from tributary.routes.described import problems
from tributary.routes.file_results import Outcome, one_by_one
from tributary.routes.idempotency import Key, Result, fingerprint, once
from tributary.routes.multipart import Form, ReceivedFile, receive_form
from tributary.routes.shapes import Body, Cursor, Limit, Name, Page, Shape, page_of, storable
from tributary.routes.streams import until
from tributary.services import Services

router = APIRouter(prefix="/knowledge/kb/{kb_id}/documents", tags=["documents"], responses=problems())

#: Files of one request.
MAX_DOCUMENTS = 20
MAX_TITLE = 500

_TITLE = {"type": "string", "maxLength": MAX_TITLE, "description": "By default the file's own, else its name"}
_IMPORTANCE = {"type": "number", "minimum": 0, "maximum": 1, "default": DEFAULT_IMPORTANCE}


def _form(most: int, **fields: Any) -> dict[str, Any]:
    files = {"type": "array", "minItems": 1, "maxItems": most, "items": {"type": "string", "format": "binary"}}
    schema = {"type": "object", "required": ["files"], "properties": {"files": files, **fields}}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


DOCUMENTS_BODY = _form(MAX_DOCUMENTS, title=_TITLE, importance=_IMPORTANCE)
REPLACEMENT_BODY = _form(1, title=_TITLE)
PROGRESS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events `progress`, each a document; `error`, a problem, where it is deleted meanwhile",
        "content": described_events("`progress` or `error`"),
    }
}


class DocumentError(Shape):
    code: str
    detail: str


class SentDocument(Shape):
    """A document that was taken in (`id`, `status`), or a file that was refused (`error`)."""

    filename: str
    id: UUID | None = None
    status: DocumentStatus | None = None
    error: DocumentError | None = None


class SentDocuments(Shape):
    documents: list[SentDocument]


class DocumentShape(Shape):
    id: UUID
    filename: str
    title: str
    content_type: str
    size: int
    type: str
    status: DocumentStatus
    stage: Stage
    progress: float = Field(ge=0, le=1)
    importance: float = Field(ge=0, le=1)
    error: DocumentError | None
    summary: str
    topics: list[str]
    created_at: datetime
    updated_at: datetime


class DocumentChanges(Body):
    title: Name | None = Field(None, max_length=MAX_TITLE)
    importance: float | None = Field(None, ge=0, le=1, allow_inf_nan=False)


class PageShape(Shape):
    number: int
    start: int
    end: int


class TextShape(Shape):
    text: str
    title: str
    pages: list[PageShape]


class ChunkShape(Shape):
    id: UUID
    document_id: UUID
    filename: str
    text: str
    start: int
    end: int
    page: int | None
    importance: float
    metadata: dict[str, Any]


def shape(document: Document) -> DocumentShape:
    return DocumentShape.model_validate(document)


def _ids(kb_id: str, document_id: str) -> tuple[UUID, UUID]:
    return parse_id("knowledge base", kb_id), parse_id("document", document_id)


@router.post(
    "",
    status_code=202,
    response_model=SentDocuments,
    responses=problems(403, 409, 413, 415, 429),
    openapi_extra=DOCUMENTS_BODY,
)
async def add_documents(
    kb_id: str, request: Request, caller: OwnerOf, services: ServicesOf, key: Key = None
) -> JSONResponse:
    """Files in the field `files`; `title` and `importance` count for each. One result a file, in order."""
    base_id = parse_id("knowledge base", kb_id)
    await services.knowledge.knowledge_bases(caller.organisation_id, [base_id])
    form = await receive_form(request, services.uploads.incoming, max_files=MAX_DOCUMENTS, max_bytes=MAX_FILE_BYTES)
    try:
        title, importance = _fields(form)
        return await once(
            services.idempotency,
            caller.organisation_id,
            route=f"documents {kb_id}",
            key=key,
            mark=fingerprint(f"{title} {importance}", *(f"{file.filename} {file.received}" for file in form.files)),
            work=lambda: _add_all(form, caller, services, base_id, title, importance),
        )
    finally:
        await asyncio.to_thread(form.discard)


def _fields(form: Form) -> tuple[str | None, float | None]:
    """The form's title and importance. Raises `InvalidRequest` where they are not as described."""
    title, given = form.fields.get("title"), form.fields.get("importance")
    try:
        importance = None if given is None else float(given)
        if title is not None:
            storable(title)
    except ValueError as error:
        raise InvalidRequest("importance is a number from 0 to 1, title a text") from error
    if importance is not None and not 0 <= importance <= 1:
        raise InvalidRequest("importance lies from 0 to 1")
    if title is not None and len(title) > MAX_TITLE:
        raise InvalidRequest(f"A title has at most {MAX_TITLE} characters")
    return title or None, importance


async def _add_all(
    form: Form, caller: OwnerOf, services: Services, base_id: UUID, title: str | None, importance: float | None
) -> Result:
    async def add(file: ReceivedFile) -> Outcome:
        document = await services.documents.add(
            caller.organisation_id, base_id, file.filename, file.path, title=title, importance=importance
        )
        return {"id": str(document.id), "filename": document.filename, "status": document.status.value}

    results, problem = await one_by_one(form.files, add)
    if problem is not None:
        return problem["status"], {**problem, "documents": results}
    return 202, {"documents": results}


@router.get("", response_model=Page[DocumentShape])
async def list_documents(
    kb_id: str,
    caller: CallerOf,
    services: ServicesOf,
    cursor: Cursor = None,
    limit: Limit = 50,
    status: DocumentStatus | None = None,
) -> object:
    """Oldest first; with `status`, those in that state."""
    base_id = parse_id("knowledge base", kb_id)
    found = await services.knowledge.list_documents(
        caller.organisation_id, base_id, after=cursor, limit=limit + 1, status=status
    )
    return page_of(found, limit, shape)


@router.get("/{document_id}", response_model=DocumentShape)
async def get_document(kb_id: str, document_id: str, caller: CallerOf, services: ServicesOf) -> DocumentShape:
    return shape(await services.knowledge.document(caller.organisation_id, *_ids(kb_id, document_id)))


@router.patch("/{document_id}", response_model=DocumentShape, responses=problems(403))
async def update_document(
    kb_id: str, document_id: str, body: DocumentChanges, caller: OwnerOf, services: ServicesOf
) -> DocumentShape:
    return shape(
        await services.knowledge.update_document(
            caller.organisation_id, *_ids(kb_id, document_id), title=body.title, importance=body.importance
        )
    )


@router.put(
    "/{document_id}",
    status_code=202,
    response_model=DocumentShape,
    responses=problems(403, 413, 415, 429),
    openapi_extra=REPLACEMENT_BODY,
)
async def replace_document(
    kb_id: str, document_id: str, request: Request, caller: OwnerOf, services: ServicesOf
) -> DocumentShape:
    """One new file in the place of the document's; what was searchable stays until the new one is indexed."""
    ids = _ids(kb_id, document_id)
    await services.knowledge.document(caller.organisation_id, *ids)
    form = await receive_form(request, services.uploads.incoming, max_files=1, max_bytes=MAX_FILE_BYTES)
    try:
        file, (title, _) = form.files[0], _fields(form)
        if file.error is not None:
            raise file.error
        return shape(
            await services.documents.replace(caller.organisation_id, *ids, file.filename, file.path, title=title)
        )
    finally:
        await asyncio.to_thread(form.discard)


@router.post("/{document_id}/reingest", status_code=202, response_model=DocumentShape, responses=problems(403))
async def reingest_document(kb_id: str, document_id: str, caller: OwnerOf, services: ServicesOf) -> DocumentShape:
    """Reads the stored file again, for example after a failure or with another model for summaries."""
    return shape(await services.documents.reingest(caller.organisation_id, *_ids(kb_id, document_id)))


@router.delete("/{document_id}", status_code=204, responses=problems(403))
async def delete_document(kb_id: str, document_id: str, caller: OwnerOf, services: ServicesOf) -> Response:
    await services.documents.delete(caller.organisation_id, *_ids(kb_id, document_id))
    return Response(status_code=204)


@router.get("/{document_id}/text", response_model=TextShape, responses=problems(409))
async def get_text(kb_id: str, document_id: str, caller: CallerOf, services: ServicesOf) -> TextShape:
    """The text that was indexed; offsets of chunks and sources count its characters."""
    return TextShape.model_validate(
        await services.knowledge.document_text(caller.organisation_id, *_ids(kb_id, document_id))
    )


@router.get("/{document_id}/chunks/{chunk_id}", response_model=ChunkShape)
async def get_chunk(kb_id: str, document_id: str, chunk_id: str, caller: CallerOf, services: ServicesOf) -> ChunkShape:
    return ChunkShape.model_validate(await _chunk(kb_id, document_id, chunk_id, caller, services))


async def _chunk(kb_id: str, document_id: str, chunk_id: str, caller: CallerOf, services: Services) -> Chunk:
    ids = _ids(kb_id, document_id)
    found = await services.knowledge.chunks(caller.organisation_id, [parse_id("chunk", chunk_id)])
    for chunk in found:
        if (chunk.knowledge_base_id, chunk.document_id) == ids:
            return chunk
    raise NotFound("chunk", chunk_id)


@router.get("/{document_id}/events", response_class=EventSourceResponse, responses=PROGRESS_EVENTS)
async def follow_document(
    kb_id: str, document_id: str, request: Request, caller: CallerOf, services: ServicesOf
) -> Response:
    """The document's progress as server-sent events `progress`, until it is ready or has failed. The first tells its
    state at that moment, so that a client that connects again misses nothing and needs no `Last-Event-ID`."""
    ids = _ids(kb_id, document_id)
    await services.knowledge.document(caller.organisation_id, *ids)

    async def events() -> AsyncGenerator[ServerSentEvent, None]:
        try:
            async for document in services.documents.progress(caller.organisation_id, *ids):
                yield ServerSentEvent(data=shape(document).model_dump_json(by_alias=True), event="progress")
        except TributaryError as error:  # deleted meanwhile, or the database is away
            yield ServerSentEvent(data=json.dumps(error.problem()), event="error")

    # Clients connect again by themselves: a server that stops does not wait for a document.
    return EventSourceResponse(
        until(request.app.state.stopping, events()), ping=10, headers={"Cache-Control": "no-store"}
    )
