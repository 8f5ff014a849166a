"""Staging that spares the disk what is quicker made again than written.

A short document is through in a second: writing and reading its dozen products would cost it a part of that. So what
a run makes in its first seconds stays in memory, and goes to the disk only where the run takes longer. A crash costs
a document these seconds, and no more.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

from stores.protocols.staging import Staging

#: Seconds of work that a crash may cost a document.
PATIENCE = 2.0
#: Bytes of a run's products that are kept in memory at most.
KEPT_BYTES = 4 * 2**20


@dataclass(slots=True)
class _Run:
    """`looked`: the disk was asked already and held nothing. `spilt`: the products are on the disk."""

    began: float
    looked: bool = False
    spilt: bool = False
    products: dict[str, bytes] = field(default_factory=dict)


class RecentStaging:
    """`Staging` in memory for the first seconds of a run, and `staging` from then on."""

    def __init__(
        self, staging: Staging, *, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._staging = staging
        self._patience = patience
        self._clock = clock
        self._runs: dict[tuple[UUID, int], _Run] = {}

    async def read(self, document_id: UUID, revision: int, name: str) -> bytes | None:
        run = self._run(document_id, revision)
        if name in run.products:
            return run.products[name]
        if run.looked and not run.spilt:
            return None
        found = await self._staging.read(document_id, revision, name)
        # Steps make their products in order: where the first is missing, the others would be made again as well.
        run.looked = True
        run.spilt = run.spilt or found is not None
        return found

    async def write(self, document_id: UUID, revision: int, name: str, data: bytes, *, at_once: bool = False) -> None:
        run = self._run(document_id, revision)
        run.products[name] = data
        size = sum(map(len, run.products.values()))
        if at_once or run.spilt or size > KEPT_BYTES or self._clock() - run.began >= self._patience:
            await self._spill(document_id, revision, run)

    async def clear(self, document_id: UUID, *, through: int | None = None) -> None:
        for place in [place for place in self._runs if place[0] == document_id]:
            if through is None or place[1] <= through:
                del self._runs[place]
        if through is None or through > 0:
            await self._staging.clear(document_id, through=through)

    async def prune(self, unused_for: timedelta) -> int:
        """Also brings to the disk what a run that was put off has left in memory: another process may go on with it."""
        pruned = 0
        for place, run in list(self._runs.items()):
            age = self._clock() - run.began
            if age >= unused_for.total_seconds():
                del self._runs[place]
                pruned += not run.spilt
            elif age >= self._patience:
                # Remembered as one that lies on the disk: a run that goes on here must go on looking there.
                await self._spill(*place, run)
        return pruned + await self._staging.prune(unused_for)

    def _run(self, document_id: UUID, revision: int) -> _Run:
        return self._runs.setdefault((document_id, revision), _Run(self._clock()))

    async def _spill(self, document_id: UUID, revision: int, run: _Run) -> None:
        run.spilt = True
        while run.products:
            name, data = next(iter(run.products.items()))
            await self._staging.write(document_id, revision, name, data)
            if run.products.get(name) is data:
                del run.products[name]
