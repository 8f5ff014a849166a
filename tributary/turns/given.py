"""Turns whose past comes with the request: their client keeps the conversation, and nothing of it is stored here but
what the turn cost."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from stores.protocols.conversations import Answer
from stores.protocols.usage import UsageLedger
from tributary.domain.conversations import Conversation, Message, MessageStatus, Role
from tributary.domain.errors import NotFound
from tributary.domain.usage import NOTHING_SPENT, Bill


@dataclass(frozen=True, slots=True)
class _Given:
    conversation: Conversation
    history: Sequence[Message]


class GivenConversations:
    """`TurnStore` of conversations that exist while their turn runs. Bills name no conversation: there is none."""

    def __init__(self, ledger: UsageLedger) -> None:
        self._ledger = ledger
        self._given: dict[UUID, _Given] = {}

    def open(self, organisation_id: UUID, conversation_id: UUID, bot_id: UUID, history: Sequence[Message]) -> None:
        """Makes a conversation with this past: pairs of a question and its answer, oldest first."""
        now = datetime.now(UTC)
        made = Conversation(conversation_id, organisation_id, bot_id, title="", created_at=now, updated_at=now)
        self._given[conversation_id] = _Given(made, history)

    def close(self, conversation_id: UUID) -> None:
        """Forgets it."""
        self._given.pop(conversation_id, None)

    async def get(self, organisation_id: UUID, conversation_id: UUID) -> Conversation:
        return self._find(organisation_id, conversation_id).conversation

    async def recent(
        self, organisation_id: UUID, conversation_id: UUID, *, limit: int, **_: object
    ) -> Sequence[Message]:
        return self._find(organisation_id, conversation_id).history[-limit:] if limit else ()

    async def begin_turn(
        self,
        organisation_id: UUID,
        *,
        conversation_id: UUID,
        question_id: UUID,
        content: str,
        attachments: Sequence[dict[str, Any]],
        **_: object,
    ) -> Message:
        """The question, which is kept nowhere."""
        return Message(
            id=question_id,
            conversation_id=self._find(organisation_id, conversation_id).conversation.id,
            parent_id=None,
            role=Role.USER,
            content=content,
            status=MessageStatus.RUNNING,
            created_at=datetime.now(UTC),
            attachments=tuple(attachments),
        )

    async def finish_turn(self, organisation_id: UUID, *, answer: Answer, **_: object) -> bool:
        """Keeps the bill alone."""
        await self._record(organisation_id, answer.bill)
        return True

    async def save_trace(self, *_: object, **__: object) -> None:
        """Traces tell what was asked: none is kept."""

    async def fail_turn(self, organisation_id: UUID, *, bill: Bill = NOTHING_SPENT, **_: object) -> None:
        """Keeps the bill alone."""
        await self._record(organisation_id, bill)

    async def _record(self, organisation_id: UUID, bill: Bill) -> None:
        if bill != NOTHING_SPENT:
            await self._ledger.record(organisation_id, replace(bill, conversation_id=None))

    def _find(self, organisation_id: UUID, conversation_id: UUID) -> _Given:
        found = self._given.get(conversation_id)
        if found is None or found.conversation.organisation_id != organisation_id:
            raise NotFound("conversation", conversation_id)
        return found


class Unqueued:
    """`TurnQueue` where no conversation has a second turn."""

    def turn(
        self, organisation_id: UUID, conversation_id: UUID, *, timeout: float
    ) -> AbstractAsyncContextManager[None]:
        """Held by nobody else."""
        del organisation_id, conversation_id, timeout
        return nullcontext()

    def claim(
        self, organisation_id: UUID, conversation_ids: Sequence[UUID]
    ) -> AbstractAsyncContextManager[Sequence[UUID]]:
        del organisation_id
        return nullcontext(conversation_ids)

    async def held(self, *_: UUID, **__: UUID) -> bool:
        return False
