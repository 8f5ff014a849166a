"""Reading the active branch of a conversation.

A branch is found from its end: from the conversation's head along `parent_id`. Each step is a look-up in a lateral
subquery that can't be flattened (`OFFSET 0`), since a planner with old statistics would otherwise hash a whole table
for every step: 2,000 messages took seconds that way.
"""

from collections.abc import Sequence
from uuid import UUID

from stores.postgres.chat_rows import MESSAGE, message
from stores.postgres.database import Database
from stores.postgres.statements import run
from tributary.domain.conversations import Message
from tributary.domain.errors import NotFound

#: How many messages the model may not see are walked over, at most, in search of those that it may.
MAX_HIDDEN = 200

_KNOWN = "SELECT id FROM conversations WHERE organisation_id = %(organisation)s AND id = %(conversation)s"
# One message is always looked up with its conversation: both indexes that lead to it are then exact.
_HERE = "organisation_id = %(organisation)s AND conversation_id = %(conversation)s"
_POSITION = f"SELECT depth FROM messages WHERE {_HERE} AND id = %(message)s"
# From the head in leaps to the message nearest behind the page, from there step by step to the page's beginning.
_PAGE = f"""
WITH RECURSIVE page AS (
    SELECT coalesce(({_POSITION}) + 1, 0) AS first
), leaps AS (
    SELECT m.* FROM conversations c CROSS JOIN LATERAL (
        SELECT id, leap_id, depth FROM messages
        WHERE organisation_id = c.organisation_id AND conversation_id = c.id AND id = c.head_message_id OFFSET 0
    ) m
    WHERE c.organisation_id = %(organisation)s AND c.id = %(conversation)s
    UNION ALL
    SELECT m.* FROM leaps l CROSS JOIN LATERAL (
        SELECT id, leap_id, depth FROM messages
        WHERE {_HERE} AND id = l.leap_id OFFSET 0
    ) m
    WHERE m.depth >= (SELECT first FROM page) + %(limit)s - 1
), walk AS (
    SELECT m.* FROM (SELECT id FROM leaps ORDER BY depth LIMIT 1) entry CROSS JOIN LATERAL (
        SELECT id, parent_id, depth FROM messages
        WHERE {_HERE} AND id = entry.id OFFSET 0
    ) m
    UNION ALL
    SELECT m.* FROM walk w CROSS JOIN LATERAL (
        SELECT id, parent_id, depth FROM messages
        WHERE {_HERE} AND id = w.parent_id OFFSET 0
    ) m
    WHERE m.depth >= (SELECT first FROM page)
)
SELECT m.* FROM walk w CROSS JOIN LATERAL (
    SELECT {MESSAGE} FROM messages WHERE {_HERE} AND id = w.id OFFSET 0
) m
WHERE w.depth >= (SELECT first FROM page) AND w.depth < (SELECT first FROM page) + %(limit)s
ORDER BY w.depth
"""
# PostgreSQL walks only as far as the outer limit makes it: the cost does not depend on the branch's length.
_RECENT = f"""
WITH RECURSIVE walk AS (
    SELECT m.*, 1 AS steps FROM conversations c CROSS JOIN LATERAL (
        SELECT id, parent_id, role, status FROM messages
        WHERE organisation_id = c.organisation_id AND conversation_id = c.id AND id = CASE
            WHEN %(before)s::uuid IS NULL THEN c.head_message_id
            ELSE (SELECT parent_id FROM messages
                  WHERE organisation_id = %(organisation)s AND conversation_id = c.id AND id = %(before)s)
        END OFFSET 0
    ) m
    WHERE c.organisation_id = %(organisation)s AND c.id = %(conversation)s
    UNION ALL
    SELECT m.*, w.steps + 1 FROM walk w CROSS JOIN LATERAL (
        SELECT id, parent_id, role, status FROM messages
        WHERE {_HERE} AND id = w.parent_id OFFSET 0
    ) m
    WHERE w.steps < %(bound)s
), answers AS (
    SELECT id, parent_id, steps FROM walk
    WHERE role = 'assistant' AND status IN ('complete', 'stopped') LIMIT %(pairs)s
)
SELECT m.* FROM answers a CROSS JOIN LATERAL (
    SELECT {MESSAGE} FROM messages
    WHERE {_HERE} AND id IN (a.id, a.parent_id) OFFSET 0
) m
ORDER BY a.steps DESC, m.role DESC
"""


async def read_page(
    database: Database, organisation_id: UUID, conversation_id: UUID, *, after: UUID | None, limit: int
) -> Sequence[Message]:
    """The active branch behind `after`, oldest first. Where `after` stands on a branch that was left, the page goes on
    from the same place of the active one.

    Raises:
        NotFound: the conversation, or `after` in it.
    """
    values = {"conversation": conversation_id, "message": after, "limit": limit}
    known, position, rows = await run(
        database, organisation_id, [(_KNOWN, values), (_POSITION, values), (_PAGE, values)]
    )
    if not known:
        raise NotFound("conversation", conversation_id)
    if after is not None and not position:
        raise NotFound("message", after)
    return [message(row) for row in rows]


async def read_recent(
    database: Database, organisation_id: UUID, conversation_id: UUID, *, limit: int, before: UUID | None
) -> Sequence[Message]:
    """The last `limit` messages that the model may see, oldest first.

    Raises:
        NotFound: the conversation, or `before` in it.
    """
    values = {
        "conversation": conversation_id,
        "message": before,
        "before": before,
        "pairs": (limit + 1) // 2,
        "bound": limit + MAX_HIDDEN,
    }
    known, position, rows = await run(
        database, organisation_id, [(_KNOWN, values), (_POSITION, values), (_RECENT, values)]
    )
    if not known:
        raise NotFound("conversation", conversation_id)
    if before is not None and not position:
        raise NotFound("message", before)
    return [message(row) for row in rows][-limit:] if limit else []
