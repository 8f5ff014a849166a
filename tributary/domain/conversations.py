"""Conversations and their messages."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Required
from uuid import UUID

from typing_extensions import TypedDict

from tributary.domain.retrieval import Source


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class MessageStatus(StrEnum):
    """A question is `RUNNING` until its turn ends. `INTERRUPTED`: the process died; `FAILED`: the turn was
    refused by a dependency; `STOPPED`: the user ended it, and the partial answer is kept."""

    COMPLETE = "complete"
    RUNNING = "running"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


class Cost(TypedDict, total=False):
    """US dollars; None where nobody says it. Left out where nobody counts."""

    costUsd: float | None


class Usage(Cost):
    """Tokens of an answer, and what it cost."""

    inputTokens: Required[int]
    outputTokens: Required[int]
    totalTokens: Required[int]


class NotSent(TypedDict):
    """A file that the model did not get, and why."""

    id: str
    filename: str
    reason: str


@dataclass(frozen=True, slots=True)
class Conversation:
    id: UUID
    organisation_id: UUID
    bot_id: UUID
    title: str
    created_at: datetime
    updated_at: datetime
    #: Whether its last question is being answered.
    running: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A question or an answer. `parent_id` is the message before it on its branch: an edited question has the
    same parent as the one it replaces, and the replaced branch is kept."""

    id: UUID
    conversation_id: UUID
    parent_id: UUID | None
    role: Role
    content: str
    status: MessageStatus
    created_at: datetime
    attachments: tuple[dict[str, Any], ...] = ()
    sources: tuple[Source, ...] = ()
    usage: Usage | None = None
    model: str | None = None
    #: `degraded`, `notSent` and `problem`, where the turn had them.
    details: dict[str, Any] = field(default_factory=dict)
