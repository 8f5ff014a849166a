import asyncio
import logging

import pytest

from tributary.background import running


async def test_what_ends_on_a_bug_is_told_of_and_begins_again(caplog: pytest.LogCaptureFixture) -> None:
    begun: asyncio.Queue[int] = asyncio.Queue()

    async def work() -> None:
        begun.put_nowait(1)
        raise RuntimeError("a bug")

    with caplog.at_level(logging.ERROR):
        async with running({"worker": work}, pause=0):
            await begun.get()
            await begun.get()
    assert "worker ended on a bug" in caplog.text


async def test_the_end_cancels_what_runs_and_waits_for_it() -> None:
    begun, left = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            left.set()

    async with running({"worker": work}):
        await begun.wait()
    assert left.is_set()
