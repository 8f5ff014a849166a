"""Repeatable requests in memory."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from stores.memory.tables import MemoryTables, RequestRow
from stores.protocols.idempotency import KEPT, Stored
from stores.repeats import LEASE, WAIT, Found, first_or_result
from stores.requirements import require_request_key
from stores.texts import storable
from tributary.domain.ids import new_id


class MemoryIdempotency:
    """`IdempotencyStore` in memory."""

    def __init__(self, tables: MemoryTables, *, wait: float = WAIT, lease: timedelta = LEASE) -> None:
        self._tables = tables
        self._wait = wait
        self._lease = lease
        self.owner = new_id()

    async def begin(self, organisation_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
        require_request_key(key)
        self._tables.organisation(organisation_id)

        async def attempt() -> Found | bool | None:
            row = self._tables.requests.get((organisation_id, key))
            if row is not None and not self._dead(row, fingerprint):
                return Found(row.fingerprint, row.stored)
            self._tables.requests[organisation_id, key] = RequestRow(fingerprint, self.owner, self._tables.clock())
            return True

        return await first_or_result(attempt, fingerprint, wait=self._wait)

    async def complete(self, organisation_id: UUID, key: str, status: int, body: dict[str, Any]) -> None:
        row = self._own(organisation_id, key)
        if row is not None:
            row.stored = Stored(status, storable(body))

    async def abandon(self, organisation_id: UUID, key: str) -> None:
        if self._own(organisation_id, key) is not None:
            del self._tables.requests[organisation_id, key]

    async def purge(self, organisation_id: UUID, *, older_than: timedelta = KEPT) -> int:
        before = self._tables.clock() - older_than
        old = [each for each, row in self._tables.requests.items() if each[0] == organisation_id and row.begun < before]
        for each in old:
            del self._tables.requests[each]
        return len(old)

    def _dead(self, row: RequestRow, fingerprint: bytes) -> bool:
        """Whether this request may be taken over by one of the same fingerprint."""
        dead = row.owner in self._tables.dead or row.begun <= self._tables.clock() - self._lease
        return row.stored is None and row.fingerprint == fingerprint and dead

    def _own(self, organisation_id: UUID, key: str) -> RequestRow | None:
        row = self._tables.requests.get((organisation_id, key))
        return row if row is not None and row.owner == self.owner and row.stored is None else None
