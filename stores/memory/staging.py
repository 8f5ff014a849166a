"""Staging within one process."""

import time
from datetime import timedelta
from uuid import UUID


class MemoryStaging:
    def __init__(self) -> None:
        self._products: dict[UUID, dict[tuple[int, str], bytes]] = {}
        self._written: dict[UUID, float] = {}

    async def read(self, document_id: UUID, revision: int, name: str) -> bytes | None:
        return self._products.get(document_id, {}).get((revision, name))

    async def write(  # always at once
        self,
        document_id: UUID,
        revision: int,
        name: str,
        data: bytes,
        *,
        at_once: bool = False,  # noqa: ARG002
    ) -> None:
        self._products.setdefault(document_id, {})[revision, name] = data
        self._written[document_id] = time.time()

    async def clear(self, document_id: UUID, *, through: int | None = None) -> None:
        kept = {
            place: data
            for place, data in self._products.pop(document_id, {}).items()
            if through is not None and place[0] > through
        }
        if kept:
            self._products[document_id] = kept

    async def prune(self, unused_for: timedelta) -> int:
        before = time.time() - unused_for.total_seconds()
        unused = [document for document in self._products if self._written[document] < before]
        for document in unused:
            del self._products[document]
        return len(unused)
