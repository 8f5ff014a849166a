"""Ending a stream from outside."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from nodes.chat.stopping import until_stopped


class Numbers:
    """Yields numbers, then waits for ever; remembers that it was closed."""

    def __init__(self, count: int, *, endless: bool) -> None:
        self.closed = False
        self._count = count
        self._endless = endless

    async def stream(self) -> AsyncIterator[int]:
        try:
            for number in range(self._count):
                yield number
            if self._endless:
                await asyncio.Event().wait()
        finally:
            self.closed = True


async def test_a_stream_that_nobody_stops_comes_whole() -> None:
    numbers = Numbers(3, endless=False)
    assert [each async for each in until_stopped(numbers.stream(), asyncio.Event().wait())] == [0, 1, 2]
    assert numbers.closed


async def test_a_stop_ends_a_stream_that_is_silent_and_closes_it() -> None:
    numbers, stop = Numbers(2, endless=True), asyncio.Event()
    got: list[int | None] = []
    async for each in until_stopped(numbers.stream(), stop.wait()):
        got.append(each)
        if each == 1:
            stop.set()
    assert got == [0, 1, None]
    assert numbers.closed


async def test_a_failure_of_the_stream_goes_up() -> None:
    async def failing() -> AsyncIterator[int]:
        yield 1
        raise ConnectionError

    with pytest.raises(ConnectionError):
        [each async for each in until_stopped(failing(), asyncio.Event().wait())]
