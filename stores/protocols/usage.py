"""What organisations spend on models, and whether their budgets allow more."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Protocol
from uuid import UUID

from tributary.domain.usage import Bill, Grouping, MonthSpending, StorageUse, UsageFilter, UsageGroup, UsageTotals

#: Seconds after which a reservation counts no more: its process died, or no bill ever came.
RESERVED_FOR = 3_600


class UsageLedger(Protocol):
    """Figures without texts. They outlive the conversations, bots and knowledge bases that they tell of."""

    async def record(self, organisation_id: UUID, bill: Bill) -> None:
        """Keeps what was spent, now, and ends the bill's reservation: one transaction. The bill of a turn goes with
        its answer instead (`ConversationStore.finish_turn`)."""
        ...

    async def reserve(self, organisation_id: UUID, reservation_id: UUID, amount: Decimal) -> None:
        """Lets work that costs money begin, `amount` US dollars by estimate, which count as spent until its bill comes
        in. Simultaneous reservations are decided one after the other. Without a budget nothing is kept.

        Raises:
            BudgetExceeded: the month's budget is used up by what was spent and reserved. It says how long to wait.
        """
        ...

    async def check(self, organisation_id: UUID) -> None:
        """Raises `BudgetExceeded` as `reserve` does, and reserves nothing."""
        ...

    async def totals(self, organisation_id: UUID, wanted: UsageFilter) -> UsageTotals: ...

    async def groups(
        self, organisation_id: UUID, wanted: UsageFilter, by: Sequence[Grouping], *, limit: int
    ) -> Sequence[UsageGroup]:
        """In the order of their keys, those without a key last; at most `limit`."""
        ...

    async def month(self, organisation_id: UUID) -> MonthSpending:
        """The running month."""
        ...

    async def storage(self, organisation_id: UUID) -> StorageUse: ...

    async def months(self) -> Mapping[UUID, MonthSpending]:
        """The running month of every organisation. For operators, never for a caller."""
        ...
