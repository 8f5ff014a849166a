"""Questions that are asked at the same moment are answered at once."""

import asyncio
from collections.abc import Sequence

import pytest

from stores.asked_together import AskedTogether
from tributary.domain.errors import DependencyUnavailable


class Doubling:
    """Answers with the double; waits for `free` before it does. Fails where it is asked for nothing."""

    def __init__(self) -> None:
        self.asked: list[list[int]] = []
        self.free = asyncio.Event()
        self.free.set()

    async def __call__(self, questions: Sequence[int]) -> Sequence[int]:
        self.asked.append(list(questions))
        await self.free.wait()
        if 0 in questions:
            raise DependencyUnavailable("nothing")
        return [2 * each for each in questions]


async def test_each_gets_its_own_answer() -> None:
    doubling = Doubling()
    together = AskedTogether(doubling)
    assert await asyncio.gather(*map(together.ask, (1, 2, 3))) == [2, 4, 6]
    assert await together.ask(4) == 8
    assert doubling.asked == [[1, 2, 3], [4]]


async def test_what_is_asked_while_others_wait_is_a_question_of_its_own() -> None:
    doubling = Doubling()
    together = AskedTogether(doubling)
    doubling.free.clear()
    first = asyncio.create_task(together.ask(1))
    while not doubling.asked:
        await asyncio.sleep(0)
    second = asyncio.create_task(together.ask(2))
    await asyncio.sleep(0.01)
    doubling.free.set()
    assert [*await asyncio.gather(first, second)] == [2, 4]
    assert doubling.asked == [[1], [2]]


async def test_an_error_is_that_of_each_who_asked() -> None:
    together = AskedTogether(Doubling())
    outcomes = await asyncio.gather(together.ask(1), together.ask(0), return_exceptions=True)
    assert [type(each) for each in outcomes] == [DependencyUnavailable] * 2
    assert await together.ask(1) == 2


@pytest.mark.parametrize("cancelled", [0, 1])
async def test_nobody_waits_for_ever_when_another_gives_up(cancelled: int) -> None:
    doubling = Doubling()
    together = AskedTogether(doubling)
    doubling.free.clear()
    tasks = [asyncio.create_task(together.ask(each)) for each in (1, 2)]
    while not doubling.asked:
        await asyncio.sleep(0)
    tasks[cancelled].cancel()
    await asyncio.sleep(0)
    doubling.free.set()
    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(outcomes[cancelled], asyncio.CancelledError)
    other = outcomes[1 - cancelled]
    assert isinstance(other, asyncio.CancelledError) or other == (2, 4)[1 - cancelled]
    assert await together.ask(3) == 6


async def test_a_question_that_is_taken_back_at_once_is_not_asked() -> None:
    doubling = Doubling()
    together = AskedTogether(doubling)
    hasty = asyncio.create_task(together.ask(1))
    await asyncio.sleep(0)
    hasty.cancel()
    assert await together.ask(2) == 4
    assert doubling.asked == [[2]]


async def test_a_number_of_answers_that_is_not_theirs_is_an_error_of_each() -> None:
    async def silent(_questions: Sequence[int]) -> Sequence[int]:
        return []

    together: AskedTogether[int, int] = AskedTogether(silent)
    outcomes = await asyncio.gather(together.ask(1), together.ask(2), return_exceptions=True)
    assert [type(each) for each in outcomes] == [ValueError] * 2
