"""Counting what calls of models use, whoever makes them.

Whoever works for an organisation opens a meter; the calls below it, in whatever task, find it in their context. A call
that a provider answered is counted even when nothing comes of its answer: it is paid for.
"""

from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import Decimal

from tributary.domain.conversations import Cost, Usage
from tributary.domain.ids import new_id
from tributary.domain.usage import Spent, UsageKind
from tributary.telemetry.metrics import count_tokens

#: The cost of a call in US dollars; None where nobody knows it.
Pricing = Callable[["ModelCall"], Decimal | None]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call that was answered. `cost` is what the provider says, in US dollars; `estimated`: it did not count the
    tokens."""

    model: str
    kind: UsageKind
    input_tokens: int
    output_tokens: int = 0
    total_tokens: int = 0
    cost: Decimal | None = None
    estimated: bool = False


class Meter:
    """Adds up the calls of one piece of work by model and purpose.

    `answers` is what a chat model is called for here. `gate` is asked before each remote call, with the meter; it may
    raise `BudgetExceeded`.
    """

    def __init__(
        self,
        pricing: Pricing,
        *,
        answers: UsageKind = UsageKind.CHAT,
        owner: Hashable = None,
        gate: Callable[["Meter"], Awaitable[None]] | None = None,
    ) -> None:
        #: Calls of different owners are never made as one.
        self.owner = owner
        self._pricing = pricing
        self._answers = answers
        self._gate = gate
        self._spent: dict[tuple[UsageKind, str], Spent] = {}

    def note(self, call: ModelCall) -> Decimal | None:
        """Counts a call; its cost in US dollars."""
        kind = self._answers if call.kind is UsageKind.CHAT else call.kind
        cost = self._pricing(call)
        before = self._spent.get((kind, call.model)) or Spent(new_id(), kind, call.model, 0, 0, 0, 0)
        self._spent[kind, call.model] = replace(
            before,
            calls=before.calls + 1,
            input_tokens=before.input_tokens + call.input_tokens,
            output_tokens=before.output_tokens + call.output_tokens,
            total_tokens=before.total_tokens + (call.total_tokens or call.input_tokens + call.output_tokens),
            cost=before.cost + (cost or 0),
            unpriced_calls=before.unpriced_calls + (cost is None),
            estimated_calls=before.estimated_calls + call.estimated,
        )
        return cost

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What was spent since the last `take`."""
        return tuple(self._spent.values())

    def take(self) -> tuple[Spent, ...]:
        """What was spent, which from then on is the caller's to record."""
        taken = self.spent
        self._spent.clear()
        return taken

    async def admit(self) -> None:
        if self._gate is not None:
            await self._gate(self)


def plain_meter() -> Meter:
    """A meter that knows no prices: a cost is what the provider says, and nothing for what runs here."""
    return Meter(lambda call: Decimal(0) if is_local(call.model) else call.cost)


_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[Meter]:
    """Within it, and in the tasks that begin within it, calls are counted by `meter`."""
    token = _meter.set(meter)
    try:
        yield meter
    finally:
        _meter.reset(token)


def note(call: ModelCall) -> Cost:
    """Counts a call with the meter of whoever works here, and says what it cost; nothing where nobody meters."""
    meter = _meter.get()
    kind = "embedding" if call.kind is UsageKind.EMBEDDING else "chat"
    count_tokens(call.model, kind, read=call.input_tokens, written=call.output_tokens)
    return Cost() if meter is None else _told(meter.note(call))


def _told(cost: Decimal | None) -> Cost:
    return Cost(costUsd=None if cost is None else float(cost))


async def admit(model: str) -> None:
    """To be awaited before each call. Raises `BudgetExceeded` where the work may not spend any more."""
    meter = _meter.get()
    if meter is not None and not is_local(model):
        await meter.admit()


def owner_of(model: str) -> Hashable:
    """Who pays for the calls of a model that the work at hand makes; None for what costs nothing."""
    meter = _meter.get()
    return meter.owner if meter and not is_local(model) else None


def spent_so_far() -> tuple[Spent, ...]:
    """What the work at hand has spent; nothing where nobody meters it."""
    meter = _meter.get()
    return meter.spent if meter else ()


def spent_or(model: str, usage: Usage | None) -> tuple[Spent, ...]:
    """The same; where nobody meters, one call of `model` that used `usage`."""
    meter = _meter.get()
    if meter is not None or usage is None or not usage["totalTokens"]:
        return meter.spent if meter else ()
    cost = usage.get("costUsd")
    tokens = usage["inputTokens"], usage["outputTokens"], usage["totalTokens"]
    alone = plain_meter()
    alone.note(ModelCall(model, UsageKind.CHAT, *tokens, cost=None if cost is None else Decimal(str(cost))))
    return alone.spent


def answer_usage() -> Usage | None:
    """The tokens and the cost of the answer at hand: of all calls that were made for it."""
    calls = [each for each in spent_so_far() if each.kind is UsageKind.CHAT]
    return usage_of(calls) if calls else None


def usage_of(calls: Sequence[Spent]) -> Usage:
    """Their sums as a message shows them; the cost is None where a part of it is not known."""
    priced = not any(each.unpriced_calls for each in calls)
    return Usage(
        inputTokens=sum(each.input_tokens for each in calls),
        outputTokens=sum(each.output_tokens for each in calls),
        totalTokens=sum(each.total_tokens for each in calls),
        **_told(sum((each.cost for each in calls), Decimal(0)) if priced else None),
    )


def is_local(model: str) -> bool:
    """Whether a model runs on this machine: its calls cost nothing."""
    return model.startswith("local/")
