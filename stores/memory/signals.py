"""Signals within one process."""

from collections.abc import Callable

from tributary.domain.ids import new_id


class MemorySignals:
    """`Signals` among those that were made with the same `others`."""

    def __init__(self, others: "list[MemorySignals] | None" = None) -> None:
        self.address = new_id().hex
        self._all = [] if others is None else others
        self._all.append(self)
        self._listeners: list[Callable[[str], None]] = []

    async def publish(self, payload: str, *, to: str | None = None) -> None:
        for each in self._all:
            if to in (None, each.address):
                for listener in each._listeners:
                    listener(payload)

    def subscribe(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)

    def after_loss(self, listener: Callable[[], None]) -> None:
        """None is ever lost within a process."""
