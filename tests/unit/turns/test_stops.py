"""Requests to end a turn."""

import asyncio

from stores.memory.signals import MemorySignals
from tributary.domain.ids import new_id
from tributary.turns.stops import Stops


async def test_a_request_that_comes_before_the_model_is_met_there() -> None:
    stops, conversation = Stops(MemorySignals()), new_id()
    stops.begin(conversation)
    await stops.ask(conversation)
    async with asyncio.timeout(5):
        await stops.wait(conversation)


async def test_a_turn_that_nobody_began_can_be_ended_and_the_next_one_is_not() -> None:
    stops, conversation = Stops(MemorySignals()), new_id()
    waiting = asyncio.create_task(stops.wait(conversation))
    await asyncio.sleep(0)
    await stops.ask(conversation)
    async with asyncio.timeout(5):
        await waiting
    again = asyncio.create_task(stops.wait(conversation))
    done, _ = await asyncio.wait({again}, timeout=0.01)
    assert not done
    again.cancel()
