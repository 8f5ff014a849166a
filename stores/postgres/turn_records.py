"""Both ends of a turn in PostgreSQL: the question when it begins, the answer or the problem when it ends."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg.errors import ForeignKeyViolation

from stores.postgres.chat_rows import MESSAGE, message
from stores.postgres.database import Database
from stores.postgres.jsonb import as_jsonb
from stores.postgres.statements import Rows, Statement, query, run, sent
from stores.postgres.usage import billing
from stores.protocols.conversations import Answer
from stores.requirements import question_after
from stores.texts import storable
from stores.titles import title_of
from tributary.domain.conversations import Message, MessageStatus
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import parse_id
from tributary.domain.usage import Bill

#: The distance of the messages that branches leap to; see `messages.depth`.
LEAP = 64

# Makes the conversation or locks it: whoever writes to its messages does this first, so that nobody deadlocks.
_ENTER = """
INSERT INTO conversations (organisation_id, id, bot_id, title)
VALUES (%(organisation)s, %(conversation)s, %(bot)s, %(title)s)
ON CONFLICT (organisation_id, id) DO UPDATE SET updated_at = now()
RETURNING bot_id
"""
# What a dead turn has reserved is free again; a conversation has one such turn at most.
_INTERRUPT = """
WITH ended AS (
    UPDATE messages SET status = 'interrupted'
    WHERE organisation_id = %(organisation)s AND conversation_id = %(conversation)s AND status = 'running'
      AND id <> %(question)s
    RETURNING id
), freed AS (
    DELETE FROM budget_reservations
    WHERE organisation_id = %(organisation)s AND id = (SELECT id FROM ended LIMIT 1)
)
SELECT id FROM ended
"""
# A node that runs twice, since its first answer was lost with the connection, finds its question there.
_ASK = f"""
INSERT INTO messages AS asked
    (organisation_id, id, conversation_id, parent_id, depth, leap_id, role, content, status, attachments)
SELECT c.organisation_id, %(question)s, c.id, p.id, coalesce(p.depth + 1, 0),
       CASE WHEN p.depth %% {LEAP} = 0 THEN p.id ELSE p.leap_id END, 'user', %(content)s, 'running', %(attachments)s
FROM conversations c
LEFT JOIN LATERAL (
    SELECT id, parent_id FROM messages
    WHERE organisation_id = c.organisation_id AND id = %(replaced)s AND conversation_id = c.id AND role = 'user'
    OFFSET 0
) replaced ON true
LEFT JOIN LATERAL (
    SELECT id, depth, leap_id FROM messages
    WHERE organisation_id = c.organisation_id AND conversation_id = c.id
      AND id = CASE WHEN %(replaced)s::uuid IS NULL THEN c.head_message_id ELSE replaced.parent_id END OFFSET 0
) p ON true
WHERE c.organisation_id = %(organisation)s AND c.id = %(conversation)s
  AND (%(replaced)s::uuid IS NULL OR replaced.id IS NOT NULL)
ON CONFLICT (organisation_id, id) DO UPDATE SET status = 'running'
    WHERE asked.conversation_id = EXCLUDED.conversation_id AND asked.status = 'running'
RETURNING {MESSAGE}
"""
_HEAD = """
UPDATE conversations SET head_message_id = %(question)s
WHERE organisation_id = %(organisation)s AND id = %(conversation)s
RETURNING id
"""
_USE = """
WITH used AS (
    UPDATE message_attachments SET used_at = coalesce(used_at, now())
    WHERE organisation_id = %(organisation)s AND id = ANY(%(ids)s)
    RETURNING id
), linked AS (
    INSERT INTO attachment_uses (organisation_id, conversation_id, attachment_id)
    SELECT %(organisation)s, %(conversation)s, id FROM used
    ON CONFLICT DO NOTHING
)
SELECT id FROM used
"""

_LOCK = """
SELECT id FROM conversations WHERE organisation_id = %(organisation)s AND id = %(conversation)s FOR NO KEY UPDATE
"""
_RUNNING = """
WHERE organisation_id = %(organisation)s AND id = %(question)s AND conversation_id = %(conversation)s
  AND status = 'running'
