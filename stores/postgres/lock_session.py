"""One connection that holds advisory locks for as long as it lives."""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from stores.postgres.database import translated
from tributary.domain.errors import DependencyUnavailable

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Both ends notice within a minute when the network between them is gone; PostgreSQL lets the locks go then.
_KEEPALIVES = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_CONNECT_TIMEOUT = 10
#: Seconds that PostgreSQL has to let the locks go when the session is closed.
_PARTING = 3.0
#: Connections that a call uses up before it gives in.
_ATTEMPTS = 3
#: Seconds between two looks at the connection while it holds locks.
_WATCH_INTERVAL = 5.0

_TRY = "SELECT key FROM unnest(%s::bigint[]) AS wanted (key) WHERE pg_try_advisory_lock(key)"
#: A key of 64 bits as PostgreSQL lists it: two halves.
_HELD = """
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND classid = %s::oid AND objid = %s::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""
_UNLOCK = "SELECT pg_advisory_unlock(key) FROM unnest(%s::bigint[]) AS held (key)"
_UNLOCK_ALL = "SELECT pg_advisory_unlock_all()"

#: What a connection that is gone raises.
_LOST = (psycopg.OperationalError, psycopg.InterfaceError)


class LockSession:
    """Takes and gives back locks by 64-bit keys. PostgreSQL frees them all when the connection ends, however it ends.

    A connection that was lost is noticed within seconds: a new one is made and takes the held locks again. Those that
    another process took meanwhile are told in the log; what they protected has to be fenced by the database.
    """

    def __init__(self, dsn: str, *, role: str | None, name: str) -> None:
        options = " ".join(f"-c tcp_{setting}={value}" for setting, value in _KEEPALIVES.items())
        self._conninfo = make_conninfo(
            dsn,
            application_name=name,
            options=f"{options} -c role={role}" if role else options,
            connect_timeout=_CONNECT_TIMEOUT,
            **_KEEPALIVES,
        )
        self._connection: AsyncConnection[TupleRow] | None = None
        self._connecting = asyncio.Lock()
        self._held: set[int] = set()
        self._calls: set[asyncio.Task[Any]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    async def open(self) -> None:
        """Raises `DependencyUnavailable` when no connection can be made."""
        await self.take([])
        self._watching = asyncio.create_task(self._watch(), name="watch the lock session")

    async def close(self) -> None:
        """Lets every lock go, and then the connection: PostgreSQL ends a session only some time after its client hung
        up, and whoever looks right after this must not meet the locks."""
        self._closed = True
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        if self._calls:
            await asyncio.wait(self._calls)
        if self._connection is not None and not self._connection.closed:
            try:
                async with asyncio.timeout(_PARTING):
                    await self._connection.execute(_UNLOCK_ALL)
            except (*_LOST, TimeoutError) as error:
                logger.warning("the locks end with their connection, which was lost: %s", error)
            finally:
                await self._connection.close()

    async def take(self, keys: Sequence[int]) -> list[int]:
        """Those of `keys` that no other session holds: they are held from now on. Without keys, a look at whether the
        connection lives.

        Raises:
            DependencyUnavailable: nothing was taken.
        """
        call = self._shielded(self._take(keys))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            # The server may have given the locks already, and nobody is left who would give them back.
            self._shielded(self._undo(call))
            raise

    async def held(self, key: int) -> bool:
        """Whether any session holds `key`, this one or another.

        Raises:
            DependencyUnavailable: nobody can say.
        """
        return await asyncio.shield(self._shielded(self._is_held(key)))

    async def give_back(self, keys: Sequence[int]) -> None:
        """Lets go of `keys`, even when the caller is cancelled meanwhile. Never fails: with a connection that is lost
        the locks are gone as well."""
        if keys:
            await asyncio.shield(self._shielded(self._give_back(keys)))

    def _shielded(self, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Runs in a task of its own: a cancelled statement would leave open what it did."""
        task = asyncio.create_task(call)
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        return task

    async def _take(self, keys: Sequence[int]) -> list[int]:
        for _ in range(_ATTEMPTS):
            connection, rows = await self._execute(_TRY, (list(keys),))
            if connection is self._connection:
                taken = [int(row[0]) for row in rows]
                self._held.update(taken)
                return taken
        raise _kept_ending()

    async def _is_held(self, key: int) -> bool:
        _, [(held,)] = await self._execute(_HELD, (key >> 32 & 0xFFFFFFFF, key & 0xFFFFFFFF))
        return bool(held)

    async def _execute(
        self, statement: str, values: tuple[object, ...]
    ) -> tuple[AsyncConnection[TupleRow], list[TupleRow]]:
        """The rows, and the connection that they came from."""
        with translated():
            for _ in range(_ATTEMPTS):
                connection = await self._connected()
                try:
                    return connection, await (await connection.execute(statement, values)).fetchall()
                except _LOST:
                    if not connection.closed:
                        raise
        raise _kept_ending()

    async def _undo(self, call: "asyncio.Task[list[int]]") -> None:
        await asyncio.wait([call])
        if call.exception() is None:
            await self._give_back(call.result())

    async def _give_back(self, keys: Sequence[int]) -> None:
        # Not while a new connection takes again what was held: it would keep what is given back here.
        async with self._connecting:
            self._held.difference_update(keys)
            if self._connection is None or self._connection.closed:
                return
            try:
                await self._connection.execute(_UNLOCK, (list(keys),))
            except _LOST as error:
                logger.warning("turns are given back by ending the connection that holds them: %s", error)
                await self._connection.close()

    async def _connected(self) -> AsyncConnection[TupleRow]:
        async with self._connecting:
            if self._closed:
                raise DependencyUnavailable("The queue of turns is closed")
            if self._connection is None or self._connection.closed:
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> AsyncConnection[TupleRow]:
        connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
        if not self._held:
            return connection
        try:
            cursor = await connection.execute(_TRY, (list(self._held),))
        except _LOST:
            await connection.close()
            raise
        regained = {int(row[0]) for row in await cursor.fetchall()}
        logger.warning(
            "the connection that holds the turns was lost: of %d, %d are held again on a new one",
            len(self._held),
            len(regained),
        )
        self._held = regained
        return connection

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_WATCH_INTERVAL)
            if self._held:
                try:
                    await self.take([])
                except DependencyUnavailable as error:
                    logger.warning("the connection that holds the turns is lost: %s", error.detail)


def _kept_ending() -> DependencyUnavailable:
    return DependencyUnavailable("PostgreSQL keeps ending the connection that holds the turns")
