"""Short messages between the processes that serve one database."""

from collections.abc import Callable
from typing import Protocol


class Signals(Protocol):
    async def publish(self, payload: str) -> None:
        """Tells every process that listens, this one included, at most once each; up to 7,000 bytes."""
        ...

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """Calls `listener` with each payload, in the order of its publishing. Listeners must not block."""
        ...
