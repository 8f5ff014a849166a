"""Who calls, and what they may do: what a client shows of itself before it does anything."""

from uuid import UUID

from fastapi import APIRouter

from tributary.domain.attachments import MAX_FILE_BYTES, MAX_FILES, FileType
from tributary.domain.identity import Scope
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.shapes import Shape

router = APIRouter(prefix="/api/session", tags=["session"], responses=problems())


class FilesShape(Shape):
    """What a message takes along."""

    most: int
    max_bytes: int
    types: list[FileType]


class SessionShape(Shape):
    organisation_id: UUID
    organisation: str
    scope: Scope
    attachments: FilesShape
    chat_model: str
    embedding: str


@router.get("", response_model=SessionShape)
async def get_session(caller: CallerOf, services: ServicesOf) -> SessionShape:
    """The organisation of the key or the sign-in, its scope, and the limits and defaults that hold for it."""
    organisation = await services.identity.organisation(caller.organisation_id)
    return SessionShape(
        organisation_id=organisation.id,
        organisation=organisation.name,
        scope=caller.scope,
        attachments=FilesShape(most=MAX_FILES, max_bytes=MAX_FILE_BYTES, types=list(FileType)),
        chat_model=services.settings.chat_model,
        embedding=services.settings.embedding,
    )
