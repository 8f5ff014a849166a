"""Several calls of a model for one document, side by side."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def as_they_come(calls: Iterable[Coroutine[Any, Any, T]]) -> AsyncGenerator[T, None]:
    """What each gives, the first that is done first. After a failure, and where nobody reads on, those that are under
    way are given up; close it (`aclosing`)."""
    tasks = [asyncio.create_task(call) for call in calls]
    try:
        for finished in asyncio.as_completed(tasks):
            yield await finished
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
