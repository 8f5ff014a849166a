"""What every carrier of signals promises."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from stores.memory.signals import MemorySignals
from stores.postgres.database import Database
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.signals import PostgresSignals
from stores.protocols.signals import Signals
from tributary.domain.ids import new_id

END = "end"


class Ear:
    """Keeps what one process hears, up to a signal that says `END`."""

    def __init__(self, signals: Signals) -> None:
        self._heard: list[str] = []
        self._ended = asyncio.Event()
        signals.subscribe(self._hear)

    def _hear(self, payload: str) -> None:
        self._heard.append(payload)
        if payload == END:
            self._ended.set()

    async def heard(self) -> list[str]:
        async with asyncio.timeout(30):
            await self._ended.wait()
        return self._heard[:-1]


@pytest.fixture
async def processes(place: str | None) -> AsyncIterator[tuple[Signals, Signals]]:
    """The signals of two processes."""
    if place is None:
        everybody: list[MemorySignals] = []
        yield MemorySignals(everybody), MemorySignals(everybody)
        return
    database = Database(place, role=SERVING_ROLE, pool_size=4)
    await database.open()
    here, there = PostgresSignals(database), PostgresSignals(database)
    for signals in (here, there):
        await signals.open()
    yield here, there
    for signals in (here, there):
        await signals.close()
    await database.close()


async def test_a_signal_is_heard_by_all_in_the_order_of_publishing(processes: tuple[Signals, Signals]) -> None:
    ears = [Ear(signals) for signals in processes]
    for payload in ("one", "two", "drei 💧", END):
        await processes[0].publish(payload)
    assert [await ear.heard() for ear in ears] == [["one", "two", "drei 💧"]] * 2


async def test_a_signal_to_an_address_is_heard_there_alone(processes: tuple[Signals, Signals]) -> None:
    here, there = processes
    assert here.address != there.address
    ears = [Ear(signals) for signals in processes]
    await here.publish("for you", to=there.address)
    await there.publish("for me", to=there.address)
    await here.publish("for nobody", to=new_id().hex)
    await here.publish(END)
    assert [await ear.heard() for ear in ears] == [[], ["for you", "for me"]]


async def test_a_signal_of_the_longest_length_arrives(processes: tuple[Signals, Signals]) -> None:
    here, there = processes
    ear = Ear(there)
    await here.publish("x" * 7_000, to=there.address)
    await here.publish(END)
    assert await ear.heard() == ["x" * 7_000]
