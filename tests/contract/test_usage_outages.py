"""PostgreSQL going away under usage and reindexing: an error of ours, whatever was asked."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from decimal import Decimal

import numpy as np
import pytest

from stores.postgres.database import Database
from stores.postgres.reindexing import PostgresReindexing
from stores.postgres.usage import PostgresUsage
from stores.protocols.reindexing import Space
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id
from tributary.domain.usage import Bill, Grouping, UsageFilter

ID = new_id()
EVER = UsageFilter(date(2026, 1, 1), date(2026, 1, 2))

USAGE: dict[str, Callable[[PostgresUsage], Awaitable[object]]] = {
    "record": lambda store: store.record(ID, Bill(reservation_id=ID)),
    "reserve": lambda store: store.reserve(ID, ID, Decimal(1)),
    "check": lambda store: store.check(ID),
    "totals": lambda store: store.totals(ID, EVER),
    "groups": lambda store: store.groups(ID, EVER, [Grouping.DAY], limit=1),
    "month": lambda store: store.month(ID),
    "storage": lambda store: store.storage(ID),
    "months": lambda store: store.months(),
}


async def _hold(store: PostgresReindexing) -> None:
    async with store.hold(ID, ID):
        pass


REINDEXING: dict[str, Callable[[PostgresReindexing], Awaitable[object]]] = {
    "hold": _hold,
    "begin": lambda store: store.begin(ID, ID, Space("a", 1, "b")),
    "chunks_left": lambda store: store.chunks_left(ID, ID),
    "chunks": lambda store: store.chunks(ID, [ID]),
    "document_chunks": lambda store: store.document_chunks(ID, ID),
    "keep_vectors": lambda store: store.keep_vectors(ID, ID, [ID], np.ones((1, 1), np.float32)),
    "documents_left": lambda store: store.documents_left(ID, ID, limit=1),
    "keep_documents": lambda store: store.keep_documents(ID, ID, []),
    "switch": lambda store: store.switch(ID, ID),
    "discard": lambda store: store.discard(ID, ID),
}


@pytest.fixture
async def gone() -> AsyncIterator[Database]:
    """A database that can't be reached."""
    database = Database("postgresql://127.0.0.1:1/none", role=None, pool_size=1)
    yield database
    await database.close()


@pytest.mark.parametrize("ask", USAGE.values(), ids=USAGE.keys())
async def test_usage_without_its_database_says_so(
    gone: Database, ask: Callable[[PostgresUsage], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresUsage(gone))


@pytest.mark.parametrize("ask", REINDEXING.values(), ids=REINDEXING.keys())
async def test_reindexing_without_its_database_says_so(
    gone: Database, ask: Callable[[PostgresReindexing], Awaitable[object]]
) -> None:
    with pytest.raises(DependencyUnavailable):
        await ask(PostgresReindexing(gone))
