"""Whether this process can serve: each dependency by name, asked side by side, and never so often as to be a load."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from tributary.domain.errors import TributaryError

Check = Callable[[], Awaitable[None]]

#: Seconds that a check may take, and that its answer is good for.
LIMIT = 3.0
FRESH = 1.0


class Readiness(StrEnum):
    """`degraded`: it serves, and says in its answers what is left out."""

    READY = "ready"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Report:
    """`dependencies` are `ok`, or what is the matter."""

    status: Readiness
    dependencies: Mapping[str, str]


@dataclass(slots=True)
class Dependencies:
    """`needed`: without one of them no turn is answered. `useful`: without them answers are whole or say what they
    lack. A check raises an error of our tree with what is the matter."""

    needed: Mapping[str, Check]
    useful: Mapping[str, Check] = field(default_factory=dict)
    limit: float = LIMIT
    fresh: float = FRESH
    _report: Report | None = None
    _asked: float = 0.0
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def report(self) -> Report:
        """How things are, or were a moment ago. However many ask at a time, each dependency is asked once."""
        async with self._asking:
            if self._report is None or time.monotonic() - self._asked > self.fresh:
                self._report = await self._look()
                self._asked = time.monotonic()
            return self._report

    async def _look(self) -> Report:
        checks = {**self.needed, **self.useful}
        states = dict(zip(checks, await asyncio.gather(*map(self._state, checks.values())), strict=True))
        status = Readiness.READY
        if any(states[name] != "ok" for name in self.useful):
            status = Readiness.DEGRADED
        if any(states[name] != "ok" for name in self.needed):
            status = Readiness.UNAVAILABLE
        return Report(status, states)

    async def _state(self, check: Check) -> str:
        try:
            async with asyncio.timeout(self.limit):
                await check()
        except TributaryError as error:
            return error.detail
        except TimeoutError:
            return f"no answer within {self.limit:g} s"
        return "ok"
