"""Metering of work that calls models, against the budget of who it is done for."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from decimal import Decimal
from uuid import UUID
from weakref import WeakValueDictionary

from stores.protocols.usage import UsageLedger
from tributary.domain.usage import Bill, UsageKind
from tributary.models.metering import Meter, is_local, metered
from tributary.models.pricing import Prices

#: Tokens that an answer is expected to have, when a turn is reserved for.
ANSWER_TOKENS = 1_000


class Spending:
    """`learn` reads up on a model's price where it must be asked for."""

    def __init__(self, *, ledger: UsageLedger, prices: Prices, learn: Callable[[str], Awaitable[object]]) -> None:
        self._ledger = ledger
        self._prices = prices
        self._learn = learn
        self._ingesting: WeakValueDictionary[tuple[UUID, UUID], Meter] = WeakValueDictionary()

    async def reserve(
        self, organisation_id: UUID, turn_id: UUID, *, model: str, embeddings: Sequence[str], tokens: int
    ) -> None:
        """See `TurnBudget`. What runs on this machine alone costs nothing and is never refused."""
        if all(is_local(name) for name in (model, *embeddings)):
            return
        await self._learn(model)
        price = self._prices.of(model)
        amount = price.cost(tokens, ANSWER_TOKENS) if price else Decimal(0)
        await self._ledger.reserve(organisation_id, turn_id, amount)

    def estimate(self, model: str, read: int, written: int) -> Decimal | None:
        """US dollars for so many tokens; None where nobody knows the price."""
        price = self._prices.of(model)
        return price.cost(read, written) if price else None

    def turn_meter(self) -> Meter:
        """For a turn, which has reserved what it spends and leaves its bill with its answer."""
        return Meter(self._prices.cost)

    @asynccontextmanager
    async def searching(self, organisation_id: UUID, knowledge_base_id: UUID, embedding: str) -> AsyncIterator[None]:
        """A search from outside a chat. The budget is asked once, before it: what a question costs is next to nothing,
        and its embedding may be shared with others who ask the same.

        Raises:
            BudgetExceeded: before anything was asked of a remote model.
        """
        if is_local(embedding):
            yield
            return
        await self._ledger.check(organisation_id)
        async with self._metered(organisation_id, knowledge_base_id, Meter(self._prices.cost)):
            yield

    @asynccontextmanager
    async def ingesting(self, organisation_id: UUID, knowledge_base_id: UUID) -> AsyncIterator[None]:
        """Work that may take hours. Before each call the budget is asked anew, and what was spent since the last one
        is recorded: a process that dies loses the count of one call.

        Raises:
            BudgetExceeded: by a call in it.
        """

        owner = organisation_id, knowledge_base_id
        # One for all documents of a knowledge base that are ingested at the same time, since they share calls.
        meter = self._ingesting.get(owner)
        if meter is None:
            meter = self._ingesting[owner] = self._ingestion_meter(organisation_id, knowledge_base_id)
        async with self._metered(organisation_id, knowledge_base_id, meter):
            yield

    def _ingestion_meter(self, organisation_id: UUID, knowledge_base_id: UUID) -> Meter:
        async def gate(meter: Meter) -> None:
            await self._record(organisation_id, knowledge_base_id, meter)
            await self._ledger.check(organisation_id)

        owner = organisation_id, knowledge_base_id
        return Meter(self._prices.cost, answers=UsageKind.INGEST, owner=owner, gate=gate)

    @asynccontextmanager
    async def _metered(self, organisation_id: UUID, knowledge_base_id: UUID, meter: Meter) -> AsyncIterator[None]:
        try:
            with metered(meter):
                yield
        finally:
            await asyncio.shield(self._record(organisation_id, knowledge_base_id, meter))

    async def _record(self, organisation_id: UUID, knowledge_base_id: UUID, meter: Meter) -> None:
        spent = meter.take()
        if any(not is_local(each.model) for each in spent):
            await self._ledger.record(organisation_id, Bill(spent, knowledge_base_id=knowledge_base_id))