"""
_ANSWER = f"""
WITH done AS (
    UPDATE messages SET status = %(question_status)s, details = details || %(question_details)s {_RUNNING}
    RETURNING organisation_id, conversation_id, id, depth, leap_id
), answered AS (
    INSERT INTO messages (organisation_id, id, conversation_id, parent_id, depth, leap_id, role, content, status,
                          sources, usage, model, details)
    SELECT organisation_id, %(answer)s, conversation_id, id, depth + 1,
           CASE WHEN depth %% {LEAP} = 0 THEN id ELSE leap_id END, 'assistant', %(content)s, %(status)s,
           %(sources)s, %(usage)s, %(model)s, %(details)s
    FROM done
), moved AS (
    UPDATE conversations c SET head_message_id = %(answer)s, updated_at = now()
    FROM done WHERE c.organisation_id = done.organisation_id AND c.id = done.conversation_id
)
SELECT id FROM done
UNION ALL
-- Stored by an earlier call, whose answer was lost with the connection.
SELECT id FROM messages
WHERE organisation_id = %(organisation)s AND id = %(answer)s AND parent_id = %(question)s
"""
_END_WITHOUT_ANSWER = f"""
UPDATE messages SET status = %(status)s, usage = %(usage)s, model = %(model)s, details = details || %(details)s
{_RUNNING}
RETURNING id
"""
# A turn that was taken over or cut off may still say why it failed.
_FAIL = """
UPDATE messages SET status = %(status)s, details = details || %(details)s
WHERE organisation_id = %(organisation)s AND id = %(question)s AND role = 'user'
  AND status IN ('running', 'interrupted')
RETURNING id
"""
_SAVE_TRACE = """
INSERT INTO message_traces (organisation_id, message_id, trace)
SELECT organisation_id, id, %(trace)s FROM messages
WHERE organisation_id = %(organisation)s AND id = %(message)s
FOR KEY SHARE
ON CONFLICT (organisation_id, message_id) DO UPDATE SET trace = EXCLUDED.trace
RETURNING message_id
"""


async def begin(
    database: Database,
    organisation_id: UUID,
    *,
    conversation_id: UUID,
    bot_id: UUID,
    question_id: UUID,
    content: str,
    attachments: Sequence[dict[str, Any]],
    replace_message_id: UUID | None,
) -> Message:
    """See `ConversationStore.begin_turn`."""
    ids = [parse_id("attachment", each.get("id")) for each in attachments]
    values = {
        "conversation": conversation_id,
        "bot": bot_id,
        "title": title_of(content, attachments),
        "question": question_id,
        "content": content,
        "attachments": as_jsonb(list(attachments)),
        "replaced": replace_message_id,
        "ids": ids,
    }
    statements: list[Statement] = [(each, values) for each in (_ENTER, _INTERRUPT, _ASK, _HEAD)]
    if attachments:
        statements.append((_USE, values))
    try:
        async with database.pipelined(organisation_id) as connection:
            entered, _, asked, _, *used = await sent(connection, organisation_id, statements)
            _require_begun(entered, asked, conversation_id, bot_id, question_id, replace_message_id)
            _require_all(ids, used)
    except ForeignKeyViolation as error:
        raise NotFound("bot", bot_id) from error
    return message(asked[0])


def _require_begun(
    entered: Rows,
    asked: Rows,
    conversation_id: UUID,
    bot_id: UUID,
    question_id: UUID,
    replace_message_id: UUID | None,
) -> None:
    if entered[0]["bot_id"] != bot_id:
        raise Conflict(f"Conversation {conversation_id} is another bot's")
    if not asked and replace_message_id is not None:
        raise NotFound("question", replace_message_id)
    if not asked:
        raise Conflict(f"The message {question_id} was asked before")


def _require_all(ids: Sequence[UUID], used: Sequence[Rows]) -> None:
    found = {row["id"] for rows in used for row in rows}
    for wanted in ids:
        if wanted not in found:
            raise NotFound("attachment", wanted)


async def finish(
    database: Database, organisation_id: UUID, *, conversation_id: UUID, question_id: UUID, answer: Answer
) -> bool:
    """See `ConversationStore.finish_turn`."""
    status, details = question_after(answer)
    values = {
        "conversation": conversation_id,
        "question": question_id,
        "answer": answer.message_id,
        "content": storable(answer.content),
        "status": answer.status.value,
        "sources": as_jsonb(list(answer.sources)),
        "usage": as_jsonb(answer.usage),
        "model": answer.model,
        "details": as_jsonb(answer.details),
        "question_status": status.value,
        "question_details": as_jsonb(details),
    }
    ending = _ANSWER if answer.content.strip() else _END_WITHOUT_ANSWER
    statements = [(_LOCK, values), (ending, values), *billing(answer.bill)]
    _, ended, *_ = await run(database, organisation_id, statements)
    return bool(ended)


async def fail(
    database: Database,
    organisation_id: UUID,
    *,
    question_id: UUID,
    problem: dict[str, Any],
    status: MessageStatus,
    bill: Bill,
) -> None:
    """See `ConversationStore.fail_turn`."""
    values = {"question": question_id, "status": status.value, "details": as_jsonb({"problem": problem})}
    await run(database, organisation_id, [(_FAIL, values), *billing(bill)])


async def save_trace(database: Database, organisation_id: UUID, message_id: UUID, trace: dict[str, Any]) -> None:
    """See `ConversationStore.save_trace`."""
    values = {"message": message_id, "trace": as_jsonb(trace)}
    await query(database, organisation_id, _SAVE_TRACE, values)
