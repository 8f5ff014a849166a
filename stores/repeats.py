"""Waiting for the result of a request that somebody else has begun; every backend waits alike."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from stores.protocols.idempotency import Stored
from tributary.domain.errors import Conflict

#: Seconds that a repeated request waits for the result of the first.
WAIT = 20.0
#: After this long, a request without a result counts as one whose process died. Longer than any turn.
LEASE = timedelta(minutes=15)
#: Seconds between two looks: the first pause, and the longest.
_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 0.5
#: Seconds after which a request that is still at work is worth another look.
_RETRY_AFTER = 5.0


@dataclass(frozen=True, slots=True)
class Found:
    """What stands under a key; `stored` is None while the first request is at work."""

    fingerprint: bytes
    stored: Stored | None


#: Begins the request, and says True; or gives what stands in its way, or None where that went this moment.
Attempt = Callable[[], Awaitable[Found | bool | None]]


async def first_or_result(attempt: Attempt, fingerprint: bytes, *, wait: float) -> Stored | None:
    """None when the attempt has begun the request, else the result that the first one left, waited for `wait` seconds.

    Raises:
        Conflict: it is another request, or there is no result yet.
    """
    deadline = asyncio.get_running_loop().time() + wait
    pause = _FIRST_PAUSE
    while True:
        found = await attempt()
        if found is True:
            return None
        if isinstance(found, Found):
            if found.fingerprint != fingerprint:
                raise Conflict("This Idempotency-Key was used for another request")
            if found.stored is not None:
                return found.stored
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise Conflict("The first request under this Idempotency-Key is still at work", retry_after=_RETRY_AFTER)
        await asyncio.sleep(min(pause, left))
        pause = min(2 * pause, _LONGEST_PAUSE)
