"""The queue of turns over all processes that serve one database."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from uuid import UUID

from stores.lanes import Lanes
from stores.postgres.lock_session import LockSession
from tributary.domain.errors import RateLimited
from tributary.domain.ids import new_id

#: Seconds between two tries for a conversation that another process holds: the first pause, and the longest.
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 0.1
#: Seconds after which a turn that could not start is worth another try.
_RETRY_AFTER = 5.0


class PostgresTurnQueue:
    """`TurnQueue` on advisory locks of PostgreSQL.

    A process holds all its turns on one connection, so that a thousand waiting turns cost one connection and not a
    thousand, and a process that is killed lets go the moment its connection ends. Within the process turns wait in
    order and the first of each conversation tries for the lock; among processes chance decides.

    The lock keeps turns apart as long as it is held. Should its connection be lost in the middle of a turn and another
    process be quicker, then `begin_turn` interrupts the question of the first, whose `finish_turn` stores nothing: a
    conversation never gets two answers at once.
    """

    def __init__(self, dsn: str, role: str | None = None) -> None:
        #: Of this process, whose lock lives as long as its connection: others see by it that the process does.
        self.process_id = new_id()
        self._session = LockSession(dsn, role=role, name="tributary-turns")
        self._lanes = Lanes()

    async def open(self) -> None:
        """Raises `DependencyUnavailable` when PostgreSQL can't be reached."""
        await self._session.open()
        await self._session.take([process_key(self.process_id)])

    async def close(self) -> None:
        """Lets go of everything."""
        await self._session.close()

    @asynccontextmanager
    async def turn(
        self,
        organisation_id: UUID,
        conversation_id: UUID,
        *,
        timeout: float,  # noqa: ASYNC109 - bounds the wait, not what is done with the turn
    ) -> AsyncIterator[None]:
        deadline = asyncio.get_running_loop().time() + timeout
        key = lock_key(organisation_id, conversation_id)
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self._lanes.hold(key, patience=timeout))
            except TimeoutError as error:
                raise _busy() from error
            await self._take(key, deadline)
            stack.push_async_callback(self._session.give_back, [key])
            yield

    @asynccontextmanager
    async def claim(self, organisation_id: UUID, conversation_ids: Sequence[UUID]) -> AsyncIterator[Sequence[UUID]]:
        keys = {lock_key(organisation_id, each): each for each in conversation_ids}
        with self._lanes.take_free(list(keys)) as free:
            taken = await self._session.take(free) if free else []
            try:
                yield [keys[key] for key in taken]
            finally:
                await self._session.give_back(taken)

    async def held(self, organisation_id: UUID, conversation_id: UUID) -> bool:
        return await self._session.held(lock_key(organisation_id, conversation_id))

    async def _take(self, key: int, deadline: float) -> None:
        pause = _FIRST_PAUSE
        while not await self._session.take([key]):
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                raise _busy()
            await asyncio.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)


def lock_key(organisation_id: UUID, conversation_id: UUID) -> int:
    """The conversation as a number of PostgreSQL's 64-bit lock space."""
    digest = hashlib.blake2b(b"turn" + organisation_id.bytes + conversation_id.bytes, digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def process_key(process_id: UUID) -> int:
    """A process as a number of the same space: the second half of its id, which is random. See `process_lives`."""
    return int.from_bytes(process_id.bytes[8:], "big", signed=True)


def process_lives(column: str) -> str:
    """The condition of a statement that the process whose id stands in `column` lives."""
    digits = f"replace({column}::text, '-', '')"
    return f"""
EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
      AND classid = ('x' || substr({digits}, 17, 8))::bit(32)::bigint::oid
      AND objid = ('x' || substr({digits}, 25, 8))::bit(32)::bigint::oid
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""


def _busy() -> RateLimited:
    return RateLimited("Earlier messages of this conversation are still being answered", retry_after=_RETRY_AFTER)
