"""Conversations in PostgreSQL."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from stores.postgres import turn_records
from stores.postgres.chat_rows import ATTACHMENT, CONVERSATION, attachment, conversation
from stores.postgres.database import Database
from stores.postgres.messages import read_page, read_recent
from stores.postgres.statements import Statement, pipelined, query, run
from stores.postgres.turns import process_lives
from stores.protocols.conversations import Answer, TurnQueue
from tributary.domain.attachments import Attachment
from tributary.domain.conversations import Conversation, Message, MessageStatus
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import thread_id
from tributary.domain.usage import NOTHING_SPENT, Bill

_GET = f"SELECT {CONVERSATION} FROM conversations WHERE organisation_id = %(organisation)s AND id = %(conversation)s"
_RENAME = f"""
UPDATE conversations SET title = %(title)s
WHERE organisation_id = %(organisation)s AND id = %(conversation)s
RETURNING {CONVERSATION}
"""
_RUNNING = "SELECT conversation_id FROM messages WHERE organisation_id = %(organisation)s AND status = 'running'"
_INTERRUPT = """
UPDATE messages SET status = 'interrupted'
WHERE organisation_id = %(organisation)s AND conversation_id = ANY(%(conversations)s) AND status = 'running'
RETURNING id
"""
# What a dead turn has reserved is free again.
_FREE = "DELETE FROM budget_reservations WHERE organisation_id = %(organisation)s AND id = %(question)s RETURNING id"
_FREE_DEAD = f"""
DELETE FROM budget_reservations
WHERE organisation_id = %(organisation)s AND owner IS NOT NULL AND NOT {process_lives("owner")}
RETURNING id
"""
_TRACE = "SELECT trace FROM message_traces WHERE organisation_id = %(organisation)s AND message_id = %(message)s"

_LOCK = f"{_GET} FOR UPDATE"
# Another conversation may be about to use them; seen by the next statement when it was first.
_LOCK_ATTACHMENTS = """
SELECT a.id FROM attachment_uses u
JOIN message_attachments a ON a.organisation_id = u.organisation_id AND a.id = u.attachment_id
WHERE u.organisation_id = %(organisation)s AND u.conversation_id = %(conversation)s
ORDER BY a.id FOR UPDATE OF a
"""
_DELETE_ATTACHMENTS = f"""
WITH own AS (
    DELETE FROM attachment_uses
    WHERE organisation_id = %(organisation)s AND conversation_id = %(conversation)s
    RETURNING attachment_id
)
DELETE FROM message_attachments a USING own
WHERE a.organisation_id = %(organisation)s AND a.id = own.attachment_id AND NOT EXISTS (
    SELECT FROM attachment_uses other
    WHERE other.organisation_id = a.organisation_id AND other.attachment_id = a.id
      AND other.conversation_id <> %(conversation)s
)
RETURNING {ATTACHMENT}
"""
_DELETE_CHECKPOINTS = tuple(
    f"DELETE FROM {table} WHERE thread_id = %(thread)s RETURNING 1"
    for table in ("checkpoint_writes", "checkpoint_blobs", "checkpoints")
)
_DELETE = "DELETE FROM conversations WHERE organisation_id = %(organisation)s AND id = %(conversation)s RETURNING id"


def _page(bot_id: UUID | None, before: UUID | None) -> str:
    conditions = ["organisation_id = %(organisation)s"]
    if bot_id is not None:
        conditions.append("bot_id = %(bot)s")
    if before is not None:
        conditions.append("id < %(before)s")
    where = " AND ".join(conditions)
    return f"SELECT {CONVERSATION} FROM conversations WHERE {where} ORDER BY id DESC LIMIT %(limit)s"


class PostgresConversations:
    """`ConversationStore` on PostgreSQL. `queue` is this process's end of the queue of turns: what no turn holds may
    be deleted, and a question that runs while nobody holds its conversation is an orphan."""

    def __init__(self, database: Database, queue: TurnQueue) -> None:
        self._database = database
        self._queue = queue

    async def get(self, organisation_id: UUID, conversation_id: UUID) -> Conversation:
        return await self._one(organisation_id, conversation_id, _GET, {})

    async def list(
        self, organisation_id: UUID, *, bot_id: UUID | None, before: UUID | None, limit: int
    ) -> Sequence[Conversation]:
        values = {"bot": bot_id, "before": before, "limit": limit}
        rows = await query(self._database, organisation_id, _page(bot_id, before), values)
        return [conversation(row) for row in rows]

    async def rename(self, organisation_id: UUID, conversation_id: UUID, title: str) -> Conversation:
        return await self._one(organisation_id, conversation_id, _RENAME, {"title": title})

    async def delete(self, organisation_id: UUID, conversation_id: UUID) -> Sequence[Attachment]:
        async with self._queue.claim(organisation_id, [conversation_id]) as held:
            if not held:
                await self.get(organisation_id, conversation_id)
                raise Conflict("A turn of this conversation is running: stop it, or wait for its end")
            return await self._delete(organisation_id, conversation_id)

    async def messages(
        self, organisation_id: UUID, conversation_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[Message]:
        return await read_page(self._database, organisation_id, conversation_id, after=after, limit=limit)

    async def recent(
        self, organisation_id: UUID, conversation_id: UUID, *, limit: int, before: UUID | None = None
    ) -> Sequence[Message]:
        return await read_recent(self._database, organisation_id, conversation_id, limit=limit, before=before)

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
        return await turn_records.begin(
            self._database,
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
        return await turn_records.finish(
            self._database, organisation_id, conversation_id=conversation_id, question_id=question_id, answer=answer
        )

    async def save_trace(self, organisation_id: UUID, message_id: UUID, trace: dict[str, Any]) -> None:
        await turn_records.save_trace(self._database, organisation_id, message_id, trace)

    async def fail_turn(
        self,
        organisation_id: UUID,
        *,
        question_id: UUID,
        problem: dict[str, Any],
        status: MessageStatus,
        bill: Bill = NOTHING_SPENT,
    ) -> None:
        await turn_records.fail(
            self._database, organisation_id, question_id=question_id, problem=problem, status=status, bill=bill
        )

    async def interrupt_orphans(self, organisation_id: UUID) -> int:
        rows, _ = await run(self._database, organisation_id, [(_RUNNING, {}), (_FREE_DEAD, {})])
        running = [row["conversation_id"] for row in rows]
        if not running:
            return 0
        async with self._queue.claim(organisation_id, running) as held:
            if not held:
                return 0
            orphans = await query(self._database, organisation_id, _INTERRUPT, {"conversations": list(held)})
        await run(self._database, organisation_id, [(_FREE, {"question": each["id"]}) for each in orphans])
        return len(orphans)

    async def trace(self, organisation_id: UUID, message_id: UUID) -> dict[str, Any]:
        rows = await query(self._database, organisation_id, _TRACE, {"message": message_id})
        if not rows:
            raise NotFound("trace of message", message_id)
        trace: dict[str, Any] = rows[0]["trace"]
        return trace

    async def _one(
        self, organisation_id: UUID, conversation_id: UUID, statement: str, values: dict[str, Any]
    ) -> Conversation:
        rows = await query(self._database, organisation_id, statement, {"conversation": conversation_id, **values})
        if not rows:
            raise NotFound("conversation", conversation_id)
        return conversation(rows[0])

    async def _delete(self, organisation_id: UUID, conversation_id: UUID) -> Sequence[Attachment]:
        values = {
            "conversation": conversation_id,
            "thread": thread_id(organisation_id, conversation_id),
        }
        order = (_LOCK, _LOCK_ATTACHMENTS, _DELETE_ATTACHMENTS, *_DELETE_CHECKPOINTS, _DELETE)
        statements: list[Statement] = [(statement, values) for statement in order]
        async with self._database.organisation(organisation_id) as connection:
            known, _, attachments, *_ = await pipelined(connection, organisation_id, statements)
            if not known:
                raise NotFound("conversation", conversation_id)
        return [attachment(row) for row in attachments]
