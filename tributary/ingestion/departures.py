"""Runs that have nothing left to do, because their document was deleted or replaced: called off where they stand.

The rows decide in the end, and each step asks them. This only spares the minutes that a step may take to its end.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from stores.protocols.queue import IngestTask
from stores.protocols.signals import Signals

_PREFIX = "gone:"


class Departures:
    """Tells every process what is gone, and calls off the runs of this one that work on it."""

    def __init__(self, signals: Signals) -> None:
        self._signals = signals
        self._runs: dict[asyncio.Future[Any], frozenset[str]] = {}
        signals.subscribe(self._heard)

    async def document(self, document_id: UUID) -> None:
        """It was deleted."""
        await self._signals.publish(f"{_PREFIX}{document_id}")

    async def revision(self, document_id: UUID, revision: int) -> None:
        """It is not the document's newest any more."""
        await self._signals.publish(f"{_PREFIX}{document_id}/{revision}")

    async def knowledge_base(self, knowledge_base_id: UUID) -> None:
        """It was deleted with all of its documents."""
        await self._signals.publish(f"{_PREFIX}{knowledge_base_id}")

    @contextmanager
    def watched(self, run: asyncio.Future[Any], task: IngestTask) -> Iterator[None]:
        """Cancels the run as soon as its document, its revision or its knowledge base is gone."""
        self._runs[run] = frozenset(
            (str(task.document_id), f"{task.document_id}/{task.revision}", str(task.knowledge_base_id))
        )
        try:
            yield
        finally:
            del self._runs[run]

    def _heard(self, payload: str) -> None:
        gone = payload.removeprefix(_PREFIX)
        if gone == payload:
            return
        for run, names in self._runs.items():
            if gone in names:
                run.cancel()
