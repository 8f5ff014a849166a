"""Ending a stream from outside."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing
from typing import TypeVar, cast

T = TypeVar("T")


async def until_stopped(stream: AsyncIterator[T], stop: Awaitable[object]) -> AsyncIterator[T | None]:
    """The stream's pieces until `stop` is done, then one None. The stream is closed either way: a provider that is not
    listened to is not paid for."""
    stopping = asyncio.ensure_future(stop)
    try:
        async with aclosing(cast("AsyncGenerator[T, None]", stream)) as pieces:
            while True:
                following = asyncio.ensure_future(anext(pieces))
                await asyncio.wait((following, stopping), return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    await _cancelled(following)
                    yield None
                    return
                try:
                    piece = following.result()
                except StopAsyncIteration:
                    return
                yield piece
    finally:
        await _cancelled(stopping)


async def _cancelled(task: "asyncio.Future[object] | asyncio.Task[object]") -> None:
    task.cancel()
    await asyncio.wait((task,))
