"""Waiting in line within one process."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class Lanes:
    """One holder at a time for each key; waiters are served in the order in which they came. A key that nobody
    holds takes no memory."""

    def __init__(self) -> None:
        #: A held key, and who waits for it.
        self._waiting: dict[Hashable, deque[asyncio.Future[None]]] = {}

    def __len__(self) -> int:
        """How many keys are held."""
        return len(self._waiting)

    def held(self, key: Hashable) -> bool:
        return key in self._waiting

    @asynccontextmanager
    async def hold(self, key: Hashable, *, patience: float) -> AsyncIterator[None]:
        """Holds `key`. Raises `TimeoutError` when it does not come free within `patience` seconds; a free one is
        had at once, with any patience."""
        await self._acquire(key, patience)
        try:
            yield
        finally:
            self._release(key)

    @contextmanager
    def take_free(self, keys: Sequence[Key]) -> Iterator[list[Key]]:
        """Holds those of `keys` that nobody holds or waits for, without waiting, and gives them in their order."""
        free = [key for key in dict.fromkeys(keys) if key not in self._waiting]
        self._waiting.update((key, deque()) for key in free)
        try:
            yield free
        finally:
            for key in free:
                self._release(key)

    async def _acquire(self, key: Hashable, patience: float) -> None:
        if key not in self._waiting:
            self._waiting[key] = deque()
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting[key].append(turn)
        served = False
        try:
            async with asyncio.timeout(patience):
                await turn
            served = True
        finally:
            # Handed over at the very moment of the timeout or cancellation: the next one must have it.
            if not served and turn.done() and not turn.cancelled():
                self._release(key)

    def _release(self, key: Hashable) -> None:
        waiting = self._waiting[key]
        while waiting:
            turn = waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        del self._waiting[key]
