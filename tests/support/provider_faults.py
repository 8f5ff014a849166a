"""How the stub provider can misbehave. One fault spoils one request; see `Provider.next_chat` and its siblings."""

import threading
from dataclasses import dataclass, field
from typing import Any

#: In `Choices`: the key itself is left out.
MISSING: Any = object()


@dataclass(frozen=True)
class Refuse:
    """An HTTP error in the provider's own shape."""

    status: int
    retry_after: str | None = None
    message: str | None = None
    code: str | None = None


@dataclass(frozen=True)
class ErrorInside200:
    """HTTP 200, then an error: as an event after some pieces or, with `whole_body`, as the JSON body."""

    code: int | str = 502
    message: str = "Provider returned error"
    after: int = 0
    whole_body: bool = False


@dataclass(frozen=True)
class Choices:
    """Every chunk (or the whole answer) carries these `choices`: None, [] or MISSING."""

    value: Any


@dataclass(frozen=True)
class Cut:
    """The stream ends after some pieces without a finish reason; with `abrupt` the connection breaks."""

    after: int = 0
    abrupt: bool = False


@dataclass(frozen=True)
class Stall:
    """Nothing comes after some pieces until the client gives up."""

    after: int = 0


@dataclass(frozen=True)
class Pause:
    """After some pieces nothing comes until `event` is set; then the rest."""

    after: int = 1
    event: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Text:
    """These pieces and no others, e.g. none at all, with this finish reason (None: left out)."""

    pieces: tuple[str, ...] = ()
    finish: str | None = "stop"
    reasoning: tuple[str, ...] = ()


@dataclass(frozen=True)
class Garbage:
    """HTTP 200 and something that no client of this protocol can read."""

    body: str = "data: {not json\n\n"
    content_type: str = "text/event-stream"


@dataclass(frozen=True)
class Blocked:
    """Gemini only: the prompt is blocked, so no candidate comes back."""

    reason: str = "SAFETY"


@dataclass(frozen=True)
class WrongCount:
    """Embeddings: so many vectors more (or fewer) than texts."""

    by: int = -1


@dataclass(frozen=True)
class WrongDimension:
    """Embeddings: vectors of another length."""

    dimension: int


@dataclass(frozen=True)
class WrongValue:
    """Embeddings: every number of every vector is this one."""

    value: float


@dataclass(frozen=True)
class Hold:
    """The right answer, as soon as `event` is set."""

    event: threading.Event = field(default_factory=threading.Event)


Fault = (
    Refuse
    | ErrorInside200
    | Choices
    | Cut
    | Stall
    | Pause
    | Text
    | Garbage
    | Blocked
    | WrongCount
    | WrongDimension
    | WrongValue
    | Hold
)


@dataclass(frozen=True)
class Plan:
    """What a stream sends: the pieces, then how it ends."""

    pieces: tuple[str, ...]
    reasoning: tuple[str, ...] = ()
    finish: str | None = "stop"
    choices: Any = None
    respell_choices: bool = False
    error: ErrorInside200 | None = None
    stall: bool = False
    pause: Pause | None = None
    abrupt: bool = False


def plan(fault: Fault | None, pieces: tuple[str, ...]) -> Plan:
    """The stream that `fault` makes of an answer in `pieces`."""
    match fault:
        case ErrorInside200(after=after):
            return Plan(pieces[:after], finish=None, error=fault)
        case Choices(value=value):
            return Plan(pieces, choices=value, respell_choices=True)
        case Cut(after=after, abrupt=abrupt):
            return Plan(pieces[:after], finish=None, abrupt=abrupt)
        case Stall(after=after):
            return Plan(pieces[:after], finish=None, stall=True)
        case Pause():
            return Plan(pieces, pause=fault)
        case Text(pieces=own, finish=finish, reasoning=reasoning):
            return Plan(own, reasoning=reasoning, finish=finish)
        case _:
            return Plan(pieces)
