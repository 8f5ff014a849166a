"""PostgreSQL going away under the chat's stores: an error of ours, whatever was asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import psycopg
import pytest

from stores.postgres.attachments import PostgresAttachments
from stores.postgres.bots import PostgresBots
from stores.postgres.conversations import PostgresConversations
from stores.postgres.database import Database
from stores.postgres.idempotency import PostgresIdempotency
from stores.postgres.identity import PostgresIdentity
from stores.postgres.turns import PostgresTurnQueue
from stores.secrets import make_key_secret
from tests.support.chat_worlds import new_answer, new_attachment
from tributary.domain.bots import Weights
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.identity import Limits, Organisation
from tributary.domain.ids import new_id

ID = new_id()

IDENTITY: dict[str, Callable[[PostgresIdentity], Awaitable[object]]] = {
    "ensure_organisation": lambda store: store.ensure_organisation("acme"),
    "organisation_named": lambda store: store.organisation_named("acme"),
    "list_organisations": lambda store: store.list_organisations(),
    "set_limits": lambda store: store.set_limits(ID, Limits()),
    "create_key": lambda store: store.create_key(ID),
    "list_keys": lambda store: store.list_keys(ID),
    "revoke_key": lambda store: store.revoke_key(ID, ID),
    "authenticate": lambda store: store.authenticate(make_key_secret(ID)),
}
BOTS: dict[str, Callable[[PostgresBots], Awaitable[object]]] = {
    "create": lambda store: store.create(ID, name="", prompt="", model="", knowledge_base_ids=[], weights=Weights()),
    "get": lambda store: store.get(ID, ID),
    "list": lambda store: store.list(ID, after=None, limit=1),
    "update": lambda store: store.update(ID, ID, name="x"),
    "delete": lambda store: store.delete(ID, ID),
}
ATTACHMENTS: dict[str, Callable[[PostgresAttachments], Awaitable[object]]] = {
    "add": lambda store: store.add(new_attachment(ID), token_hash=b""),
    "check_quota": lambda store: store.check_quota(ID, 1),
    "resolve": lambda store: store.resolve(ID, [], conversation_id=None),
    "get": lambda store: store.get(ID, ID),
    "delete": lambda store: store.delete(ID, [ID]),
    "take_unused": lambda store: store.take_unused(ID, datetime.now(UTC)),
    "billing_events": lambda store: store.billing_events(ID),
}
CONVERSATIONS: dict[str, Callable[[PostgresConversations], Awaitable[object]]] = {
    "get": lambda store: store.get(ID, ID),
    "list": lambda store: store.list(ID, bot_id=None, before=None, limit=1),
    "rename": lambda store: store.rename(ID, ID, "x"),
    "delete": lambda store: store.delete(ID, ID),
    "messages": lambda store: store.messages(ID, ID, after=None, limit=1),
    "recent": lambda store: store.recent(ID, ID, limit=1),
    "begin_turn": lambda store: store.begin_turn(
        ID, conversation_id=ID, bot_id=ID, question_id=ID, content="", attachments=[]
    ),
    "finish_turn": lambda store: store.finish_turn(ID, conversation_id=ID, question_id=ID, answer=new_answer()),
    "fail_turn": lambda store: store.fail_turn(ID, question_id=ID, problem={}, status=MessageStatus.FAILED),
    "save_trace": lambda store: store.save_trace(ID, ID, {}),
    "interrupt_orphans": lambda store: store.interrupt_orphans(ID),
    "trace": lambda store: store.trace(ID, ID),
}
IDEMPOTENCY: dict[str, Callable[[PostgresIdempotency], Awaitable[object]]] = {
    "begin": lambda store: store.begin(ID, "key", b""),
    "complete": lambda store: store.complete(ID, "key", 200, {}),
    "abandon": lambda store: store.abandon(ID, "key"),
    "purge": lambda store: store.purge(ID),
}


@pytest.fixture
async def gone() -> AsyncIterator[Database]:
    """A database that can't be reached."""
    database = Database("postgresql://127.0.0.1:1/none", role=None, pool_size=1)
    yield database
    await database.close()


@pytest.mark.parametrize("ask", IDENTITY.values(), ids=IDENTITY.keys())
async def test_identity_without_its_database_says_so(
    gone: Database, ask: Callable[[PostgresIdentity], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresIdentity(gone))


@pytest.mark.parametrize("ask", BOTS.values(), ids=BOTS.keys())
async def test_bots_without_their_database_say_so(
    gone: Database, ask: Callable[[PostgresBots], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresBots(gone))


@pytest.mark.parametrize("ask", ATTACHMENTS.values(), ids=ATTACHMENTS.keys())
async def test_attachments_without_their_database_say_so(
    gone: Database, ask: Callable[[PostgresAttachments], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresAttachments(gone))


@pytest.mark.parametrize("ask", CONVERSATIONS.values(), ids=CONVERSATIONS.keys())
async def test_conversations_without_their_database_say_so(
    gone: Database, ask: Callable[[PostgresConversations], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresConversations(gone, PostgresTurnQueue(gone.dsn)))


@pytest.mark.parametrize("ask", IDEMPOTENCY.values(), ids=IDEMPOTENCY.keys())
async def test_idempotency_without_its_database_says_so(
    gone: Database, ask: Callable[[PostgresIdempotency], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresIdempotency(gone, owner=new_id()))


async def test_connections_that_were_cut_while_idle_are_not_noticed(
    database: Database, organisation: Organisation, dsn: str
) -> None:
    cut_all(dsn)
    assert await PostgresBots(database).list(organisation.id, after=None, limit=1) == []


async def test_a_connection_that_is_cut_in_a_statement_is_a_dependency_that_failed(
    database: Database, organisation: Organisation, dsn: str
) -> None:
    with psycopg.connect(dsn) as blocker:
        blocker.execute("SELECT FROM organisations WHERE id = %s FOR UPDATE", (organisation.id,))
        upload = asyncio.create_task(PostgresAttachments(database).add(new_attachment(organisation.id), token_hash=b""))
        await asyncio.to_thread(cut_the_one_that_waits, dsn)
        with pytest.raises(DependencyUnavailable):
            await upload
    await PostgresAttachments(database).add(new_attachment(organisation.id), token_hash=b"")


def cut_all(dsn: str) -> None:
    """Ends all connections of the serving role."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'tributary' "
            "AND datname = current_database()"
        )


def cut_the_one_that_waits(dsn: str) -> None:
    """Ends the connection that waits for a lock, as soon as there is one."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        ended: list[tuple[bool]] = []
        while not ended:
            ended = connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) "
                "WHERE NOT granted AND datname = current_database()"
            ).fetchall()
