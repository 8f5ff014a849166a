"""Usage and budgets in memory."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from stores.budgets import month_of, require_budget
from stores.memory.tables import MemoryTables, Reservation, UsageRow
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.usage import RESERVED_FOR
from tributary.domain.usage import (
    Bill,
    Grouping,
    MonthSpending,
    StorageUse,
    UsageFilter,
    UsageGroup,
    UsageTotals,
    totals_of,
)

_EVERYTHING = 2**31
_Key = tuple[date | str | UUID | None, ...]


class MemoryUsage:
    """`UsageLedger` in memory; storage also counts documents of `knowledge`. `owner` is the process that reserves."""

    def __init__(self, tables: MemoryTables, knowledge: KnowledgeReader, *, owner: UUID | None = None) -> None:
        self._tables = tables
        self._owner = owner
        self._knowledge = knowledge

    async def record(self, organisation_id: UUID, bill: Bill) -> None:
        keep_bill(self._tables, organisation_id, bill)

    async def reserve(self, organisation_id: UUID, reservation_id: UUID, amount: Decimal) -> None:
        month = await self.month(organisation_id)
        require_budget(month, self._tables.clock())
        if month.budget is not None:
            made = Reservation(amount, self._tables.clock(), self._owner)
            self._tables.reservations[organisation_id, reservation_id] = made

    async def check(self, organisation_id: UUID) -> None:
        require_budget(await self.month(organisation_id), self._tables.clock())

    async def totals(self, organisation_id: UUID, wanted: UsageFilter) -> UsageTotals:
        return _sum(self._rows(organisation_id, wanted))

    async def groups(
        self, organisation_id: UUID, wanted: UsageFilter, by: Sequence[Grouping], *, limit: int
    ) -> Sequence[UsageGroup]:
        grouped: dict[_Key, list[UsageRow]] = {}
        for row in self._rows(organisation_id, wanted):
            grouped.setdefault(tuple(_key(row, each) for each in by), []).append(row)
        # Of one grouping all keys have one type; those without stand last.
        ordered = sorted(grouped.items(), key=lambda item: [(part is None, str(part)) for part in item[0]])
        return [UsageGroup(key=dict(zip(by, key, strict=True)), totals=_sum(rows)) for key, rows in ordered[:limit]]

    async def month(self, organisation_id: UUID) -> MonthSpending:
        now = self._tables.clock()
        first, ends_at = month_of(now)
        rows = self._rows(organisation_id, UsageFilter(first, (ends_at - timedelta(days=1)).date()))
        budget = self._tables.organisation(organisation_id).limits.monthly_budget
        return MonthSpending(
            month=first,
            spent=sum((row.spent.cost for row in rows), Decimal(0)),
            reserved=self._reserved(organisation_id, now),
            unpriced_calls=sum(row.spent.unpriced_calls for row in rows),
            budget=None if budget is None else Decimal(str(budget)),
            ends_at=ends_at,
        )

    async def storage(self, organisation_id: UUID) -> StorageUse:
        total = sum(row.attachment.size for key, row in self._tables.attachments.items() if key[0] == organisation_id)
        for base in await self._knowledge.list_knowledge_bases(organisation_id, after=None, limit=_EVERYTHING):
            documents = await self._knowledge.list_documents(organisation_id, base.id, after=None, limit=_EVERYTHING)
            total += sum(document.size for document in documents)
        return StorageUse(total, self._tables.organisation(organisation_id).limits.quota_bytes)

    async def months(self) -> Mapping[UUID, MonthSpending]:
        return {each: await self.month(each) for each in self._tables.organisations}

    def _reserved(self, organisation_id: UUID, now: datetime) -> Decimal:
        oldest = now - timedelta(seconds=RESERVED_FOR)
        found = [
            made.amount
            for (owner, _), made in self._tables.reservations.items()
            if owner == organisation_id and made.made_at > oldest
        ]
        return sum(found, Decimal(0))

    def _rows(self, organisation_id: UUID, wanted: UsageFilter) -> list[UsageRow]:
        return [
            row
            for (owner, _), row in self._tables.usage.items()
            if owner == organisation_id
            and wanted.first <= row.made_at.astimezone(UTC).date() <= wanted.last
            and wanted.bot_id in (None, row.bill.bot_id)
            and wanted.conversation_id in (None, row.bill.conversation_id)
            and wanted.message_id in (None, row.bill.message_id)
            and wanted.knowledge_base_id in (None, row.bill.knowledge_base_id)
        ]


def keep_bill(tables: MemoryTables, organisation_id: UUID, bill: Bill) -> None:
    """Rows by their ids, once; the reservation ends."""
    for spent in bill.spent:
        tables.usage.setdefault((organisation_id, spent.id), UsageRow(spent, bill, tables.clock()))
    if bill.reservation_id is not None:
        tables.reservations.pop((organisation_id, bill.reservation_id), None)


def _key(row: UsageRow, grouping: Grouping) -> date | str | UUID | None:
    keys: dict[Grouping, date | str | UUID | None] = {
        Grouping.DAY: row.made_at.astimezone(UTC).date(),
        Grouping.MODEL: row.spent.model,
        Grouping.KIND: row.spent.kind.value,
        Grouping.BOT: row.bill.bot_id,
        Grouping.CONVERSATION: row.bill.conversation_id,
        Grouping.KNOWLEDGE_BASE: row.bill.knowledge_base_id,
    }
    return keys[grouping]


def _sum(rows: Sequence[UsageRow]) -> UsageTotals:
    return totals_of(
        calls=sum(row.spent.calls for row in rows),
        input_tokens=sum(row.spent.input_tokens for row in rows),
        output_tokens=sum(row.spent.output_tokens for row in rows),
        total_tokens=sum(row.spent.total_tokens for row in rows),
        cost=sum((row.spent.cost for row in rows), Decimal(0)),
        unpriced_calls=sum(row.spent.unpriced_calls for row in rows),
        estimated_calls=sum(row.spent.estimated_calls for row in rows),
    )
