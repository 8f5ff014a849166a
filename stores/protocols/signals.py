"""Short messages between the processes that serve one database."""

from collections.abc import Callable
from typing import Protocol


class Signals(Protocol):
    @property
    def address(self) -> str:
        """Of this process, for others to answer to."""
        ...

    async def publish(self, payload: str, *, to: str | None = None) -> None:
        """Tells every process that listens, this one included, or only the one of this address, at most once each; up
        to 7,000 bytes. An address that nobody has is no error."""
        ...

    def subscribe(self, listener: Callable[[str], None]) -> None:
        """Calls `listener` with each payload, in the order of its publishing. Listeners must not block."""
        ...

    def after_loss(self, listener: Callable[[], None]) -> None:
        """Calls `listener` each time when signals can be heard again and some may have been missed."""
        ...
