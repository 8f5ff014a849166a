"""Work of the processor beside the event loop."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def run(function: Callable[..., T], *arguments: Any, aside: bool) -> T:
    """What a function returns. `aside`: it runs in a thread, which pays where it takes more than about a millisecond:
    the way there takes a part of one, and the interpreter lets little else run meanwhile."""
    return await asyncio.to_thread(function, *arguments) if aside else function(*arguments)
