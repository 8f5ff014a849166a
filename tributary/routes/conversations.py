"""Conversations and their messages."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import Field

from tributary.domain.conversations import Conversation, Message, MessageStatus, Role
from tributary.domain.ids import parse_id
from tributary.routes.access import CallerOf, OwnerOf, ServicesOf
from tributary.routes.described import DegradationDict, NotSentDict, ProblemDict, SourceDict, UsageDict, problems
from tributary.routes.shapes import Body, Cursor, Limit, Name, Page, Shape, page_of

router = APIRouter(prefix="/api", tags=["conversations"], responses=problems())


class Renaming(Body):
    title: Name = Field(max_length=300)


class ConversationShape(Shape):
    id: UUID
    bot_id: UUID
    title: str
    created_at: datetime
    updated_at: datetime
    running: bool = Field(description="Whether an answer is being written")


class AttachedShape(Shape):
    id: UUID
    filename: str
    content_type: str
    size: int = Field(description="Bytes")


class MessageShape(Shape):
    id: UUID
    role: Role
    content: str
    attachments: list[AttachedShape]
    sources: list[SourceDict]
    usage: UsageDict | None
    created_at: datetime
    status: MessageStatus
    model: str | None
    parent_id: UUID | None
    degraded: list[DegradationDict]
    not_sent: list[NotSentDict]
    finish_reason: str | None
    error: ProblemDict | None


def shape(conversation: Conversation) -> ConversationShape:
    return ConversationShape.model_validate(conversation)


def message_shape(message: Message) -> MessageShape:
    return MessageShape(
        id=message.id,
        role=message.role,
        content=message.content,
        attachments=[AttachedShape.model_validate(file) for file in message.attachments],
        sources=[dict(source) for source in message.sources],
        usage=dict(message.usage) if message.usage else None,
        created_at=message.created_at,
        status=message.status,
        model=message.model,
        parent_id=message.parent_id,
        degraded=message.details.get("degraded", []),
        not_sent=message.details.get("notSent", []),
        finish_reason=message.details.get("finishReason"),
        error=message.details.get("problem"),
    )


@router.get("/conversations", response_model=Page[ConversationShape])
async def list_conversations(
    caller: CallerOf,
    services: ServicesOf,
    bot_id: Annotated[UUID | None, Query(alias="botId")] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> object:
    """Newest first."""
    found = await services.conversations.list(caller.organisation_id, bot_id=bot_id, before=cursor, limit=limit + 1)
    return page_of(found, limit, shape)


@router.get("/conversations/{conversation_id}", response_model=ConversationShape)
async def get_conversation(conversation_id: str, caller: CallerOf, services: ServicesOf) -> ConversationShape:
    identifier = parse_id("conversation", conversation_id)
    return shape(await services.conversations.get(caller.organisation_id, identifier))


@router.patch("/conversations/{conversation_id}", response_model=ConversationShape)
async def rename_conversation(
    conversation_id: str, body: Renaming, caller: CallerOf, services: ServicesOf
) -> ConversationShape:
    identifier = parse_id("conversation", conversation_id)
    return shape(await services.conversations.rename(caller.organisation_id, identifier, body.title))


@router.delete("/conversations/{conversation_id}", status_code=204, responses=problems(409))
async def delete_conversation(conversation_id: str, caller: CallerOf, services: ServicesOf) -> Response:
    """The conversation, its messages, its checkpoints, and the files of its messages."""
    await services.removal.delete(caller.organisation_id, parse_id("conversation", conversation_id))
    return Response(status_code=204)


@router.get("/conversations/{conversation_id}/messages", response_model=Page[MessageShape])
async def list_messages(
    conversation_id: str, caller: CallerOf, services: ServicesOf, cursor: Cursor = None, limit: Limit = 50
) -> object:
    """The active branch, oldest first, each answer with its own sources."""
    messages = await services.conversations.messages(
        caller.organisation_id, parse_id("conversation", conversation_id), after=cursor, limit=limit + 1
    )
    return page_of(messages, limit, message_shape)


@router.get("/messages/{message_id}/trace", responses=problems(403))
async def get_trace(message_id: str, caller: OwnerOf, services: ServicesOf) -> dict[str, Any]:
    """How the turn that made this answer ran: nodes with times, hits before and after the rerank, the context."""
    return await services.conversations.trace(caller.organisation_id, parse_id("message", message_id))
