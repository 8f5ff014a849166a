"""What an organisation used and spent (SPEC §9)."""

from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from tributary.domain.errors import InvalidRequest
from tributary.domain.ids import parse_id
from tributary.domain.usage import Grouping, MonthSpending, UsageFilter, UsageGroup, UsageTotals
from tributary.routes.access import OwnerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.shapes import Shape

router = APIRouter(prefix="/api", tags=["usage"], responses=problems(403))

#: Days that one answer may cover, and groups that it may have.
MOST_DAYS = 400
MOST_GROUPS = 5_000
_USUAL = [Grouping.DAY, Grouping.MODEL, Grouping.BOT]


class TotalsShape(Shape):
    calls: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cost_usd: float | None = Field(description="Of the calls whose cost is known; null where none is")
    unpriced_calls: int = Field(description="Calls whose cost nobody says")
    estimated_calls: int = Field(description="Calls whose tokens the provider did not count")


class GroupShape(TotalsShape):
    day: date | None = None
    model: str | None = None
    kind: str | None = None
    bot_id: UUID | None = None
    conversation_id: UUID | None = None
    knowledge_base_id: UUID | None = None


class StorageShape(Shape):
    bytes: int
    quota_bytes: int | None


class MonthShape(Shape):
    month: str = Field(description="Year and month, in UTC")
    cost_usd: float
    reserved_usd: float = Field(description="What running turns are expected to cost")
    budget_usd: float | None
    remaining_usd: float | None
    unpriced_calls: int
    ends_at: datetime


class UsageShape(Shape):
    first: date = Field(alias="from")
    last: date = Field(alias="to")
    totals: TotalsShape
    groups: list[GroupShape]
    storage: StorageShape
    month: MonthShape


@router.get("/usage", response_model=UsageShape)
async def usage(
    caller: OwnerOf,
    services: ServicesOf,
    first: Annotated[
        date | None, Query(alias="from", description="First UTC day; by default that of the month")
    ] = None,
    last: Annotated[date | None, Query(alias="to", description="Last UTC day, included; by default today")] = None,
    bot_id: Annotated[str | None, Query(alias="botId")] = None,
    conversation_id: Annotated[str | None, Query(alias="conversationId")] = None,
    message_id: Annotated[str | None, Query(alias="messageId")] = None,
    knowledge_base_id: Annotated[str | None, Query(alias="knowledgeBaseId")] = None,
    group_by: Annotated[list[Grouping] | None, Query(alias="groupBy")] = None,
) -> Any:
    """Calls of models with their tokens and costs, in all and by day, model and bot (or by what `groupBy` says); the
    bytes that are kept; and the running month against its budget. What was spent on something stays when it is
    deleted."""
    wanted = UsageFilter(
        *_days(first, last),
        bot_id=_id("bot", bot_id),
        conversation_id=_id("conversation", conversation_id),
        message_id=_id("message", message_id),
        knowledge_base_id=_id("knowledge base", knowledge_base_id),
    )
    ledger, organisation_id = services.usage, caller.organisation_id
    by = list(dict.fromkeys(group_by or _USUAL))
    groups = await ledger.groups(organisation_id, wanted, by, limit=MOST_GROUPS + 1)
    if len(groups) > MOST_GROUPS:
        raise InvalidRequest(f"These are more than {MOST_GROUPS:,} groups: ask for fewer days, or group by less")
    return {
        "from": wanted.first,
        "to": wanted.last,
        "totals": _totals(await ledger.totals(organisation_id, wanted)),
        "groups": [_group(each) for each in groups],
        "storage": await ledger.storage(organisation_id),
        "month": _month(await ledger.month(organisation_id)),
    }


def _days(first: date | None, last: date | None) -> tuple[date, date]:
    end = last or max(first or date.min, datetime.now(UTC).date())
    begin = first or end.replace(day=1)
    if begin > end:
        raise InvalidRequest("`from` lies behind `to`")
    if end - begin >= timedelta(days=MOST_DAYS):
        raise InvalidRequest(f"At most {MOST_DAYS} days are told at once")
    return begin, end


def _id(kind: str, given: str | None) -> UUID | None:
    return None if given is None else parse_id(kind, given)


def _totals(totals: UsageTotals) -> dict[str, Any]:
    return {
        "calls": totals.calls,
        "input_tokens": totals.input_tokens,
        "output_tokens": totals.output_tokens,
        "total_tokens": totals.total_tokens,
        "cost_usd": None if totals.cost is None else float(totals.cost),
        "unpriced_calls": totals.unpriced_calls,
        "estimated_calls": totals.estimated_calls,
    }


_KEYS = {
    Grouping.DAY: "day",
    Grouping.MODEL: "model",
    Grouping.KIND: "kind",
    Grouping.BOT: "bot_id",
    Grouping.CONVERSATION: "conversation_id",
    Grouping.KNOWLEDGE_BASE: "knowledge_base_id",
}


def _group(group: UsageGroup) -> dict[str, Any]:
    return {_KEYS[grouping]: value for grouping, value in group.key.items()} | _totals(group.totals)


def _month(month: MonthSpending) -> dict[str, Any]:
    left = None if month.budget is None else max(0.0, float(month.budget - month.spent - month.reserved))
    return {
        "month": f"{month.month:%Y-%m}",
        "cost_usd": float(month.spent),
        "reserved_usd": float(month.reserved),
        "budget_usd": None if month.budget is None else float(month.budget),
        "remaining_usd": left,
        "unpriced_calls": month.unpriced_calls,
        "ends_at": month.ends_at,
    }
