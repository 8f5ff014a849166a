"""What calls of models used and cost, and who pays for them."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID


class UsageKind(StrEnum):
    """What a model was called for: to answer, to embed, or to read documents that are ingested."""

    CHAT = "chat"
    EMBEDDING = "embedding"
    INGEST = "ingest"


class Grouping(StrEnum):
    """What usage can be told apart by."""

    DAY = "day"
    MODEL = "model"
    KIND = "kind"
    BOT = "bot"
    CONVERSATION = "conversation"
    KNOWLEDGE_BASE = "knowledgeBase"


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one model for one purpose, added up. `cost` is in US dollars, of those calls whose cost is known;
    `unpriced_calls` are the others, `estimated_calls` those whose tokens the provider did not count."""

    id: UUID
    kind: UsageKind
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost: Decimal = Decimal(0)
    unpriced_calls: int = 0
    estimated_calls: int = 0


@dataclass(frozen=True, slots=True)
class Bill:
    """What one piece of work spent, and for what. Rows are kept once by their ids, however often a bill comes in.
    `message_id` is the answer or, where there is none, the question; `reservation_id` ends with the bill."""

    spent: tuple[Spent, ...] = ()
    bot_id: UUID | None = None
    conversation_id: UUID | None = None
    message_id: UUID | None = None
    knowledge_base_id: UUID | None = None
    reservation_id: UUID | None = None


NOTHING_SPENT = Bill()


@dataclass(frozen=True, slots=True)
class UsageFilter:
    """Which calls: those of the UTC days `first` to `last`, both included, and of what is named beside them."""

    first: date
    last: date
    bot_id: UUID | None = None
    conversation_id: UUID | None = None
    message_id: UUID | None = None
    knowledge_base_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class UsageTotals:
    """Sums over calls. `cost` is in US dollars; None where there are calls and none of them has a known cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cost: Decimal | None = Decimal(0)
    unpriced_calls: int = 0
    estimated_calls: int = 0


@dataclass(frozen=True, slots=True)
class UsageGroup:
    """Sums over calls that share what they were grouped by. `key` holds a `date`, a name or an id for each grouping;
    None where the calls have none, such as the bot of an ingestion."""

    key: dict[Grouping, date | str | UUID | None]
    totals: UsageTotals


@dataclass(frozen=True, slots=True)
class MonthSpending:
    """An organisation's calendar month in UTC. Amounts are US dollars; `reserved` is what running turns are expected
    to cost, `budget` None for none."""

    month: date
    spent: Decimal
    reserved: Decimal
    unpriced_calls: int
    budget: Decimal | None
    ends_at: datetime

    @property
    def used_up(self) -> bool:
        """Whether nothing that costs money may begin any more."""
        return self.budget is not None and self.spent + self.reserved >= self.budget


@dataclass(frozen=True, slots=True)
class StorageUse:
    """Bytes of an organisation's files, and its quota (None for none)."""

    bytes: int
    quota_bytes: int | None


def totals_of(
    *,
    calls: int,
    input_tokens: int,
    output_tokens: int,
    total_tokens: int,
    cost: Decimal,
    unpriced_calls: int,
    estimated_calls: int,
) -> UsageTotals:
    """Sums as they are told: a cost of which nothing is known is None and not 0."""
    return UsageTotals(
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        total_tokens=total_tokens,
        cost=None if calls and calls == unpriced_calls else cost,
        unpriced_calls=unpriced_calls,
        estimated_calls=estimated_calls,
    )
