"""Signals within one process."""

from collections.abc import Callable


class MemorySignals:
    def __init__(self) -> None:
        self._listeners: list[Callable[[str], None]] = []

    async def publish(self, payload: str) -> None:
        for listener in self._listeners:
            listener(payload)

    def subscribe(self, listener: Callable[[str], None]) -> None:
        self._listeners.append(listener)
