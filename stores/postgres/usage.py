"""Usage and budgets in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from stores.budgets import month_of, require_budget
from stores.postgres.database import Database
from stores.postgres.statements import Statement, query, run
from stores.protocols.usage import RESERVED_FOR
from tributary.domain.errors import NotFound
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

# A bill that comes in twice, since the first answer was lost with the connection, finds its rows there. The month's
# sum stands in a row of its own, so that a turn's check of the budget does not add up a month.
_BILL = """
WITH added AS (
    INSERT INTO usage_entries (organisation_id, id, kind, model, bot_id, conversation_id, message_id,
                               knowledge_base_id, calls, input_tokens, output_tokens, total_tokens, cost,
                               unpriced_calls, estimated_calls)
    SELECT %(organisation)s, new.id, new.kind, new.model, %(bot)s, %(spender)s, %(message)s, %(knowledge_base)s,
           new.calls, new.input_tokens, new.output_tokens, new.total_tokens, new.cost, new.unpriced, new.estimated
    FROM unnest(%(ids)s::uuid[], %(kinds)s::text[], %(models)s::text[], %(calls)s::int[], %(inputs)s::bigint[],
                %(outputs)s::bigint[], %(totals)s::bigint[], %(costs)s::numeric[], %(unpriced)s::int[],
                %(estimated)s::int[])
         AS new (id, kind, model, calls, input_tokens, output_tokens, total_tokens, cost, unpriced, estimated)
    ON CONFLICT (organisation_id, id) DO NOTHING
    RETURNING cost, unpriced_calls
), month AS (
    INSERT INTO usage_months AS m (organisation_id, month, cost, unpriced_calls)
    SELECT %(organisation)s, (date_trunc('month', now(), 'UTC') AT TIME ZONE 'UTC')::date, sum(cost),
           sum(unpriced_calls)
    FROM added HAVING count(*) > 0
    ON CONFLICT (organisation_id, month) DO UPDATE
        SET cost = m.cost + EXCLUDED.cost, unpriced_calls = m.unpriced_calls + EXCLUDED.unpriced_calls
), ended AS (
    DELETE FROM budget_reservations WHERE organisation_id = %(organisation)s AND id = %(reservation)s
)
SELECT count(*) FROM added
"""
_MONTH = f"""
SELECT o.id, o.monthly_budget AS budget, m.cost AS spent, m.unpriced_calls, (
    SELECT sum(amount) FROM budget_reservations r
    WHERE r.organisation_id = o.id AND r.made_at > now() - make_interval(secs => {RESERVED_FOR})
) AS reserved
FROM organisations o
LEFT JOIN usage_months m
    ON m.organisation_id = o.id AND m.month = (date_trunc('month', now(), 'UTC') AT TIME ZONE 'UTC')::date
"""
_OWN_MONTH = f"{_MONTH} WHERE o.id = %(organisation)s"
# Turns of one organisation that has a budget pass one by one from here to the end of their transaction.
_LOCK = """
SELECT id FROM organisations WHERE id = %(organisation)s AND monthly_budget IS NOT NULL FOR NO KEY UPDATE
"""
_RESERVE = f"""
WITH month AS ({_OWN_MONTH}), expired AS (
    DELETE FROM budget_reservations
    WHERE organisation_id = %(organisation)s AND made_at <= now() - make_interval(secs => {RESERVED_FOR})
), made AS (
    INSERT INTO budget_reservations (organisation_id, id, amount, owner)
    SELECT id, %(reservation)s, %(amount)s, %(owner)s FROM month
    WHERE budget IS NOT NULL AND coalesce(spent, 0) + coalesce(reserved, 0) < budget
    ON CONFLICT (organisation_id, id) DO NOTHING
)
SELECT * FROM month
"""
_STORAGE = """
SELECT o.quota_bytes,
       coalesce((SELECT sum(size) FROM message_attachments WHERE organisation_id = %(organisation)s), 0)
       + coalesce((SELECT sum(size) FROM documents WHERE organisation_id = %(organisation)s), 0) AS bytes
