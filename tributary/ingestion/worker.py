"""Ingesting documents from the queue, whatever becomes of single documents, of this process, or of the database."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from langgraph.graph.state import CompiledStateGraph

from nodes.chat.state import Context
from nodes.ingest.state import SUPERSEDED, IngestInput, IngestOutput, IngestState, Place
from stores.protocols.graph import GraphWriter
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.queue import IngestConsumer, IngestTask
from stores.protocols.staging import Staging
from tributary.domain.errors import DependencyError, NotFound, QuotaExceeded, TributaryError
from tributary.domain.knowledge import Document, DocumentStatus
from tributary.ingestion.departures import Departures
from tributary.ingestion.progress import ProgressReports
from tributary.ingestion.solitude import Solitude
from tributary.telemetry.redaction import words_of
from tributary.telemetry.work import document_at_work, document_done

logger = logging.getLogger(__name__)

#: Counts what models are called for, for an organisation and a knowledge base.
Metering = Callable[[UUID, UUID], AbstractAsyncContextManager[None]]
IngestGraph = CompiledStateGraph[IngestState, Context, IngestInput, IngestOutput]

#: So often may the process that works on a document die before the document is taken for the cause.
MAX_DEATHS = 3
#: So often is a document tried while a dependency is away: for half an hour, with the delays below.
MAX_ATTEMPTS = 12
FIRST_DELAY = 5.0
LONGEST_DELAY = 300.0
#: Seconds between two looks for what dead processes left behind, and before a lost queue is asked again.
UPKEEP_INTERVAL = 15.0
RECONNECT_PAUSE = 1.0
#: What was staged and not touched for so long belongs to nobody.
STAGING_AGE = timedelta(days=3)


class Worker:
    """Any number of them may run at the same time, in one process or on many machines."""

    def __init__(
        self,
        *,
        graph: IngestGraph,
        consumer: IngestConsumer,
        knowledge: KnowledgeReader,
        facts: GraphWriter,
        progress: ProgressReports,
        departures: Departures,
        staging: Staging,
        concurrency: int,
        metered: Metering = lambda *_: nullcontext(),
    ) -> None:
        self._graph = graph
        self._consumer = consumer
        self._knowledge = knowledge
        self._facts = facts
        self._progress = progress
        self._departures = departures
        self._staging = staging
        self._concurrency = concurrency
        self._solitude = Solitude()
        self._metered = metered

    async def run(self) -> None:
        """Works until it is cancelled. Documents at work may then finish, for as long as the consumer's grace; those
        that don't are left to the next worker."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._upkeep(), name="upkeep of ingestion")
            while True:
                try:
                    await self._consumer.recover()
                    await self._consumer.run(self.perform, concurrency=self._concurrency)
                except DependencyError as error:
                    logger.warning("ingestion waits for a dependency: %s", error.detail)
                await asyncio.sleep(RECONNECT_PAUSE)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[None]:
        """Works for as long as the block runs."""
        task = asyncio.create_task(self.run(), name="ingestion worker")
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _upkeep(self) -> None:
        while True:
            await asyncio.sleep(UPKEEP_INTERVAL)
            try:
                await self._consumer.recover()
                await self._staging.prune(STAGING_AGE)
            except DependencyError as error:
                logger.warning("upkeep of ingestion waits for a dependency: %s", error.detail)

    async def perform(self, task: IngestTask) -> float | None:
        """One try at a document. None when it is settled, else the seconds until the next try."""
        place = Place(task.organisation_id, task.knowledge_base_id, task.document_id, task.revision)
        with document_at_work(task.organisation_id, task.document_id):
            async with self._solitude.enter(alone=task.deaths > 0):
                error = await (self._outcome(task) if task.deaths < MAX_DEATHS else self._verdict(place, task.deaths))
            delay = await self._settle(place, task, error)
            if delay is None:
                await self._staging.clear(task.document_id, through=task.revision)
        if error is not None:
            document_done("failed" if delay is None else "retried")
        return delay

    async def _outcome(self, task: IngestTask) -> BaseException | None:
        """Runs the graph: why it failed, if it did. A task is asked for its exception, so that a bug is told and kept
        with its document instead of ending the worker."""
        run = asyncio.ensure_future(self._ingest(task))
        with self._departures.watched(run, task):
            try:
                await asyncio.wait({run})
            finally:
                if not run.done():
                    run.cancel()
                    await asyncio.wait({run})
        # Where this is reached, nobody but the departures has cancelled it.
        if not run.cancelled() and (error := run.exception()) is not None:
            return error
        ended: Mapping[str, Any] = {"outcome": SUPERSEDED} if run.cancelled() else run.result()
        logger.info("document %s: %s, %d chunks", task.document_id, ended["outcome"], ended.get("chunkCount", 0))
        document_done(ended["outcome"])
        if ended["outcome"] == SUPERSEDED:
            await self._remove_facts(task)
        return None

    async def _remove_facts(self, task: IngestTask) -> None:
        """The graph may live in a store of its own, where what a run wrote does not go with the document's row. While
        that store is away it waits for the upkeep of graphs."""
        key = task.organisation_id, task.knowledge_base_id, task.document_id
        try:
            await self._knowledge.document(*key)
        except NotFound:
            await self._forget(*key)

    async def _forget(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        try:
            await self._facts.remove_document(organisation_id, knowledge_base_id, document_id)
        except DependencyError as error:
            logger.warning("the facts of document %s are removed later: %s", document_id, error.detail)

    async def _ingest(self, task: IngestTask) -> Mapping[str, Any]:
        state = IngestInput(
            knowledgeBaseId=str(task.knowledge_base_id), documentId=str(task.document_id), revision=task.revision
        )
        async with self._metered(task.organisation_id, task.knowledge_base_id):
            return await self._graph.ainvoke(state, context=Context(organisation_id=str(task.organisation_id)))

    async def _verdict(self, place: Place, deaths: int) -> TributaryError | None:
        """Why a document that workers died of is not tried again."""
        document = await self._find(place)
        if document is None:
            return None
        return TributaryError(f"The process that ingested it died {deaths} times, last while {document.stage}.")

    async def _settle(self, place: Place, task: IngestTask, error: BaseException | None) -> float | None:
        """Tells in the document's row what became of it; the seconds until the next try, where there is one."""
        if error is None:
            return None
        if not isinstance(error, TributaryError):
            logger.error("ingestion of document %s failed on a bug", task.document_id, exc_info=error)
            error = TributaryError("The document could not be ingested because of an internal error.")
        again = _may_pass(error) and task.attempts + 1 < MAX_ATTEMPTS
        if not await self._tell(place, DocumentStatus.QUEUED if again else DocumentStatus.FAILED, error) or not again:
            return None
        delay = max(error.retry_after or 0.0, min(LONGEST_DELAY, FIRST_DELAY * 2.0**task.attempts))
        logger.warning("document %s is tried again in %.0f s: %s", task.document_id, delay, words_of(error))
        return delay

    async def _tell(self, place: Place, status: DocumentStatus, error: TributaryError) -> bool:
        """The reason, beside how far the document came. False where there is nobody to tell."""
        document = await self._find(place)
        if document is None:
            return False
        logger.info("document %s is %s: %s", place.document_id, status, error.code)
        return await self._progress.tell(
            place,
            status=status,
            stage=document.stage,
            progress=document.progress,
            error={"code": error.code, "detail": error.detail},
        )

    async def _find(self, place: Place) -> Document | None:
        """The document, unless it is gone, newer, or done."""
        try:
            document = await self._knowledge.document(place.organisation_id, place.knowledge_base_id, place.document_id)
        except NotFound:
            return None
        done = document.revision != place.revision or document.status is DocumentStatus.READY
        return None if done else document


def _may_pass(error: TributaryError) -> bool:
    """Whether trying again is worth it. A limit that says when to come again is waited for if that is soon: a budget
    that running turns have only reserved, but not one that is spent until the month ends."""
    soon = isinstance(error, QuotaExceeded) and error.retry_after is not None and error.retry_after <= LONGEST_DELAY
    return error.transient or soon
