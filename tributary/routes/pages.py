"""Pages of documents as pictures (SPEC §9), with the passage of a source marked."""

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Header, Path, Query, Response

from tributary.domain.errors import InvalidRequest
from tributary.domain.ids import parse_id
from tributary.ingestion.pages import PageView
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.described import problems

router = APIRouter(prefix="/knowledge/kb/{kb_id}/documents", tags=["documents"], responses=problems())

DEFAULT_WIDTH = 1_000
MAX_WIDTH = 2_400
#: Counted up when pages are drawn differently, so that nobody keeps pictures of the former kind.
_DRAWING = 1

Number = Annotated[int, Path(ge=1, le=1_000_000, description="From 1")]
Width = Annotated[int, Query(ge=50, le=MAX_WIDTH, description="Pixels across; a high page may come smaller")]
Offset = Annotated[int | None, Query(ge=0, description="In characters of the document's text, as sources carry it")]
Match = Annotated[str | None, Header(alias="If-None-Match", include_in_schema=False)]


class PngResponse(Response):
    media_type = "image/png"


@router.get(
    "/{document_id}/pages/{number}.png",
    response_class=PngResponse,
    responses={
        200: {"content": {"image/png": {"schema": {"type": "string", "format": "binary"}}}},
        304: {"description": "The picture is the one that the client has, by its ETag"},
    },
)
async def get_page(
    kb_id: str,
    document_id: str,
    number: Number,
    caller: CallerOf,
    services: ServicesOf,
    start: Offset = None,
    end: Offset = None,
    width: Width = DEFAULT_WIDTH,
    known: Match = None,
) -> Response:
    """A page of a PDF, or a document that is a picture, as PNG. `start` and `end` mark a passage on it."""
    if (start is None) != (end is None):
        raise InvalidRequest("start and end are given together")
    if start is not None and end is not None and start >= end:
        raise InvalidRequest("start lies before end")
    ids = parse_id("knowledge base", kb_id), parse_id("document", document_id)
    document = await services.pages.document(caller.organisation_id, *ids)
    view = PageView(number, width, start, end)
    tag = _tag(document.id, document.revision, view)
    headers = {"ETag": tag, "Cache-Control": "private, no-cache", "X-Content-Type-Options": "nosniff"}
    if known is not None and tag in {each.strip().removeprefix("W/") for each in known.split(",")}:
        return Response(status_code=304, headers=headers)
    return PngResponse(await services.pages.png(document, view), headers=headers)


def _tag(document_id: UUID, revision: int, view: PageView) -> str:
    marked = "" if view.start is None else f"-{view.start}-{view.end}"
    return f'"{_DRAWING}-{document_id.hex}-{revision}-{view.number}-{view.width}{marked}"'
