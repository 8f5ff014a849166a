"""The queue of turns on PostgreSQL when processes die and connections are lost."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from stores.postgres.roles import SERVING_ROLE
from stores.postgres.turns import PostgresTurnQueue, lock_key
from tests.support.chat_worlds import ChatWorld, new_answer
from tributary.domain.bots import Bot
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import Conflict, DependencyUnavailable, RateLimited
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]

ROOT = Path(__file__).parents[2]

# Who holds a lock, as PostgreSQL lists 64-bit advisory locks: in two halves.
_HOLDER = """
SELECT pid FROM pg_locks
WHERE locktype = 'advisory' AND granted AND objsubid = 1
  AND (classid::bigint << 32) | objid::bigint = %(key)s AND database = (
      SELECT oid FROM pg_database WHERE datname = current_database())
"""


def cut(dsn: str, organisation_id: UUID, conversation_id: UUID) -> None:
    """Ends the connection that holds the conversation, and returns when PostgreSQL has forgotten it."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        key = {"key": lock_key(organisation_id, conversation_id)}
        row = connection.execute(_HOLDER, key).fetchone()
        assert row is not None, "somebody holds the conversation"
        assert connection.execute("SELECT pg_terminate_backend(%s, 10000)", row).fetchone() == (True,)


@asynccontextmanager
async def another_process(dsn: str, bot: Bot, conversation_id: UUID) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process that holds a turn of the conversation."""
    arguments = (dsn, str(bot.organisation_id), str(bot.id), str(conversation_id))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.support.turn_holder", *arguments, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"held\n"
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_process_that_is_killed_lets_go_at_once_and_its_question_is_interrupted(
    postgres_chat: ChatWorld, chat_dsn: str
) -> None:
    chat, conversation_id = postgres_chat, new_id()
    bot = await chat.bot()
    async with another_process(chat_dsn, bot, conversation_id) as process:
        with pytest.raises(RateLimited):
            async with chat.queue.turn(chat.acme, conversation_id, timeout=0.05):
                pass
        with pytest.raises(Conflict):
            await chat.conversations.delete(chat.acme, conversation_id)
        assert await chat.conversations.interrupt_orphans(chat.acme) == 0

        process.send_signal(signal.SIGKILL)
        assert await process.wait() == -signal.SIGKILL
        async with chat.queue.turn(chat.acme, conversation_id, timeout=5):
            pass
        assert await chat.conversations.interrupt_orphans(chat.acme) == 1
    [question] = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=5)
    assert (question.content, question.status) == ("Will anybody answer?", MessageStatus.INTERRUPTED)


async def test_a_turn_goes_on_behind_a_killed_one(postgres_chat: ChatWorld, chat_dsn: str) -> None:
    chat, conversation_id = postgres_chat, new_id()
    bot = await chat.bot()
    async with another_process(chat_dsn, bot, conversation_id) as process:
        process.kill()
        await process.wait()
        async with chat.queue.turn(chat.acme, conversation_id, timeout=5):
            question = await chat.begin(bot, "And now?", conversation_id=conversation_id)
            await chat.finish(bot, question, "Now.")
    messages = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=5)
    assert [(message.content, message.status) for message in messages] == [
        ("Will anybody answer?", MessageStatus.INTERRUPTED),
        ("And now?", MessageStatus.COMPLETE),
        ("Now.", MessageStatus.COMPLETE),
    ]


async def test_a_turn_is_held_again_when_the_connection_was_lost(postgres_chat: ChatWorld, chat_dsn: str) -> None:
    chat, conversation_id = postgres_chat, new_id()
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        cut(chat_dsn, chat.acme, conversation_id)
        async with chat.queue.turn(chat.acme, new_id(), timeout=1):
            pass  # The next call finds the connection gone.
        with pytest.raises(RateLimited):
            async with chat.other_queue.turn(chat.acme, conversation_id, timeout=0.05):
                pass
    async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
        pass


async def test_a_turn_ends_in_peace_when_the_connection_was_lost(postgres_chat: ChatWorld, chat_dsn: str) -> None:
    chat, conversation_id = postgres_chat, new_id()
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        cut(chat_dsn, chat.acme, conversation_id)
    for queue in (chat.queue, chat.other_queue):
        async with queue.turn(chat.acme, conversation_id, timeout=1):
            pass


async def test_a_turn_whose_hold_was_lost_to_another_process_stores_no_answer(
    postgres_chat: ChatWorld, chat_dsn: str
) -> None:
    chat, conversation_id = postgres_chat, new_id()
    bot = await chat.bot()
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        first = await chat.begin(bot, "first", conversation_id=conversation_id)
        cut(chat_dsn, chat.acme, conversation_id)
        async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
            second = await chat.begin(bot, "second", conversation_id=conversation_id)
            assert not await chat.conversations.finish_turn(
                chat.acme, conversation_id=conversation_id, question_id=first.id, answer=new_answer("too late")
            )
            await chat.finish(bot, second, "in time")
    assert await chat.branch(bot, conversation_id) == ["first", "second", "in time"]


async def test_a_queue_that_closes_lets_go_of_everything(postgres_chat: ChatWorld, chat_dsn: str) -> None:
    chat, conversation_id = postgres_chat, new_id()
    queue = PostgresTurnQueue(chat_dsn, SERVING_ROLE)
    await queue.open()
    async with queue.turn(chat.acme, conversation_id, timeout=1):
        await queue.close()
        async with chat.queue.turn(chat.acme, conversation_id, timeout=5):
            pass
    with pytest.raises(DependencyUnavailable):
        async with queue.turn(chat.acme, conversation_id, timeout=1):
            pass


async def test_a_queue_without_a_server_is_a_dependency_that_is_missing() -> None:
    queue = PostgresTurnQueue("postgresql://127.0.0.1:1/none")
    with pytest.raises(DependencyUnavailable):
        await queue.open()
    with pytest.raises(DependencyUnavailable):
        async with queue.turn(new_id(), new_id(), timeout=1):
            pass
    await queue.close()
