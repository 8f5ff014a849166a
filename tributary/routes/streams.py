"""Streams that end before what they tell of does."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


async def until(stopping: asyncio.Event, events: AsyncGenerator[T, None]) -> AsyncIterator[T]:
    """The events, until they end or `stopping` is set."""
    stop = asyncio.ensure_future(stopping.wait())
    try:
        async with aclosing(events):
            while not stopping.is_set():
                event = asyncio.ensure_future(anext(events, None))
                try:
                    await asyncio.wait({stop, event}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    if not event.done():
                        event.cancel()
                        await asyncio.wait({event})
                if event.cancelled() or (told := event.result()) is None:
                    return
                yield told
    finally:
        stop.cancel()
