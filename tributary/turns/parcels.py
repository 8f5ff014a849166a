"""What one process sends another of a turn, in signals of bounded size."""

import base64
import zlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson
from typing_extensions import TypedDict

from tributary.turns.events import TurnEvent

#: Characters of a parcel's part; with its head it is below what a signal takes.
PART = 6_000
_ASK, _TELL = "turn-ask:", "turn-tell:"


class Ask(TypedDict):
    """Asks who runs a turn of this conversation for its events."""

    #: The address to answer to, and what the asker knows this answer by.
    by: str
    number: str
    organisation: str
    conversation: str
    #: The turn that is followed; empty for the one that runs now.
    turn: str
    #: Events that the asker has.
    position: int


class Parcel(TypedDict):
    """Events of a turn from `position` on."""

    by: str
    turn: str
    #: Of the question; empty until it is stored.
    question: str
    position: int
    events: list[TurnEvent]


def new_ask(by: str, number: str, organisation_id: UUID, conversation_id: UUID, turn: str, position: int) -> Ask:
    return Ask(
        by=by,
        number=number,
        organisation=str(organisation_id),
        conversation=str(conversation_id),
        turn=turn,
        position=position,
    )


def ask_of(payload: str) -> Ask | None:
    return _loaded(payload.removeprefix(_ASK)) if payload.startswith(_ASK) else None


def signal_of(ask: Ask) -> str:
    return _ASK + orjson.dumps(ask).decode()


def signals_of(number: str, parcel: Parcel) -> Iterator[str]:
    """The parcel in parts, each a signal."""
    packed = base64.b64encode(zlib.compress(orjson.dumps(parcel), 1)).decode()
    count = -(-len(packed) // PART)
    for part in range(count):
        yield f"{_TELL}{number}:{part}:{count}:{packed[part * PART : (part + 1) * PART]}"


class Unpacking:
    """Parts on their way, by the number of what they answer. Those that nobody waits for are dropped."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[int, str]] = {}

    def expect(self, number: str) -> None:
        self._parts[number] = {}

    def forget(self, number: str) -> None:
        self._parts.pop(number, None)

    def take(self, payload: str) -> tuple[str, Parcel] | None:
        """A number and its parcel, when this was the part that was missing."""
        if not payload.startswith(_TELL):
            return None
        number, part, count, packed = payload.removeprefix(_TELL).split(":")
        parts = self._parts.get(number)
        if parts is None:
            return None
        parts[int(part)] = packed
        if len(parts) < int(count):
            return None
        whole = "".join(parts[index] for index in range(int(count)))
        parcel: Parcel = _loaded(zlib.decompress(base64.b64decode(whole)))
        return number, parcel


def _loaded(data: str | bytes) -> Any:
    return orjson.loads(data)
