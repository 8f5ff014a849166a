"""What a process does beside answering. A task that ends on a bug is told of and begun again: a server that goes on
without its worker looks well, and ingests nothing."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

logger = logging.getLogger(__name__)

#: Seconds before what failed begins again.
PAUSE = 5.0


@asynccontextmanager
async def running(tasks: Mapping[str, Callable[[], Awaitable[None]]], *, pause: float = PAUSE) -> AsyncIterator[None]:
    """Runs all of them within the block, and cancels them at its end."""
    at_work = [asyncio.create_task(_kept_up(name, work, pause), name=name) for name, work in tasks.items()]
    try:
        yield
    finally:
        for task in at_work:
            task.cancel()
        await asyncio.wait(at_work)


async def _kept_up(name: str, work: Callable[[], Awaitable[None]], pause: float) -> None:
    while True:
        # As a task, whose error can be asked for without catching everything.
        task = asyncio.ensure_future(work())
        try:
            await asyncio.wait({task})
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task})
        if (error := task.exception()) is not None:
            logger.error("%s ended on a bug and begins again", name, exc_info=error)
        await asyncio.sleep(pause)
