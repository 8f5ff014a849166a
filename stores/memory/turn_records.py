"""Both ends of a turn in memory."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from stores.memory.tables import ConversationRow, MemoryTables
from stores.memory.usage import keep_bill
from stores.protocols.conversations import Answer
from stores.requirements import question_after
from stores.texts import require_storable, storable
from stores.titles import title_of
from tributary.domain.conversations import Conversation, Message, MessageStatus, Role
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import parse_id


def begin(
    tables: MemoryTables,
    organisation_id: UUID,
    *,
    conversation_id: UUID,
    bot_id: UUID,
    question_id: UUID,
    content: str,
    attachments: Sequence[dict[str, Any]],
    replace_message_id: UUID | None,
) -> Message:
    """See `ConversationStore.begin_turn`. Checks everything before it changes anything."""
    require_storable(content)
    row = _row(tables, organisation_id, conversation_id, bot_id) or ConversationRow(
        Conversation(
            id=conversation_id,
            organisation_id=organisation_id,
            bot_id=bot_id,
            title=title_of(content, attachments),
            created_at=tables.clock(),
            updated_at=tables.clock(),
        )
    )
    ids = [parse_id("attachment", each.get("id")) for each in attachments]
    for attachment_id in ids:
        if (organisation_id, attachment_id) not in tables.attachments:
            raise NotFound("attachment", attachment_id)
    parent_id = _parent(tables, row, replace_message_id)
    asked = tables.messages.get((organisation_id, question_id))
    if asked is not None:
        if asked.conversation_id != conversation_id or asked.status is not MessageStatus.RUNNING:
            raise Conflict(f"The message {question_id} was asked before")
        return asked
    question = Message(
        id=question_id,
        conversation_id=conversation_id,
        parent_id=parent_id,
        role=Role.USER,
        content=content,
        status=MessageStatus.RUNNING,
        created_at=tables.clock(),
        attachments=tuple(attachments),
    )
    _interrupt(tables, row)
    tables.conversations[organisation_id, conversation_id] = row
    _append(tables, row, question)
    for attachment_id in ids:
        tables.attachments[organisation_id, attachment_id].used = True
        tables.uses.add((organisation_id, conversation_id, attachment_id))
    return question


def finish(
    tables: MemoryTables, organisation_id: UUID, *, conversation_id: UUID, question_id: UUID, answer: Answer
) -> bool:
    """See `ConversationStore.finish_turn`."""
    keep_bill(tables, organisation_id, answer.bill)
    stored = tables.messages.get((organisation_id, answer.message_id))
    if stored is not None and stored.parent_id == question_id:
        return True
    question = tables.messages.get((organisation_id, question_id))
    row = tables.conversations.get((organisation_id, conversation_id))
    if question is None or row is None or question.conversation_id != conversation_id:
        return False
    if question.status is not MessageStatus.RUNNING:
        return False
    ended: dict[str, Any] = {
        "status": answer.status,
        "usage": answer.usage,
        "model": answer.model,
        "details": storable(answer.details),
    }
    if not answer.content.strip():
        ended["details"] = question.details | ended["details"]
        tables.messages[organisation_id, question_id] = replace(question, **ended)
        return True
    status, details = question_after(answer)
    tables.messages[organisation_id, question_id] = replace(
        question, status=status, details=question.details | storable(details)
    )
    message = Message(
        id=answer.message_id,
        conversation_id=conversation_id,
        parent_id=question_id,
        role=Role.ASSISTANT,
        content=storable(answer.content),
        created_at=tables.clock(),
        sources=tuple(storable(list(answer.sources))),
        **ended,
    )
    _append(tables, row, message)
    return True


def _row(tables: MemoryTables, organisation_id: UUID, conversation_id: UUID, bot_id: UUID) -> ConversationRow | None:
    row = tables.conversations.get((organisation_id, conversation_id))
    if row is not None and row.conversation.bot_id != bot_id:
        raise Conflict(f"Conversation {conversation_id} is another bot's")
    if (organisation_id, bot_id) not in tables.bots:
        raise NotFound("bot", bot_id)
    return row


def _parent(tables: MemoryTables, row: ConversationRow, replaced: UUID | None) -> UUID | None:
    if replaced is None:
        return row.head
    found = tables.messages.get((row.conversation.organisation_id, replaced))
    if found is None or found.role is not Role.USER or found.conversation_id != row.conversation.id:
        raise NotFound("question", replaced)
    return found.parent_id


def _interrupt(tables: MemoryTables, row: ConversationRow) -> None:
    for key, message in tables.messages.items():
        if message.conversation_id == row.conversation.id and message.status is MessageStatus.RUNNING:
            tables.messages[key] = replace(message, status=MessageStatus.INTERRUPTED)
            tables.reservations.pop(key, None)


def _append(tables: MemoryTables, row: ConversationRow, message: Message) -> None:
    tables.messages[row.conversation.organisation_id, message.id] = message
    row.head = message.id
    row.conversation = replace(row.conversation, updated_at=tables.clock())
