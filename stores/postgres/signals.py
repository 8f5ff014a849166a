"""Signals over PostgreSQL's LISTEN and NOTIFY, on one connection of their own."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

import psycopg

from stores.postgres.database import Database, translated
from tributary.domain.ids import new_id

_CHANNEL = "tributary_signals"
_RECONNECT_SECONDS = 1.0

logger = logging.getLogger(__name__)


class PostgresSignals:
    """A lost connection is made again. What was published meanwhile is lost: signals hasten, they don't decide."""

    def __init__(self, database: Database) -> None:
        self.address = new_id().hex
        self._database = database
        self._listeners: list[Callable[[str], None]] = []
        self._after_loss: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        self._listening = asyncio.Event()

    async def open(self) -> None:
        self._task = asyncio.create_task(self._listen(), name="signals")
        await self._listening.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def publish(self, payload: str, *, to: str | None = None) -> None:
        channel = _channel(to) if to else _CHANNEL
        with translated():
            async with self._database.pool.connection() as connection:
                await connection.execute("SELECT pg_notify(%s, %s)", (channel, payload))

    def subscribe(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def after_loss(self, listener: Callable[[], None]) -> None:
        self._after_loss.append(listener)

    async def _listen(self) -> None:
        while True:
            try:
                await self._receive()
            except psycopg.OperationalError as error:
                logger.warning("the connection for signals was lost and is made again: %s", type(error).__name__)
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def _receive(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._database.dsn, autocommit=True) as connection:
            await connection.execute(f"LISTEN {_CHANNEL}")
            await connection.execute(f"LISTEN {_channel(self.address)}")
            if self._listening.is_set():
                for told in self._after_loss:
                    told()
            self._listening.set()
            async for notification in connection.notifies():
                for listener in self._listeners:
                    listener(notification.payload)


def _channel(address: str) -> str:
    return f"{_CHANNEL}_{address}"
