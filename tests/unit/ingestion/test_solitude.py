"""Side by side, but a suspect alone."""

import asyncio

from tributary.ingestion.solitude import Solitude


class Room:
    """Names of those inside, and a log of who stood beside whom."""

    def __init__(self) -> None:
        self.solitude = Solitude()
        self.inside: set[str] = set()
        self.met: dict[str, set[str]] = {}
        self.leave: dict[str, asyncio.Event] = {}

    def visit(self, name: str, *, alone: bool = False) -> "asyncio.Task[None]":
        self.leave[name] = asyncio.Event()

        async def stay() -> None:
            async with self.solitude.enter(alone=alone):
                self.inside.add(name)
                for each in self.inside:
                    self.met.setdefault(each, set()).update(self.inside - {each})
                await self.leave[name].wait()
                self.inside.discard(name)

        return asyncio.create_task(stay())


async def let_them_move() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_work_goes_side_by_side() -> None:
    room = Room()
    tasks = [room.visit(name) for name in "abc"]
    await let_them_move()
    assert room.inside == {"a", "b", "c"}
    for event in room.leave.values():
        event.set()
    await asyncio.gather(*tasks)


async def test_a_suspect_waits_for_those_inside_and_keeps_others_out() -> None:
    room = Room()
    tasks = [room.visit("a"), room.visit("suspect", alone=True)]
    await let_them_move()
    tasks.append(room.visit("late"))
    await let_them_move()
    assert room.inside == {"a"}
    room.leave["a"].set()
    await let_them_move()
    assert room.inside == {"suspect"}
    room.leave["suspect"].set()
    await let_them_move()
    assert room.inside == {"late"}
    room.leave["late"].set()
    await asyncio.gather(*tasks)


async def test_suspects_are_kept_apart_from_each_other() -> None:
    room = Room()
    tasks = [room.visit(name, alone=True) for name in "ab"]
    for name in "ab":
        await let_them_move()
        room.leave[name].set()
    await asyncio.gather(*tasks)
    assert room.met == {"a": set(), "b": set()}


async def test_a_suspect_that_gives_up_waiting_keeps_nobody_out() -> None:
    room = Room()
    first, suspect = room.visit("a"), room.visit("suspect", alone=True)
    await let_them_move()
    second = room.visit("b")
    await let_them_move()
    suspect.cancel()
    await let_them_move()
    assert room.inside == {"a", "b"}
    for event in room.leave.values():
        event.set()
    await asyncio.gather(first, second)
