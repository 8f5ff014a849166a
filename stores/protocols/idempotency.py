"""Requests that a caller may repeat under one key, and that happen once."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol
from uuid import UUID

#: How long a result is kept for repetitions.
KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Stored:
    """The first request's result: HTTP status and JSON body."""

    status: int
    body: dict[str, Any]


class IdempotencyStore(Protocol):
    async def begin(self, organisation_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
        """None to the first who asks under `key`: the request is theirs to do, and to `complete` or `abandon`. The
        result to all others; while there is none yet, they wait for it for a bounded time. A request whose process
        died is taken over by the next who asks.

        Raises:
            Conflict: the key belongs to a request with another fingerprint, or the first one is still at work.
        """
        ...

    async def complete(self, organisation_id: UUID, key: str, status: int, body: dict[str, Any]) -> None:
        """Keeps the result of a request that was begun here. One that was taken over meanwhile keeps nothing."""
        ...

    async def abandon(self, organisation_id: UUID, key: str) -> None:
        """Forgets a request that was begun here and has no result to keep, so that it can be tried again."""
        ...

    async def purge(self, organisation_id: UUID, *, older_than: timedelta = KEPT) -> int:
        """Forgets the requests that began longer ago; how many."""
        ...
