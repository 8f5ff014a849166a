"""Conversations, their messages and traces, and the queue of turns of one conversation."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from tributary.domain.attachments import Attachment
from tributary.domain.conversations import Conversation, Message, MessageStatus, Usage
from tributary.domain.retrieval import Source
from tributary.domain.usage import NOTHING_SPENT, Bill


@dataclass(frozen=True, slots=True)
class Answer:
    """What a turn leaves in the conversation. `message_id` was chosen when the turn began."""

    message_id: UUID
    content: str
    status: MessageStatus
    sources: Sequence[Source]
    usage: Usage
    model: str
    details: dict[str, Any]
    #: What the turn spent; kept whether or not the answer still finds its question.
    bill: Bill = NOTHING_SPENT


class TurnStore(Protocol):
    """What a turn asks of the place that keeps its conversation."""

    async def get(self, organisation_id: UUID, conversation_id: UUID) -> Conversation: ...

    async def recent(
        self, organisation_id: UUID, conversation_id: UUID, *, limit: int, before: UUID | None = None
    ) -> Sequence[Message]:
        """The last `limit` messages of the active branch that the model may see, oldest first: pairs of a
        question and its answer, none of an interrupted or failed turn. With `before`, the branch as it stood
        before that question (for an edit)."""
        ...

    async def begin_turn(
        self,
        organisation_id: UUID,
        *,
        conversation_id: UUID,
        bot_id: UUID,
        question_id: UUID,
        content: str,
        attachments: Sequence[dict[str, Any]],
        replace_message_id: UUID | None = None,
    ) -> Message:
        """Stores the question as `running`, makes the conversation where it is new (titled after the question),
        and ties the attachments to it: one transaction. A turn that still counts as running when this one
        begins has lost its process: its question becomes `interrupted`.

        The caller holds the conversation in the `TurnQueue`: that is what makes a running question an orphan, and
        what keeps a conversation that was found from being deleted before its turn begins. Called again with the same
        `question_id` it changes nothing and returns the same message.

        Raises:
            NotFound: the bot or an attachment is unknown, or the message to replace is no question of this
                conversation.
            Conflict: the conversation is another bot's, or the question's turn has ended.
        """
        ...

    async def finish_turn(
        self, organisation_id: UUID, *, conversation_id: UUID, question_id: UUID, answer: Answer
    ) -> bool:
        """Stores the answer with its sources for ever, completes the question, and keeps the answer's bill: one
        transaction. False, with nothing but the bill stored, when the question is not running any more (deleted or
        interrupted). An answer without text is none: the question takes its status, and no message is added. One that
        is `failed` or `interrupted` is a part of an answer: it is kept for people to read, `recent` leaves it out, and
        the question takes its status and its `problem` too."""
        ...

    async def save_trace(self, organisation_id: UUID, message_id: UUID, trace: dict[str, Any]) -> None:
        """Keeps how the turn that made this answer ran; a message that is gone is no error."""
        ...

    async def fail_turn(
        self,
        organisation_id: UUID,
        *,
        question_id: UUID,
        problem: dict[str, Any],
        status: MessageStatus,
        bill: Bill = NOTHING_SPENT,
    ) -> None:
        """Marks the question `failed` or `interrupted` and keeps the problem; no answer is stored. A question whose
        turn has ended is left as it is, and one that is gone is no error. The bill is kept in any case."""
        ...


class ConversationStore(TurnStore, Protocol):
    """Conversations that are kept here, with everything that people do with them."""

    async def list(
        self, organisation_id: UUID, *, bot_id: UUID | None, before: UUID | None, limit: int
    ) -> Sequence[Conversation]:
        """Newest first by id, those before `before`."""
        ...

    async def rename(self, organisation_id: UUID, conversation_id: UUID, title: str) -> Conversation: ...

    async def delete(self, organisation_id: UUID, conversation_id: UUID) -> Sequence[Attachment]:
        """Removes the conversation, its messages and traces, its checkpoints, and the rows of its attachments,
        which are returned so that their blobs can be deleted.

        Raises:
            Conflict: a turn is running.
        """
        ...

    async def messages(
        self, organisation_id: UUID, conversation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[Message]:
        """The active branch, oldest first, those behind `after`."""
        ...

    async def interrupt_orphans(self, organisation_id: UUID) -> int:
        """Marks each running question whose conversation no process holds as `interrupted`; how many. What
        dead processes have reserved of the budget is free again."""
        ...

    async def trace(self, organisation_id: UUID, message_id: UUID) -> dict[str, Any]:
        """The trace of the turn that made this answer."""
        ...


class TurnQueue(Protocol):
    """One turn at a time for each conversation, over all processes."""

    def turn(
        self, organisation_id: UUID, conversation_id: UUID, *, timeout: float
    ) -> AbstractAsyncContextManager[None]:
        """Holds the conversation. Waiters of one process are served in order. A process that dies lets go at
        once.

        Raises:
            RateLimited: the turn could not start within `timeout` seconds.
        """
        ...

    def claim(
        self, organisation_id: UUID, conversation_ids: Sequence[UUID]
    ) -> AbstractAsyncContextManager[Sequence[UUID]]:
        """Holds, without waiting, those of the conversations that no process holds and nobody here waits for: what
        is given is held until the end, and no turn of it can start."""
        ...

    async def held(self, organisation_id: UUID, conversation_id: UUID) -> bool:
        """Whether any process holds the conversation at this moment."""
        ...