FROM organisations o WHERE o.id = %(organisation)s
"""
_SUMS = """
coalesce(sum(calls), 0)::bigint AS calls, coalesce(sum(input_tokens), 0)::bigint AS input_tokens,
coalesce(sum(output_tokens), 0)::bigint AS output_tokens, coalesce(sum(total_tokens), 0)::bigint AS total_tokens,
coalesce(sum(cost), 0) AS cost, coalesce(sum(unpriced_calls), 0)::bigint AS unpriced_calls,
coalesce(sum(estimated_calls), 0)::bigint AS estimated_calls
"""
_COLUMNS = {
    Grouping.DAY: "(made_at AT TIME ZONE 'UTC')::date",
    Grouping.MODEL: 'model COLLATE "C"',
    Grouping.KIND: 'kind COLLATE "C"',
    Grouping.BOT: "bot_id",
    Grouping.CONVERSATION: "conversation_id",
    Grouping.KNOWLEDGE_BASE: "knowledge_base_id",
}
_FILTERS = {
    "bot_id": "bot_id = %(bot_id)s",
    "conversation_id": "conversation_id = %(conversation_id)s",
    "message_id": "message_id = %(message_id)s",
    "knowledge_base_id": "knowledge_base_id = %(knowledge_base_id)s",
}


class PostgresUsage:
    """`UsageLedger` on PostgreSQL. `owner` is the process that reserves (`PostgresTurnQueue.process_id`)."""

    def __init__(self, database: Database, *, owner: UUID | None = None) -> None:
        self._database = database
        self._owner = owner

    async def record(self, organisation_id: UUID, bill: Bill) -> None:
        await run(self._database, organisation_id, billing(bill))

    async def reserve(self, organisation_id: UUID, reservation_id: UUID, amount: Decimal) -> None:
        values = {"reservation": reservation_id, "amount": amount, "owner": self._owner}
        _, rows = await run(self._database, organisation_id, [(_LOCK, {}), (_RESERVE, values)])
        require_budget(_month(_only(rows, organisation_id)), datetime.now(UTC))

    async def check(self, organisation_id: UUID) -> None:
        require_budget(await self.month(organisation_id), datetime.now(UTC))

    async def totals(self, organisation_id: UUID, wanted: UsageFilter) -> UsageTotals:
        where, values = _where(wanted)
        [row] = await query(self._database, organisation_id, f"SELECT {_SUMS} FROM usage_entries {where}", values)
        return totals_of(**row)

    async def groups(
        self, organisation_id: UUID, wanted: UsageFilter, by: Sequence[Grouping], *, limit: int
    ) -> Sequence[UsageGroup]:
        where, values = _where(wanted)
        keys = ", ".join(f"{_COLUMNS[each]} AS key_{each.name.lower()}" for each in by)
        places = ", ".join(str(place) for place in range(1, len(by) + 1))
        statement = (
            f"SELECT {keys}, {_SUMS} FROM usage_entries {where} GROUP BY {places} ORDER BY {places} LIMIT %(limit)s"
        )
        rows = await query(self._database, organisation_id, statement, values | {"limit": limit})
        return [_group(row, by) for row in rows]

    async def month(self, organisation_id: UUID) -> MonthSpending:
        return _month(_only(await query(self._database, organisation_id, _OWN_MONTH, {}), organisation_id))

    async def storage(self, organisation_id: UUID) -> StorageUse:
        row = _only(await query(self._database, organisation_id, _STORAGE, {}), organisation_id)
        return StorageUse(bytes=int(row["bytes"]), quota_bytes=row["quota_bytes"])

    async def months(self) -> Mapping[UUID, MonthSpending]:
        async with self._database.upkeep() as connection:
            rows = await (await connection.execute(_MONTH)).fetchall()
        return {row["id"]: _month(row) for row in rows}


def billing(bill: Bill) -> list[Statement]:
    """What keeps a bill, to be sent with the transaction that the work ends in; nothing where there is nothing."""
    if not bill.spent and bill.reservation_id is None:
        return []
    values: dict[str, Any] = {
        "bot": bill.bot_id,
        "spender": bill.conversation_id,
        "message": bill.message_id,
        "knowledge_base": bill.knowledge_base_id,
        "reservation": bill.reservation_id,
        "ids": [each.id for each in bill.spent],
        "kinds": [each.kind.value for each in bill.spent],
        "models": [each.model for each in bill.spent],
        "calls": [each.calls for each in bill.spent],
        "inputs": [each.input_tokens for each in bill.spent],
        "outputs": [each.output_tokens for each in bill.spent],
        "totals": [each.total_tokens for each in bill.spent],
        "costs": [each.cost for each in bill.spent],
        "unpriced": [each.unpriced_calls for each in bill.spent],
        "estimated": [each.estimated_calls for each in bill.spent],
    }
    return [(_BILL, values)]


def _where(wanted: UsageFilter) -> tuple[str, dict[str, Any]]:
    """Whole days of UTC, as a range of the index."""
    values: dict[str, Any] = {"first": wanted.first, "last": wanted.last}
    conditions = [
        "organisation_id = %(organisation)s",
        "made_at >= %(first)s::date::timestamp AT TIME ZONE 'UTC'",
        "made_at < (%(last)s::date + 1)::timestamp AT TIME ZONE 'UTC'",
    ]
    for name, condition in _FILTERS.items():
        if getattr(wanted, name) is not None:
            conditions.append(condition)
            values[name] = getattr(wanted, name)
    return f"WHERE {' AND '.join(conditions)}", values


def _group(row: DictRow, by: Sequence[Grouping]) -> UsageGroup:
    key = {each: row.pop(f"key_{each.name.lower()}") for each in by}
    return UsageGroup(key=key, totals=totals_of(**row))


def _only(rows: Sequence[DictRow], organisation_id: UUID) -> DictRow:
    if not rows:
        raise NotFound("organisation", organisation_id)
    return rows[0]


def _month(row: DictRow) -> MonthSpending:
    first, ends_at = month_of(datetime.now(UTC))
    return MonthSpending(
        month=first,
        spent=row["spent"] or Decimal(0),
        reserved=row["reserved"] or Decimal(0),
        unpriced_calls=int(row["unpriced_calls"] or 0),
        budget=row["budget"],
        ends_at=ends_at,
    )
