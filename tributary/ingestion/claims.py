"""Documents that people ingest step by step, beside the workers: a lease on each, held in the workers' own queue.

A claim is a new revision of the document whose task waits for later. Each step puts the task off again. A run that is
given up, or whose process dies, lets it come due: then a worker does the work, and no document waits for ever.
"""

import time
from contextlib import AbstractAsyncContextManager
from uuid import UUID

from nodes.ingest.state import Place
from stores.protocols.knowledge import KnowledgeReader, KnowledgeWriter
from stores.protocols.queue import IngestQueue
from stores.protocols.staging import Staging
from tributary.domain.errors import Conflict, NotFound, TributaryError
from tributary.domain.knowledge import DocumentStatus, Stage
from tributary.ingestion.departures import Departures
from tributary.ingestion.progress import ProgressReports
from tributary.ingestion.worker import Metering

#: Seconds that a run may stand still before workers go on with its document.
LEASE = 1800.0
#: Seconds between two renewals within one step.
_RENEWAL = 60.0


class WorkerClaims:
    """`Claims` and `Progress` of such runs."""

    def __init__(
        self,
        *,
        knowledge: KnowledgeReader,
        writer: KnowledgeWriter,
        queue: IngestQueue,
        staging: Staging,
        departures: Departures,
        progress: ProgressReports,
        metered: Metering,
        lease: float = LEASE,
    ) -> None:
        self._knowledge = knowledge
        self._writer = writer
        self._queue = queue
        self._staging = staging
        self._departures = departures
        self._progress = progress
        self._metered = metered
        self._lease = lease
        self._renewed: dict[tuple[UUID, int], float] = {}

    async def take(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> int:
        document, _ = await self._writer.renew_document(
            organisation_id, knowledge_base_id, document_id, replacement=None
        )
        revision = document.revision
        await self._queue.enqueue(organisation_id, knowledge_base_id, document_id, revision, delay=self._lease)
        # Upkeep may have found the revision without a task, and a worker may have taken it, in this very moment.
        if not await self._queue.postpone(organisation_id, document_id, revision, delay=self._lease):
            raise Conflict(f"A worker has just begun with document {document_id}; follow it, or run this again")
        await self._departures.revision(document_id, revision - 1)
        return revision

    async def __call__(self, place: Place, stage: Stage, *, within: float = 0.0) -> bool:
        """False too where the lease has ended, and workers have the document."""
        if not await self._keep(place, at_once=within == 0.0):
            return False
        alive = await self._progress(place, stage, within=within)
        if alive and stage is Stage.READY:
            await self._let_go(place)
        return alive

    async def fail(self, place: Place, error: TributaryError) -> None:
        try:
            document = await self._knowledge.document(place.organisation_id, place.knowledge_base_id, place.document_id)
        except NotFound:
            return
        told = {"code": error.code, "detail": error.detail}
        status, stage = DocumentStatus.FAILED, document.stage
        await self._progress.tell(place, status=status, stage=stage, progress=document.progress, error=told)
        await self._let_go(place)

    def metered(self, organisation_id: UUID, knowledge_base_id: UUID, /) -> AbstractAsyncContextManager[None]:
        return self._metered(organisation_id, knowledge_base_id)

    async def _keep(self, place: Place, *, at_once: bool) -> bool:
        run, now = (place.document_id, place.revision), time.monotonic()
        if not at_once and now - self._renewed.get(run, 0.0) < _RENEWAL:
            return True
        held = await self._queue.postpone(place.organisation_id, place.document_id, place.revision, delay=self._lease)
        if held:
            self._renewed[run] = now
        else:
            self._renewed.pop(run, None)
        return held

    async def _let_go(self, place: Place) -> None:
        self._renewed.pop((place.document_id, place.revision), None)
        await self._queue.withdraw(place.organisation_id, place.document_id, place.revision)
        await self._staging.clear(place.document_id, through=place.revision)
