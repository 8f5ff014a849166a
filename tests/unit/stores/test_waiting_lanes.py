"""Waiting in line within one process."""

import asyncio

import pytest

from stores.lanes import Lanes


async def test_one_holder_at_a_time_in_the_order_of_coming() -> None:
    lanes, served = Lanes(), list[int]()

    async def hold(number: int) -> None:
        async with lanes.hold("key", patience=5):
            served.append(number)
            await asyncio.sleep(0)
            assert served[-1] == number

    await asyncio.gather(*(hold(number) for number in range(5)))
    assert served == list(range(5))


async def test_a_free_key_is_had_without_patience() -> None:
    async with Lanes().hold("key", patience=0):
        pass


async def test_a_held_key_is_not_had_when_patience_ends() -> None:
    lanes = Lanes()
    async with lanes.hold("key", patience=0):
        with pytest.raises(TimeoutError):
            async with lanes.hold("key", patience=0.001):
                pass
    assert len(lanes) == 0


async def test_keys_that_nobody_holds_take_no_memory() -> None:
    lanes = Lanes()
    async with lanes.hold("a", patience=0), lanes.hold("b", patience=0):
        assert len(lanes) == 2
    assert len(lanes) == 0


@pytest.mark.parametrize("steps", range(5))
async def test_a_cancelled_waiter_passes_its_turn_on(steps: int) -> None:
    lanes = Lanes()
    served = asyncio.Event()

    async def wait() -> None:
        async with lanes.hold("key", patience=5):
            pass

    async def last() -> None:
        async with lanes.hold("key", patience=5):
            served.set()

    async with lanes.hold("key", patience=0):
        cancelled, waiting = asyncio.create_task(wait()), asyncio.create_task(last())
        await asyncio.sleep(0)
    for _ in range(steps):
        await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.wait([cancelled, waiting])
    assert served.is_set()
    assert len(lanes) == 0


async def test_a_cancellation_just_as_the_turn_comes_passes_it_on() -> None:
    lanes = Lanes()

    async def wait() -> None:
        async with lanes.hold("key", patience=5):
            raise AssertionError("was cancelled before")

    async with lanes.hold("key", patience=0):
        cancelled = asyncio.create_task(wait())
        await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.wait([cancelled])
    assert cancelled.cancelled()
    assert len(lanes) == 0


async def test_what_is_held_or_waited_for_is_not_free() -> None:
    lanes = Lanes()
    async with lanes.hold("held", patience=0):
        with lanes.take_free(["held", "free", "free"]) as taken:
            assert taken == ["free"]
            with lanes.take_free(["free"]) as nothing:
                assert nothing == []
    assert len(lanes) == 0


async def test_whoever_waits_for_what_was_taken_is_served_afterwards() -> None:
    lanes = Lanes()

    async def wait() -> None:
        async with lanes.hold("key", patience=5):
            pass

    with lanes.take_free(["key"]):
        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        assert not waiting.done()
    await waiting
