"""Medians, spreads, and calls side by side."""

import asyncio

import pytest

from bench.harness import Timings, one_by_one, percentile, side_by_side, spread


def test_the_spread_is_the_largest_distance_from_the_median() -> None:
    assert spread([10.0, 12.0, 9.0]) == pytest.approx(0.2)


def test_a_percentile_of_one_value_is_that_value() -> None:
    assert percentile([3.0], 95) == 3.0


def test_a_percentile_lies_between_the_values_beside_it() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.5


def test_the_median_of_rounds_is_not_moved_by_one_bad_round() -> None:
    timings = Timings(alone=[[1.0, 1.0], [1.2, 1.2], [9.0, 9.0]], rates=[5.0, 50.0, 51.0])
    assert timings.p50 == pytest.approx(1.2)
    assert timings.rate == 50.0


async def test_calls_one_by_one_never_meet() -> None:
    crowd = Crowd()
    assert len(await one_by_one(crowd.call, 5)) == 5
    assert crowd.most == 1


async def test_calls_side_by_side_are_as_many_as_asked_for_and_no_more() -> None:
    crowd = Crowd()
    times, rate = await side_by_side(crowd.call, 12, 4)
    assert (len(times), crowd.calls, crowd.most) == (12, 12, 4)
    assert rate > 0


class Crowd:
    """Counts calls, and how many there were at a time."""

    def __init__(self) -> None:
        self.calls = self.most = self._now = 0

    async def call(self) -> None:
        self.calls += 1
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
