"""Uploading, downloading and removing attachments (SPEC §1)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from tributary.domain.attachments import MAX_FILE_BYTES, MAX_FILES, AttachmentClaim, FileType
from tributary.domain.ids import parse_id
from tributary.files.names import content_disposition
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.file_results import Outcome, one_by_one
from tributary.routes.idempotency import Key, Result, fingerprint, once
from tributary.routes.multipart import Form, ReceivedFile, receive_form
from tributary.routes.shapes import Shape
from tributary.services import Services

router = APIRouter(prefix="/api/bot/attachments", tags=["attachments"], responses=problems(403))

UPLOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["files"],
                    "properties": {
                        "files": {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MAX_FILES,
                            "items": {"type": "string", "format": "binary"},
                        }
                    },
                }
            }
        },
    }
}

FILE_BODY: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file as it was uploaded",
        "content": {kind.value: {"schema": {"type": "string", "format": "binary"}} for kind in FileType},
    }
}


class FileError(Shape):
    code: str
    detail: str


class UploadedShape(Shape):
    """A file that was stored, or one that was refused (`error`)."""

    id: UUID | None = None
    access_token: str | None = None
    filename: str | None = None
    content_type: str | None = None
    size: int | None = None
    error: FileError | None = None


class UploadsShape(UploadedShape):
    """A result for each file, in the order sent; the fields of a single one stand here, too."""

    files: list[UploadedShape]


@router.post(
    "/upload",
    status_code=201,
    response_model=UploadsShape,
    responses=problems(409, 413, 415, 429),
    openapi_extra=UPLOAD_BODY,
)
async def upload(request: Request, caller: CallerOf, services: ServicesOf, key: Key = None) -> JSONResponse:
    """1 to 5 files of up to 50 MB each, in the field `files`. One file's failure does not lose the others."""
    form = await receive_form(request, services.uploads.incoming, max_files=MAX_FILES, max_bytes=MAX_FILE_BYTES)
    try:
        return await once(
            services.idempotency,
            caller.organisation_id,
            route="upload",
            key=key,
            mark=fingerprint(*(f"{file.filename} {file.received}" for file in form.files)),
            work=lambda: _store_all(form, caller, services),
        )
    finally:
        await asyncio.to_thread(form.discard)


async def _store_all(form: Form, caller: CallerOf, services: Services) -> Result:
    results, problem = await one_by_one(form.files, lambda file: _store(file, caller, services))
    if problem is not None:
        return problem["status"], {**problem, "files": results}
    body: dict[str, Any] = {"files": results}
    if len(results) == 1:
        body |= results[0]
    return 201, body


async def _store(file: ReceivedFile, caller: CallerOf, services: Services) -> Outcome:
    assert file.received is not None
    uploaded = await services.uploads.store(caller.organisation_id, file.filename, file.path, file.received)
    attachment = uploaded.attachment
    return {
        "id": str(attachment.id),
        "accessToken": uploaded.access_token,
        "filename": attachment.filename,
        "contentType": attachment.file_type.value,
        "size": attachment.size,
    }


Token = Annotated[str | None, Query(description="The access token; not needed once a message has used the file")]


def _claim(attachment_id: str, token: str | None) -> AttachmentClaim:
    claim = AttachmentClaim(id=str(parse_id("attachment", attachment_id)))
    if token:
        claim["accessToken"] = token
    return claim


@router.get("/{attachment_id}", response_class=StreamingResponse, responses=FILE_BODY)
async def download(attachment_id: str, caller: CallerOf, services: ServicesOf, token: Token = None) -> Response:
    """The file as it was uploaded, never to be shown in place."""
    attachment, pieces = await services.uploads.open(caller.organisation_id, _claim(attachment_id, token), used=True)
    first = await anext(pieces, b"")  # a missing blob is a 404, not a broken body
    return StreamingResponse(
        _chained(first, pieces),
        media_type=attachment.file_type.value,
        headers={
            "Content-Disposition": content_disposition(attachment.filename),
            "Content-Length": str(attachment.size),
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "Cache-Control": "private, no-store",
        },
    )


async def _chained(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


@router.delete("/{attachment_id}", status_code=204, responses=problems(409))
async def delete(attachment_id: str, caller: CallerOf, services: ServicesOf, token: Token = None) -> Response:
    """Removes a file that no message used."""
    await services.uploads.delete(caller.organisation_id, _claim(attachment_id, token))
    return Response(status_code=204)
