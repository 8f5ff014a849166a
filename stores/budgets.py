"""Whether an organisation's budget lets more work begin."""

from datetime import UTC, date, datetime

from tributary.domain.errors import BudgetExceeded
from tributary.domain.usage import MonthSpending

#: About as long as a turn runs: what a caller waits for who is refused for the sake of running ones.
TURN_SECONDS = 30.0


def month_of(moment: datetime) -> tuple[date, datetime]:
    """The first day of the moment's month in UTC, and when that month ends."""
    first = moment.astimezone(UTC).date().replace(day=1)
    year, month = (first.year + 1, 1) if first.month == 12 else (first.year, first.month + 1)
    return first, datetime(year, month, 1, tzinfo=UTC)


def require_budget(month: MonthSpending, now: datetime) -> None:
    """Raises `BudgetExceeded` when the month's budget is used up. What is spent is so until the month ends; what
    running turns have only reserved is free again when they end, as far as they didn't spend it."""
    if not month.used_up or month.budget is None:
        return
    spent = month.spent >= month.budget
    raise BudgetExceeded(
        f"The organisation's budget of ${month.budget:.2f} for {month.month:%B %Y} is "
        f"{'used up' if spent else 'reserved by running turns'}: "
        f"${month.spent:.2f} are spent and ${month.reserved:.2f} reserved by running turns",
        retry_after=(month.ends_at - now).total_seconds() if spent else TURN_SECONDS,
    )
