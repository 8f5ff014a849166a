"""The services that graphs, routes and sign-in share in a process of LangGraph's server.

That server loads each of them by itself. This module is imported by all of them and loaded once.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from tributary.services import Services, open_services
from tributary.settings import Settings

Opening = Callable[[Settings], AbstractAsyncContextManager[Services]]


class OpenedServices:
    """Services that are opened for whoever asks first, once, and closed with the application."""

    def __init__(self, opening: Opening = open_services) -> None:
        self._opening = opening
        self._stack = AsyncExitStack()
        self._task: asyncio.Task[Services] | None = None

    async def get(self) -> Services:
        """The services. Raises `RuntimeError` on another event loop than that of the first who asked: their
        connections belong to it."""
        if self._task is None or _failed(self._task):
            # In a task of its own: who asked first may leave while others wait.
            self._task = asyncio.create_task(self._open())
        if self._task.get_loop() is not asyncio.get_running_loop():
            raise RuntimeError("Tributary serves on one event loop; leave BG_JOB_ISOLATED_LOOPS unset")
        return await asyncio.shield(self._task)

    @asynccontextmanager
    async def closing(self, _: Settings) -> AsyncIterator[Services]:
        """The services for as long as the application runs; afterwards they are closed for everybody."""
        try:
            yield await self.get()
        finally:
            await self.close()

    async def close(self) -> None:
        if self._task is not None:
            await asyncio.wait({self._task})
        await self._stack.aclose()
        self._task = None

    async def _open(self) -> Services:
        return await self._stack.enter_async_context(self._opening(Settings.load()))


def _failed(task: asyncio.Task[Services]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


opened = OpenedServices()
