"""What PostgreSQL tells of what people see in lists, and to whom."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import psycopg
import pytest

from stores.postgres.database import Database
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.signals import PostgresSignals
from tests.support.chat_worlds import ChatWorld
from tributary.changes import Change, Changes, Kind, Listener, News
from tributary.domain.conversations import MessageStatus
from tributary.domain.identity import Caller
from tributary.domain.ids import new_id
from tributary.domain.knowledge import DocumentStatus, Stage

pytest_plugins = ["tests.support.chat_fixtures"]

WITHIN = 20.0
PROBLEM = {"code": "provider_error"}
_MARK = "SELECT tell_changed(%s, 'bot', ARRAY[%s::uuid])"
_CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query = %s"


@dataclass
class Ears:
    """Those who listen to both organisations of a world."""

    chat: ChatWorld
    database: Database
    signals: PostgresSignals
    acme: Listener
    globex: Listener

    async def hear(self) -> list[tuple[Kind, str | None]]:
        """What acme hears from here to now. The other organisation hears none of it."""
        marks = {}
        for owner in (self.chat.acme, self.chat.globex):
            marks[owner] = Change(Kind.BOT, str(new_id()))
            async with self.database.pool.connection() as connection:
                await connection.execute(_MARK, (owner, marks[owner].id))
        heard: list[Change] = []
        while marks[self.chat.acme] not in heard:
            heard += (await self.acme.next(within=WITHIN)).changes
        assert await self.globex.next(within=WITHIN) == News((marks[self.chat.globex],))
        return [(each.kind, each.id) for each in heard[:-1]]


@pytest.fixture
async def ears(chat_dsn: str, postgres_chat: ChatWorld) -> AsyncIterator[Ears]:
    database = Database(chat_dsn, role=SERVING_ROLE, pool_size=2)
    await database.open()
    signals = PostgresSignals(database)
    changes = Changes(signals)
    await signals.open()
    with changes.listening(postgres_chat.acme) as here, changes.listening(postgres_chat.globex) as there:
        for listener in (here, there):
            assert await listener.next(within=WITHIN) == News(missed=True)
        yield Ears(postgres_chat, database, signals, here, there)
    await signals.close()
    await database.close()


def of(identifier: UUID, kind: Kind = Kind.CONVERSATION) -> tuple[Kind, str | None]:
    return kind, str(identifier)


async def test_a_conversation_is_told_at_both_ends_of_its_turn_once_each(ears: Ears) -> None:
    chat = ears.chat
    bot = await chat.bot()
    assert await ears.hear() == [of(bot.id, Kind.BOT)]
    question = await chat.begin(bot)
    assert await ears.hear() == [of(question.conversation_id)]
    await chat.finish(bot, question)
    assert await ears.hear() == [of(question.conversation_id)]


async def test_a_turn_that_ends_without_an_answer_is_told(ears: Ears) -> None:
    chat = ears.chat
    question = await chat.begin(await chat.bot())
    await ears.hear()
    await chat.conversations.fail_turn(chat.acme, question_id=question.id, problem=PROBLEM, status=MessageStatus.FAILED)
    assert await ears.hear() == [of(question.conversation_id)]
    again = await chat.begin(await chat.bot())
    await ears.hear()
    assert await chat.conversations.interrupt_orphans(chat.acme) == 1
    assert await ears.hear() == [of(again.conversation_id)]


async def test_what_people_do_with_a_conversation_is_told(ears: Ears) -> None:
    chat = ears.chat
    question = await chat.turn(await chat.bot())
    await ears.hear()
    await chat.conversations.rename(chat.acme, question.conversation_id, "Ferries")
    assert await ears.hear() == [of(question.conversation_id)]
    await chat.conversations.delete(chat.acme, question.conversation_id)
    assert await ears.hear() == [of(question.conversation_id)]


async def test_documents_are_told_with_their_knowledge_base(ears: Ears) -> None:
    chat = ears.chat
    await chat.document(10)
    [base] = await chat.knowledge.list_knowledge_bases(chat.acme, after=None, limit=1)
    [document] = await chat.knowledge.list_documents(chat.acme, base.id, after=None, limit=1)
    heard = await ears.hear()
    assert heard == [of(base.id, Kind.KNOWLEDGE_BASE), of(document.id, Kind.DOCUMENT)]
    await chat.knowledge.set_progress(
        chat.acme, document.id, 1, status=DocumentStatus.PROCESSING, stage=Stage.PARSING, progress=0.1, error=None
    )
    assert (await ears.acme.next(within=WITHIN)).changes == (Change(Kind.DOCUMENT, str(document.id), str(base.id)),)
    await chat.knowledge.delete_knowledge_base(chat.acme, base.id)
    assert sorted(await ears.hear()) == sorted([of(base.id, Kind.KNOWLEDGE_BASE), of(document.id, Kind.DOCUMENT)])


async def test_more_rows_than_a_signal_takes_are_told_as_many(ears: Ears) -> None:
    async with ears.database.organisation(ears.chat.acme) as connection:
        await connection.execute(
            "INSERT INTO bots (organisation_id, id, name, model, weight_vector, weight_text, weight_importance) "
            "SELECT %s, gen_random_uuid(), 'b', 'm', 1, 0, 0 FROM generate_series(1, 200)",
            (ears.chat.acme,),
        )
    assert await ears.hear() == [(Kind.BOT, None)]


async def test_a_key_or_a_sign_in_that_ends_is_told_to_ask_again(ears: Ears) -> None:
    chat = ears.chat
    key, _ = await chat.identity.create_key(chat.acme)
    caller = Caller(organisation_id=chat.acme, key_id=key.id, scope=key.scope)
    secret = await chat.sessions.open(caller, lifetime=timedelta(hours=1))
    await chat.sessions.close(secret)
    assert await ears.acme.next(within=WITHIN) == News(access=True)
    await chat.identity.revoke_key(chat.acme, key.id)
    assert await ears.acme.next(within=WITHIN) == News(access=True)
    assert await ears.hear() == []


async def test_who_listens_hears_that_something_may_be_missed_after_the_connection_was_lost(ears: Ears) -> None:
    async with await psycopg.AsyncConnection.connect(ears.database.dsn, autocommit=True) as connection:
        ended = await connection.execute(_CUT, (f"LISTEN tributary_signals_{ears.signals.address}",))
        assert ended.rowcount == 1
    for listener in (ears.acme, ears.globex):
        assert await listener.next(within=WITHIN) == News(missed=True)
    assert await ears.hear() == []
