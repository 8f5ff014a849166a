"""What changes in an organisation, told to all who listen, in whichever process it was changed.

The database sends a signal with each transaction that changes something that people see in lists; it names kinds and
ids, and nothing of what is in them. Who listens reads anew what they want to know, by the routes and with the rights
that they have anyway.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

import orjson

from stores.protocols.signals import Signals
from tributary.domain.errors import RateLimited

PREFIX = "changed:"
#: Changes that wait for a listener at most. To one that is slower nothing is told but that it must read all anew.
MOST_WAITING = 200
#: Listeners of one organisation in one process.
MOST_LISTENERS = 1_000
#: Seconds after which a place among them may be free again.
_COME_AGAIN = 30.0
#: Of signals: a key was revoked, or a sign-in has ended.
_ACCESS = "access"


class Kind(StrEnum):
    CONVERSATION = "conversation"
    BOT = "bot"
    KNOWLEDGE_BASE = "knowledgeBase"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Change:
    """Something was made, changed or deleted: to know which, read it. No `id`: so many of the kind that a list of them
    is better read anew. `knowledge_base_id` is a document's."""

    kind: Kind
    id: str | None
    knowledge_base_id: str | None = None


@dataclass(frozen=True, slots=True)
class News:
    """What happened since a listener asked last. `missed`: there may have been more than is told here, which is also
    what the first one says. `access`: whether the listener may still listen must be asked again."""

    changes: tuple[Change, ...] = ()
    missed: bool = False
    access: bool = False


class Listener:
    """One who listens, and what waits for them: each change once, however often it happened."""

    def __init__(self) -> None:
        self._waiting: dict[Change, None] = {}
        self._missed = True
        self._access = False
        self._something = asyncio.Event()
        self._something.set()

    async def next(self, *, within: float) -> News:
        """The next news, as soon as there are some; after `within` seconds without any, `access` alone."""
        try:
            async with asyncio.timeout(within):
                await self._something.wait()
        except TimeoutError:
            return News(access=True)
        news = News(() if self._missed else tuple(self._waiting), self._missed, self._access)
        self._waiting.clear()
        self._missed = self._access = False
        self._something.clear()
        return news

    def hear(self, change: Change) -> None:
        if self._missed:
            return
        self._waiting[change] = None
        if len(self._waiting) > MOST_WAITING:
            self.miss()
        self._something.set()

    def miss(self) -> None:
        self._waiting.clear()
        self._missed = True
        self._something.set()

    def doubt(self) -> None:
        self._access = True
        self._something.set()


class Changes:
    """Those who listen in this process; one subscription serves them all."""

    def __init__(self, signals: Signals) -> None:
        self._listeners: dict[str, set[Listener]] = {}
        signals.subscribe(self._heard)
        signals.after_loss(self._missed)

    def require_room(self, organisation_id: UUID) -> None:
        """Raises `RateLimited` where too many listen to this organisation already."""
        if len(self._listeners.get(str(organisation_id), ())) >= MOST_LISTENERS:
            raise RateLimited("Too many listen to changes of this organisation", retry_after=_COME_AGAIN)

    @contextmanager
    def listening(self, organisation_id: UUID) -> Iterator[Listener]:
        """A listener to that organisation's changes, as long as the context lasts."""
        listener = Listener()
        listeners = self._listeners.setdefault(str(organisation_id), set())
        listeners.add(listener)
        try:
            yield listener
        finally:
            listeners.discard(listener)
            if not listeners and self._listeners.get(str(organisation_id)) is listeners:
                del self._listeners[str(organisation_id)]

    def _heard(self, payload: str) -> None:
        if not payload.startswith(PREFIX):
            return
        told: dict[str, Any] = orjson.loads(payload.removeprefix(PREFIX))
        listeners = self._listeners.get(told["organisation"], ())
        if not listeners:
            return
        if told["kind"] == _ACCESS:
            for listener in listeners:
                listener.doubt()
            return
        kind = Kind(told["kind"])
        for each in told["ids"] or (None,):
            change = Change(kind, each, told["knowledgeBase"])
            for listener in listeners:
                listener.hear(change)

    def _missed(self) -> None:
        for listeners in self._listeners.values():
            for listener in listeners:
                listener.miss()
