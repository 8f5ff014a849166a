import asyncio
from collections.abc import AsyncGenerator

from tributary.routes.streams import until


async def counted(count: int) -> AsyncGenerator[int, None]:
    for each in range(count):
        yield each


async def test_events_come_to_their_own_end() -> None:
    assert [each async for each in until(asyncio.Event(), counted(3))] == [0, 1, 2]


async def test_a_stop_ends_a_stream_that_waits_and_leaves_its_source_closed() -> None:
    stopping, left = asyncio.Event(), asyncio.Event()

    async def endless() -> AsyncGenerator[int, None]:
        try:
            yield 1
            await asyncio.Event().wait()
        finally:
            left.set()

    told = []
    async for each in until(stopping, endless()):
        told.append(each)
        asyncio.get_running_loop().call_soon(stopping.set)
    assert told == [1]
    assert left.is_set()
