"""Nothing that the chat's stores do in PostgreSQL reads a whole table, triggers of foreign keys included: as the
serving role, under the policies, among the rows of many organisations."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

import pytest

from stores.postgres.attachments import PostgresAttachments
from stores.postgres.bots import PostgresBots
from stores.postgres.conversations import PostgresConversations
from stores.postgres.database import Database
from stores.postgres.idempotency import PostgresIdempotency
from stores.postgres.identity import PostgresIdentity
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.turn_records import LEAP
from stores.postgres.turns import PostgresTurnQueue
from tests.support.chat_worlds import new_answer, new_attachment
from tests.support.crowds import fill, rows_read, scans, somebody
from tests.support.postgres import Server
from tributary.domain.bots import Weights
from tributary.domain.conversations import MessageStatus
from tributary.domain.identity import Limits
from tributary.domain.ids import new_id


@dataclass(frozen=True)
class Crowd:
    """One organisation of many; its bot, conversation, knowledge base and used attachment have one id."""

    database: Database
    conversations: PostgresConversations
    dsn: str
    id: UUID
    spot: UUID

    @property
    def bots(self) -> PostgresBots:
        return PostgresBots(self.database)

    @property
    def attachments(self) -> PostgresAttachments:
        return PostgresAttachments(self.database)

    @property
    def identity(self) -> PostgresIdentity:
        return PostgresIdentity(self.database)

    @property
    def idempotency(self) -> PostgresIdempotency:
        return PostgresIdempotency(self.database, owner=new_id())

    async def turn(self, ending: str) -> None:
        """A turn with an attachment; how it ends is how `ending` says."""
        question_id = new_id()
        await self.conversations.begin_turn(
            self.id,
            conversation_id=self.spot,
            bot_id=self.spot,
            question_id=question_id,
            content="Why?",
            attachments=[{"id": str(self.spot)}],
        )
        if ending == "orphaned":
            assert await self.conversations.interrupt_orphans(self.id) == 1
        elif ending == "failed":
            await self.conversations.fail_turn(
                self.id, question_id=question_id, problem={}, status=MessageStatus.FAILED
            )
        else:
            answer = new_answer("" if ending == "stopped" else "Because.")
            assert await self.conversations.finish_turn(
                self.id, conversation_id=self.spot, question_id=question_id, answer=answer
            )
            await self.conversations.save_trace(self.id, answer.message_id, {})

    async def scans(self) -> dict[str, int]:
        await self._flush()
        return scans(self.dsn)

    async def messages_read(self, deed: Awaitable[object]) -> int:
        """How many rows of messages the deed fetches."""
        await self._flush()
        before = rows_read(self.dsn, "messages")
        await deed
        await self._flush()
        return rows_read(self.dsn, "messages") - before

    async def _flush(self) -> None:
        async with self.database.pool.connection() as connection:
            await connection.execute("SELECT pg_stat_force_next_flush()")


@pytest.fixture(scope="module")
def crowded_dsn(postgres: Server) -> Iterator[str]:
    dsn = postgres.clone()
    fill(dsn)
    yield dsn
    postgres.drop(dsn)


@pytest.fixture
async def crowd(crowded_dsn: str) -> AsyncIterator[Crowd]:
    # One connection, so that its counts are the ones that are flushed.
    database, queue = (
        Database(crowded_dsn, role=SERVING_ROLE, pool_size=1),
        PostgresTurnQueue(crowded_dsn, SERVING_ROLE),
    )
    await database.open()
    await queue.open()
    yield Crowd(database, PostgresConversations(database, queue), crowded_dsn, *somebody(crowded_dsn))
    await queue.close()
    await database.close()


async def upload(crowd: Crowd) -> None:
    await crowd.identity.set_limits(crowd.id, Limits(quota_bytes=10**6, files_per_day=10**6))
    await crowd.attachments.check_quota(crowd.id, 1)
    await crowd.attachments.add(new_attachment(crowd.id, on_s3=True), token_hash=b"")


async def repeat_request(crowd: Crowd) -> None:
    store = crowd.idempotency
    await store.begin(crowd.id, "one", b"")
    await store.complete(crowd.id, "one", 200, {})
    await store.begin(crowd.id, "two", b"")
    await store.abandon(crowd.id, "two")


async def use_key(crowd: Crowd) -> None:
    key, secret = await crowd.identity.create_key(crowd.id)
    await crowd.identity.authenticate(secret)
    await crowd.identity.list_keys(crowd.id)
    await crowd.identity.revoke_key(crowd.id, key.id)


async def make_and_delete_bot(crowd: Crowd) -> None:
    bot = await crowd.bots.create(
        crowd.id, name="b", prompt="", model="m", knowledge_base_ids=[crowd.spot], weights=Weights()
    )
    await crowd.bots.update(crowd.id, bot.id, name="c", knowledge_base_ids=[crowd.spot])
    await crowd.bots.delete(crowd.id, bot.id)


async def read_conversation(crowd: Crowd) -> None:
    store = crowd.conversations
    [first, *_, last] = await store.messages(crowd.id, crowd.spot, after=None, limit=50)
    await store.messages(crowd.id, crowd.spot, after=first.id, limit=50)
    await store.recent(crowd.id, crowd.spot, limit=5)
    await store.recent(crowd.id, crowd.spot, limit=5, before=last.parent_id)


async def delete_conversation(crowd: Crowd) -> None:
    [_, *others] = await crowd.conversations.list(crowd.id, bot_id=None, before=None, limit=3)
    await crowd.conversations.delete(crowd.id, others[0].id)


async def list_everything(crowd: Crowd) -> None:
    await crowd.bots.list(crowd.id, after=None, limit=5)
    await crowd.bots.list(crowd.id, after=crowd.spot, limit=5)
    for bot_id in (None, crowd.spot):
        for before in (None, crowd.spot):
            await crowd.conversations.list(crowd.id, bot_id=bot_id, before=before, limit=5)
    await crowd.attachments.billing_events(crowd.id)


DEEDS: dict[str, Callable[[Crowd], Awaitable[object]]] = {
    "use a key": use_key,
    "read a bot": lambda crowd: crowd.bots.get(crowd.id, crowd.spot),
    "make and delete a bot": make_and_delete_bot,
    "list": list_everything,
    "upload": upload,
    "open an attachment": lambda crowd: crowd.attachments.resolve(
        crowd.id, [{"id": str(crowd.spot)}], conversation_id=crowd.spot
    ),
    "delete attachments": lambda crowd: crowd.attachments.delete(crowd.id, [new_id()]),
    "take unused attachments": lambda crowd: crowd.attachments.take_unused(crowd.id, datetime(2000, 1, 1, tzinfo=UTC)),
    "an answered turn": lambda crowd: crowd.turn("answered"),
    "a stopped turn": lambda crowd: crowd.turn("stopped"),
    "a failed turn": lambda crowd: crowd.turn("failed"),
    "an orphaned turn": lambda crowd: crowd.turn("orphaned"),
    "read a conversation": read_conversation,
    "rename a conversation": lambda crowd: crowd.conversations.rename(crowd.id, crowd.spot, "other"),
    "delete a conversation": delete_conversation,
    "repeat a request": repeat_request,
    "purge requests": lambda crowd: crowd.idempotency.purge(crowd.id),
}


@pytest.mark.parametrize("deed", DEEDS.values(), ids=DEEDS.keys())
async def test_no_table_is_read_whole(crowd: Crowd, deed: Callable[[Crowd], Awaitable[object]]) -> None:
    before = await crowd.scans()
    await deed(crowd)
    after = await crowd.scans()
    assert {table: after[table] - before[table] for table in after if after[table] != before[table]} == {}


async def test_a_table_that_is_read_whole_is_noticed(crowd: Crowd) -> None:
    before = await crowd.scans()
    async with crowd.database.organisation(crowd.id) as connection:
        for setting in ("enable_indexscan", "enable_bitmapscan"):
            await connection.execute(f"SET LOCAL {setting} = off")
        await connection.execute("SELECT trace FROM message_traces")
    after = await crowd.scans()
    assert after["message_traces"] == before["message_traces"] + 1


async def test_a_turn_of_a_long_conversation_reads_no_more_than_one_of_a_short_conversation(crowd: Crowd) -> None:
    async def costs() -> tuple[int, int]:
        turn = await crowd.messages_read(crowd.turn("answered"))
        return turn, await crowd.messages_read(crowd.conversations.recent(crowd.id, crowd.spot, limit=5))

    for _ in range(3):
        await crowd.turn("answered")
    short = await costs()
    for _ in range(100):
        await crowd.turn("answered")
    assert await costs() == short


async def test_a_page_of_a_long_conversation_reads_little_more_than_the_page(crowd: Crowd) -> None:
    for _ in range(100):
        await crowd.turn("answered")
    page = crowd.conversations.messages(crowd.id, crowd.spot, after=None, limit=10)
    # The page twice, the way from the leap behind it, and the leaps themselves.
    assert await crowd.messages_read(page) <= 20 + LEAP + 10
