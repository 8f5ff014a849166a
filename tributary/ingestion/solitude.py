"""Side by side or alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Solitude:
    """Lets work in, side by side; suspect work only alone. A document that kills its process must not take the same
    neighbours with it time and again, until they count as killers themselves."""

    def __init__(self) -> None:
        self._inside = 0
        self._suspects = 0
        self._alone = False
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def enter(self, *, alone: bool) -> AsyncIterator[None]:
        await self._wait(alone)
        try:
            yield
        finally:
            async with self._changed:
                self._inside -= 1
                self._alone = False
                self._changed.notify_all()

    async def _wait(self, alone: bool) -> None:
        """Those who want to be alone go first, or they would wait for ever in a busy process."""
        async with self._changed:
            self._suspects += alone
            try:
                if alone:
                    await self._changed.wait_for(lambda: self._inside == 0)
                else:
                    await self._changed.wait_for(lambda: not self._alone and not self._suspects)
            finally:
                self._suspects -= alone
                self._changed.notify_all()
            self._inside += 1
            self._alone = alone
