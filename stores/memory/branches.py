"""Reading the active branch of a conversation in memory."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from stores.memory.tables import ConversationRow, MemoryTables
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.domain.errors import NotFound

_SEEN_BY_MODEL = (MessageStatus.COMPLETE, MessageStatus.STOPPED)


def message_of(tables: MemoryTables, row: ConversationRow, message_id: UUID) -> Message:
    """Raises `NotFound` where the conversation has no such message."""
    found = tables.messages.get((row.conversation.organisation_id, message_id))
    if found is None or found.conversation_id != row.conversation.id:
        raise NotFound("message", message_id)
    return found


def upwards(tables: MemoryTables, row: ConversationRow, message_id: UUID | None) -> Iterator[Message]:
    """The message and those before it, newest first."""
    while message_id is not None:
        message = message_of(tables, row, message_id)
        yield message
        message_id = message.parent_id


def read_page(tables: MemoryTables, row: ConversationRow, *, after: UUID | None, limit: int) -> Sequence[Message]:
    branch = list(upwards(tables, row, row.head))[::-1]
    first = 0
    if after is not None:
        message_of(tables, row, after)
        first = len(list(upwards(tables, row, after)))
    return branch[first : first + limit]


def read_recent(tables: MemoryTables, row: ConversationRow, *, limit: int, before: UUID | None) -> Sequence[Message]:
    start = row.head if before is None else message_of(tables, row, before).parent_id
    seen: list[Message] = []
    for message in upwards(tables, row, start):
        if message.role is Role.ASSISTANT and message.status in _SEEN_BY_MODEL:
            assert message.parent_id is not None, "an answer has a question"
            seen += [message, message_of(tables, row, message.parent_id)]
        if len(seen) >= limit:
            break
    return seen[:limit][::-1]
