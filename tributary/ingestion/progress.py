"""Telling how far a document is: in its row, and to those who follow it."""

import time
from uuid import UUID

from nodes.ingest.progress import share_done
from nodes.ingest.state import Place
from stores.protocols.knowledge import KnowledgeWriter
from stores.protocols.signals import Signals
from tributary.domain.knowledge import DocumentStatus, Stage

PREFIX = "document:"
#: Seconds between two reports of one run. A short document would spend more time on telling than on being read.
PAUSE = 1.0
#: Told whenever they begin: how a run begins and ends.
_ALWAYS = frozenset({Stage.PARSING, Stage.READY})


class ProgressReports:
    """The graph's `Progress`. A report that is left out says that the run may go on; writing asks again."""

    def __init__(self, *, writer: KnowledgeWriter, signals: Signals, pause: float = PAUSE) -> None:
        self._writer = writer
        self._signals = signals
        self._pause = pause
        self._told: dict[tuple[UUID, int], float] = {}

    async def __call__(self, place: Place, stage: Stage, *, within: float = 0.0) -> bool:
        run, now = (place.document_id, place.revision), time.monotonic()
        if stage not in _ALWAYS and now - self._told.get(run, 0.0) < self._pause:
            return True
        ready = stage is Stage.READY
        status = DocumentStatus.READY if ready else DocumentStatus.PROCESSING
        alive = await self.tell(place, status=status, stage=stage, progress=share_done(stage, within))
        if alive and not ready:
            self._told[run] = now
        else:
            self._told.pop(run, None)
        return alive

    async def tell(
        self,
        place: Place,
        *,
        status: DocumentStatus,
        stage: Stage,
        progress: float,
        error: dict[str, str] | None = None,
    ) -> bool:
        """Stores and signals a state; False when the document is gone or has a newer revision."""
        alive = await self._writer.set_progress(
            place.organisation_id,
            place.document_id,
            place.revision,
            status=status,
            stage=stage,
            progress=progress,
            error=error,
        )
        await self._signals.publish(f"{PREFIX}{place.document_id}")
        return alive
