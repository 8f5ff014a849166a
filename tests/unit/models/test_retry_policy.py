import asyncio

import pytest

from tributary.domain.errors import InvalidRequest, ProviderError, ProviderTimeout, TributaryError
from tributary.models.retry import RetryPolicy, retrying

BUSY = ProviderError("busy", transient=True)


class Failing:
    """Fails with the given errors, then returns "done"."""

    def __init__(self, *errors: TributaryError) -> None:
        self.errors = list(errors)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_delays_grow_with_the_tries_up_to_a_limit_and_are_never_equal_by_plan() -> None:
    policy = RetryPolicy(attempts=9, first_delay=1.0, longest_delay=4.0)

    for attempt, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 4.0)):
        delays = [policy.delay(attempt, BUSY) for _ in range(50)]
        assert all(delay is not None and longest / 2 <= delay <= longest for delay in delays)
        assert len(set(delays)) > 1


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (BUSY, True),
        (ProviderTimeout("late"), True),
        (ProviderError("refused"), False),
        (InvalidRequest("no such model"), False),
        (ProviderError("wait", transient=True, retry_after=20), True),
        (ProviderError("wait", transient=True, retry_after=21), False),
    ],
)
def test_only_transient_errors_within_patience_are_worth_another_try(error: TributaryError, waits: bool) -> None:
    assert (RetryPolicy().delay(1, error) is not None) is waits


def test_the_last_try_is_the_last() -> None:
    assert RetryPolicy(attempts=2).delay(1, BUSY) is not None
    assert RetryPolicy(attempts=2).delay(2, BUSY) is None


def test_a_wait_that_is_asked_for_is_never_shortened() -> None:
    error = ProviderError("wait", transient=True, retry_after=7)

    assert (RetryPolicy().delay(1, error) or 0) >= 7


async def test_a_call_is_tried_until_it_succeeds() -> None:
    call = Failing(BUSY, BUSY)

    result = await retrying(call, name="m", policy=RetryPolicy(first_delay=0.0), within=10)

    assert (result, call.calls) == ("done", 3)


async def test_the_last_error_is_the_one_that_is_raised() -> None:
    last = ProviderError("still busy", transient=True)

    with pytest.raises(ProviderError, match="still busy"):
        await retrying(Failing(BUSY, BUSY, last), name="m", policy=RetryPolicy(first_delay=0.0), within=10)


async def test_no_try_starts_after_the_time_for_all_of_them() -> None:
    call = Failing(BUSY)
    began = asyncio.get_running_loop().time()

    with pytest.raises(ProviderError):
        await retrying(call, name="m", policy=RetryPolicy(first_delay=5.0), within=1)

    assert call.calls == 1
    assert asyncio.get_running_loop().time() - began < 1
