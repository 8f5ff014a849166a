"""A process that begins a turn and never ends it; it is there to be killed.

`python -m tests.support.turn_holder DSN ORGANISATION BOT CONVERSATION` says `held` once the question is stored.
"""

import asyncio
import sys
from uuid import UUID

from stores.postgres.conversations import PostgresConversations
from stores.postgres.database import Database
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.turns import PostgresTurnQueue
from tributary.domain.ids import new_id


async def hold(dsn: str, organisation_id: UUID, bot_id: UUID, conversation_id: UUID) -> None:
    database, queue = Database(dsn, role=SERVING_ROLE, pool_size=1), PostgresTurnQueue(dsn, SERVING_ROLE)
    await database.open()
    await queue.open()
    async with queue.turn(organisation_id, conversation_id, timeout=10):
        await PostgresConversations(database, queue).begin_turn(
            organisation_id,
            conversation_id=conversation_id,
            bot_id=bot_id,
            question_id=new_id(),
            content="Will anybody answer?",
            attachments=[],
        )
        sys.stdout.write("held\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1], *(UUID(each) for each in sys.argv[2:])))
