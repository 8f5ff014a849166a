"""The connection that holds the locks of a process."""

import asyncio
from collections.abc import AsyncIterator

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from stores.postgres.lock_session import LockSession
from tests.support.cuttable import CuttableWay


@pytest.fixture
async def sessions(dsn: str) -> AsyncIterator[tuple[LockSession, LockSession]]:
    """Two processes' ends."""
    opened = LockSession(dsn, role=None, name="one"), LockSession(dsn, role=None, name="two")
    for session in opened:
        await session.open()
    yield opened
    for session in opened:
        await session.close()


async def taken_in_the_end(session: LockSession, key: int) -> None:
    """Returns once the session has the lock; a lock that is never let go ends the test."""
    async with asyncio.timeout(5):
        while not await session.take([key]):
            await asyncio.sleep(0.005)


async def test_a_lock_has_one_holder(sessions: tuple[LockSession, LockSession]) -> None:
    one, two = sessions
    assert sorted(await one.take([1, 2, -(2**63)])) == [-(2**63), 1, 2]
    assert await two.take([2, 3, 2**63 - 1]) == [3, 2**63 - 1]


async def test_what_is_given_back_is_free(sessions: tuple[LockSession, LockSession]) -> None:
    one, two = sessions
    await one.take([1, 2])
    await one.give_back([1])
    assert await two.take([1, 2]) == [1]


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
async def test_a_lock_that_comes_after_its_taker_was_cancelled_is_given_back(
    sessions: tuple[LockSession, LockSession], steps: int
) -> None:
    one, two = sessions
    taking = asyncio.create_task(one.take([1]))
    for _ in range(steps):
        await asyncio.sleep(0)
    assert not taking.done()
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    await taken_in_the_end(two, 1)


async def test_giving_back_is_finished_although_its_caller_is_cancelled(
    sessions: tuple[LockSession, LockSession],
) -> None:
    one, two = sessions
    await one.take([1])
    giving = asyncio.create_task(one.give_back([1]))
    await asyncio.sleep(0)
    giving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await giving
    await taken_in_the_end(two, 1)


async def test_closing_waits_for_what_is_under_way(dsn: str) -> None:
    session = LockSession(dsn, role=None, name="one")
    await session.open()
    taking = asyncio.create_task(session.take([1]))
    for _ in range(3):
        await asyncio.sleep(0)  # Until the statement is on its way.
    await session.close()
    assert await taking == [1]


async def test_locks_are_free_when_closing_returns(sessions: tuple[LockSession, LockSession], dsn: str) -> None:
    _, other = sessions
    with psycopg.connect(dsn) as connection:
        host, port = connection.info.host, connection.info.port
    with CuttableWay(host, port) as way:
        session = LockSession(make_conninfo(dsn, host="127.0.0.1", port=way.port), role=None, name="one")
        await session.open()
        await session.take([1])
        way.delay = 0.5  # That the client hung up reaches PostgreSQL only then.
        await session.close()
        assert await other.take([1]) == [1]


async def test_closing_a_lost_connection_is_no_error(dsn: str) -> None:
    session = LockSession(dsn, role=None, name="lost")
    await session.open()
    await session.take([1])
    with psycopg.connect(dsn, autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
            "WHERE application_name = 'lost' AND datname = current_database()"
        )
        assert ended.fetchall() == [(True,)]
    await session.close()
