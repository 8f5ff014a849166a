"""One text search for those who ask the same at the same time."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest

from nodes.retrieval.sharing import SharedSearch
from tests.support.worlds import PlainEmbedder, towards
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.retrieval import Hit


class Counted:
    """A search that waits to be let go, and counts its calls."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = asyncio.Event()
        self.fails = False

    async def search(self, *args: Any, **kwargs: Any) -> Sequence[Hit]:
        self.calls += 1
        await self.go.wait()
        if self.fails:
            raise DependencyUnavailable("it is down")
        return []

    async def score(self, *args: Any, **kwargs: Any) -> Sequence[Hit]:
        return []

    async def similar_images(self, *args: Any, **kwargs: Any) -> Sequence[Any]:
        return []


ORGANISATION, BASE = uuid4(), uuid4()


def ask(search: SharedSearch, query: str = "pump", organisation: Any = ORGANISATION) -> asyncio.Task[Sequence[Hit]]:
    return asyncio.create_task(
        search.search(organisation, BASE, query=query, recent="", vector=towards(1), embedder=PlainEmbedder(), limit=10)
    )


async def test_the_same_question_at_the_same_time_is_searched_once() -> None:
    counted = Counted()
    shared = SharedSearch(counted)
    asked = [ask(shared), ask(shared)]
    await asyncio.sleep(0)
    counted.go.set()
    assert await asyncio.gather(*asked) == [[], []]
    assert counted.calls == 1


async def test_other_questions_and_other_organisations_are_searched_for_themselves() -> None:
    counted = Counted()
    counted.go.set()
    shared = SharedSearch(counted)
    await asyncio.gather(ask(shared), ask(shared, "valve"), ask(shared, organisation=uuid4()))
    assert counted.calls == 3


async def test_nothing_is_kept_for_later() -> None:
    counted = Counted()
    counted.go.set()
    shared = SharedSearch(counted)
    await ask(shared)
    await ask(shared)
    assert counted.calls == 2


async def test_one_who_gives_up_does_not_take_the_answer_from_the_other() -> None:
    counted = Counted()
    shared = SharedSearch(counted)
    hasty, patient = ask(shared), ask(shared)
    await asyncio.sleep(0)
    hasty.cancel()
    await asyncio.wait({hasty})
    counted.go.set()
    assert await patient == []


async def test_a_failure_reaches_all_who_wait() -> None:
    counted = Counted()
    counted.fails = True
    shared = SharedSearch(counted)
    asked = [ask(shared), ask(shared)]
    counted.go.set()
    for each in asked:
        with pytest.raises(DependencyUnavailable):
            await each
