"""When a failed call of a provider is tried again. The libraries' own retries are off: they wait blindly, and
they would multiply with ours."""

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from tributary.domain.errors import TributaryError

logger = logging.getLogger(__name__)

T = TypeVar("T")
_random = secrets.SystemRandom()


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and after how many seconds. A wait that a provider asks for is kept when it is at most
    `patience`; a longer one is told to the caller instead (`retry_after` of the error)."""

    attempts: int = 3
    first_delay: float = 0.5
    longest_delay: float = 8.0
    patience: float = 20.0

    def delay(self, attempt: int, error: TributaryError) -> float | None:
        """Seconds before another try after the `attempt`-th (from 1) failed with `error`; None for no other try."""
        if not error.transient or attempt >= self.attempts:
            return None
        if error.retry_after is not None and error.retry_after > self.patience:
            return None
        backoff = min(self.longest_delay, self.first_delay * 2 ** (attempt - 1))
        # Half of it is chance, so that many callers who failed together don't come back together.
        return max(error.retry_after or 0.0, _random.uniform(backoff / 2, backoff))


class Attempts:
    """Counts the tries of one call. None starts later than `within` seconds after the first did."""

    def __init__(self, policy: RetryPolicy, *, within: float) -> None:
        self._policy = policy
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + within
        self._failed = 0

    async def wait_after(self, error: TributaryError, name: str) -> None:
        """Returns when it is time for another try; raises `error` when there is none."""
        self._failed += 1
        delay = self._policy.delay(self._failed, error)
        if delay is None or self._loop.time() + delay > self._deadline:
            raise error
        logger.info("%s failed (%s); try %d in %.1f s", name, error.code, self._failed + 1, delay)
        await asyncio.sleep(delay)


async def retrying(call: Callable[[], Awaitable[T]], *, name: str, policy: RetryPolicy, within: float) -> T:
    """The result of `call`, tried again while it fails with a transient error of our tree."""
    attempts = Attempts(policy, within=within)
    while True:
        try:
            return await call()
        except TributaryError as error:
            await attempts.wait_after(error, name)
