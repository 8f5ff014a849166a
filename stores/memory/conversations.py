"""Conversations in memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from stores.memory.branches import read_page, read_recent
from stores.memory.tables import ConversationRow, MemoryTables
from stores.memory.turn_records import begin, finish
from stores.memory.usage import keep_bill
from stores.protocols.checkpoints import CheckpointStore
from stores.protocols.conversations import Answer, TurnQueue
from stores.texts import require_storable, storable
from tributary.domain.attachments import Attachment
from tributary.domain.conversations import Conversation, Message, MessageStatus, Role
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import thread_id
from tributary.domain.usage import NOTHING_SPENT, Bill


class MemoryConversations:
    """`ConversationStore` in memory."""

    def __init__(self, tables: MemoryTables, queue: TurnQueue, checkpoints: CheckpointStore) -> None:
        self._tables = tables
        self._queue = queue
        self._checkpoints = checkpoints

    async def get(self, organisation_id: UUID, conversation_id: UUID) -> Conversation:
        return self._told(self._row(organisation_id, conversation_id))

    async def list(
        self, organisation_id: UUID, *, bot_id: UUID | None, before: UUID | None, limit: int
    ) -> Sequence[Conversation]:
        found = [
            self._told(row)
            for key, row in self._tables.conversations.items()
            if key[0] == organisation_id
            and (bot_id is None or row.conversation.bot_id == bot_id)
            and (before is None or row.conversation.id < before)
        ]
        return sorted(found, key=lambda each: each.id, reverse=True)[:limit]

    async def rename(self, organisation_id: UUID, conversation_id: UUID, title: str) -> Conversation:
        row = self._row(organisation_id, conversation_id)
        require_storable(title)
        row.conversation = replace(row.conversation, title=title)
        return self._told(row)

    async def delete(self, organisation_id: UUID, conversation_id: UUID) -> Sequence[Attachment]:
        self._row(organisation_id, conversation_id)
        async with self._queue.claim(organisation_id, [conversation_id]) as held:
            if not held:
                raise Conflict("A turn of this conversation is running: stop it, or wait for its end")
            await self._checkpoints.saver().adelete_thread(thread_id(organisation_id, conversation_id))
            del self._tables.conversations[organisation_id, conversation_id]
            for key, message in list(self._tables.messages.items()):
                if key[0] == organisation_id and message.conversation_id == conversation_id:
                    del self._tables.messages[key]
                    self._tables.traces.pop(key, None)
            return self._drop_attachments(organisation_id, conversation_id)

    async def messages(
        self, organisation_id: UUID, conversation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[Message]:
        return read_page(self._tables, self._row(organisation_id, conversation_id), after=after, limit=limit)

    async def recent(
        self, organisation_id: UUID, conversation_id: UUID, *, limit: int, before: UUID | None = None
    ) -> Sequence[Message]:
        return read_recent(self._tables, self._row(organisation_id, conversation_id), limit=limit, before=before)

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
        return begin(
            self._tables,
            organisation_id,
            conversation_id=conversation_id,
            bot_id=bot_id,
            question_id=question_id,
            content=content,
            attachments=attachments,
            replace_message_id=replace_message_id,
        )

    async def finish_turn(
        self, organisation_id: UUID, *, conversation_id: UUID, question_id: UUID, answer: Answer
    ) -> bool:
        return finish(
            self._tables, organisation_id, conversation_id=conversation_id, question_id=question_id, answer=answer
        )

    async def save_trace(self, organisation_id: UUID, message_id: UUID, trace: dict[str, Any]) -> None:
        if (organisation_id, message_id) in self._tables.messages:
            self._tables.traces[organisation_id, message_id] = storable(trace)

    async def fail_turn(
        self,
        organisation_id: UUID,
        *,
        question_id: UUID,
        problem: dict[str, Any],
        status: MessageStatus,
        bill: Bill = NOTHING_SPENT,
    ) -> None:
        keep_bill(self._tables, organisation_id, bill)
        question = self._tables.messages.get((organisation_id, question_id))
        open_statuses = (MessageStatus.RUNNING, MessageStatus.INTERRUPTED)
        if question is not None and question.role is Role.USER and question.status in open_statuses:
            details = question.details | {"problem": storable(problem)}
            self._tables.messages[organisation_id, question_id] = replace(question, status=status, details=details)

    async def interrupt_orphans(self, organisation_id: UUID) -> int:
        self._free_dead(organisation_id)
        running = [
            message
            for key, message in self._tables.messages.items()
            if key[0] == organisation_id and message.status is MessageStatus.RUNNING
        ]
        async with self._queue.claim(organisation_id, [each.conversation_id for each in running]) as held:
            orphans = [message for message in running if message.conversation_id in held]
            for orphan in orphans:
                interrupted = replace(orphan, status=MessageStatus.INTERRUPTED)
                self._tables.messages[organisation_id, orphan.id] = interrupted
                self._tables.reservations.pop((organisation_id, orphan.id), None)
        return len(orphans)

    def _free_dead(self, organisation_id: UUID) -> None:
        reservations, dead = self._tables.reservations, self._tables.dead
        for key in [key for key, made in reservations.items() if key[0] == organisation_id and made.owner in dead]:
            del reservations[key]

    async def trace(self, organisation_id: UUID, message_id: UUID) -> dict[str, Any]:
        if (organisation_id, message_id) not in self._tables.traces:
            raise NotFound("trace of message", message_id)
        return self._tables.traces[organisation_id, message_id]

    def _told(self, row: ConversationRow) -> Conversation:
        """The conversation as it is now: whether it is being answered stands with its messages."""
        known = row.conversation
        running = any(
            message.status is MessageStatus.RUNNING and message.conversation_id == known.id
            for key, message in self._tables.messages.items()
            if key[0] == known.organisation_id
        )
        return replace(known, running=running)

    def _row(self, organisation_id: UUID, conversation_id: UUID) -> ConversationRow:
        if (organisation_id, conversation_id) not in self._tables.conversations:
            raise NotFound("conversation", conversation_id)
        return self._tables.conversations[organisation_id, conversation_id]

    def _drop_attachments(self, organisation_id: UUID, conversation_id: UUID) -> Sequence[Attachment]:
        """Removes and returns those that no other conversation uses."""
        own = {use for use in self._tables.uses if use[:2] == (organisation_id, conversation_id)}
        self._tables.uses -= own
        kept = {(organisation, attachment) for organisation, _, attachment in self._tables.uses}
        gone = [
            (organisation, attachment) for organisation, _, attachment in own if (organisation, attachment) not in kept
        ]
        return [replace(self._tables.attachments.pop(key).attachment, conversation_id=conversation_id) for key in gone]
