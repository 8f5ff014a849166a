"""Explicit requests to end a running turn, whichever process runs it."""

import asyncio
from uuid import UUID

from stores.protocols.signals import Signals

_PREFIX = "stop:"


class Stops:
    """A request is kept from the beginning of a turn to its end, so that one that comes during retrieval is met
    when the model is reached. One that comes when no turn runs is void."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._asked: dict[UUID, asyncio.Event] = {}
        signals.subscribe(self._heard)

    def begin(self, conversation_id: UUID) -> None:
        self._asked[conversation_id] = asyncio.Event()

    def end(self, conversation_id: UUID) -> None:
        self._asked.pop(conversation_id, None)

    async def ask(self, conversation_id: UUID) -> None:
        """Asks every process to end this conversation's running turn."""
        await self._signals.publish(f"{_PREFIX}{conversation_id}")

    def ask_here(self, conversation_id: UUID) -> None:
        """Asks this process alone, at once."""
        if (event := self._asked.get(conversation_id)) is not None:
            event.set()

    async def wait(self, conversation_id: UUID) -> None:
        """Returns when the running turn is asked to end. A turn that was not begun here, such as one that people step
        through, is asked for as long as it waits."""
        if (begun := self._asked.get(conversation_id)) is not None:
            await begun.wait()
            return
        event = self._asked[conversation_id] = asyncio.Event()
        try:
            await event.wait()
        finally:
            if self._asked.get(conversation_id) is event:
                del self._asked[conversation_id]

    def _heard(self, payload: str) -> None:
        if payload.startswith(_PREFIX):
            event = self._asked.get(UUID(payload.removeprefix(_PREFIX)))
            if event is not None:
                event.set()
