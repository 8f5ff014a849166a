"""Working on the queue of documents: procrastinate's worker on the pool of the stores, with one connection of its own.

That connection is the worker's life. It hears of new tasks, and it holds an advisory lock under the worker's id: when
the process dies, PostgreSQL lets go of the lock and everybody can see at once that the tasks are nobody's.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import procrastinate
import psycopg
from procrastinate import exceptions, jobs, manager, retry, worker
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row

from stores.postgres.database import Connection, Database, translated
from stores.postgres.queue import PRESENCE, QUEUE, TASK, enqueue_unattended, release_orphans
from stores.protocols.queue import IngestTask, Perform
from tributary.domain.errors import DependencyUnavailable, TributaryError
from tributary.telemetry.redaction import words_of

logger = logging.getLogger(__name__)

_REGISTER = f"""
SELECT worker_id, pg_advisory_lock({PRESENCE}, worker_id::integer) FROM procrastinate_register_worker_v1()
"""
#: Pruning is left to `release_orphans`, which counts a death before it forgets the dead.
_NEVER = 10.0 * 365 * 86_400
_LONGEST_DELAY = 300.0


class PostgresIngestConsumer:
    """`IngestConsumer` on PostgreSQL.

    Seconds: `grace` for the tasks at work when it ends, `heartbeat` between two signs of life, `silence` after which a
    worker without any counts as dead, `poll` between two looks for tasks that nobody told of (retries, mostly).
    """

    def __init__(
        self,
        database: Database,
        *,
        grace: float = 5.0,
        heartbeat: float = 10.0,
        silence: float = 60.0,
        poll: float = 5.0,
    ) -> None:
        self._database = database
        self._grace = grace
        self._heartbeat = heartbeat
        self._silence = silence
        self._poll = poll

    async def recover(self) -> int:
        released = await release_orphans(self._database, silence=self._silence)
        queued = await enqueue_unattended(self._database)
        if released or queued:
            logger.warning("%d tasks of dead workers and %d documents without one were queued", released, queued)
        return released + queued

    async def run(self, perform: Perform, *, concurrency: int) -> None:
        # It tells of every task at INFO, which is ours to do.
        logging.getLogger("procrastinate").setLevel(logging.WARNING)
        with translated():
            async with _life(self._database) as life:
                running = await self._worker(perform, life, concurrency)
                try:
                    await running.run()  # type: ignore[no-untyped-call] # of procrastinate
                except exceptions.ConnectorException as error:
                    raise DependencyUnavailable("The queue of documents can't be reached") from error
        raise DependencyUnavailable("The connection to the queue of documents was lost")

    async def _worker(self, perform: Perform, life: Connection, concurrency: int) -> worker.Worker:
        connector = procrastinate.PsycopgConnector()
        # It sets the rows of each cursor itself, whatever the pool's.
        await connector.open_async(pool=self._database.pool)  # type: ignore[arg-type]
        app = procrastinate.App(connector=connector)
        app.job_manager = tasks = _Tasks(connector, life)

        @app.task(name=TASK, queue=QUEUE, pass_context=True, retry=_Retry())
        async def ingest(context: procrastinate.JobContext, /, **arguments: Any) -> None:
            task = _task(context.job, arguments)
            delay = await perform(task) if task else None
            if delay is not None:
                raise _Later(delay)

        made = worker.Worker(
            app,
            queues=[QUEUE],
            concurrency=concurrency,
            install_signal_handlers=False,
            delete_jobs="always",
            shutdown_graceful_timeout=self._grace,
            fetch_job_polling_interval=self._poll,
            abort_job_polling_interval=_NEVER,
            update_heartbeat_interval=self._heartbeat,
            stalled_worker_timeout=_NEVER,
        )
        tasks.on_loss = made.stop
        return made


def _task(job: jobs.Job, arguments: dict[str, Any]) -> IngestTask | None:
    try:
        return IngestTask(
            organisation_id=UUID(arguments["organisation_id"]),
            knowledge_base_id=UUID(arguments["knowledge_base_id"]),
            document_id=UUID(arguments["document_id"]),
            revision=int(arguments["revision"]),
            attempts=job.attempts,
            deaths=int(arguments["deaths"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        logger.exception("task %s is malformed and is dropped", job.id)
        return None


@asynccontextmanager
async def _life(database: Database) -> AsyncIterator[Connection]:
    options = {"options": f"-c role={database.role}"} if database.role else {}
    # The network may die in silence: then this end notices within a minute, and the heartbeat tells the others.
    keepalives = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    dsn = make_conninfo(database.dsn, application_name="tributary worker", **options, **keepalives)
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True, row_factory=dict_row) as connection:
        yield connection


class _Later(Exception):
    """The task wants to be tried again after `delay` seconds."""

    def __init__(self, delay: float) -> None:
        super().__init__(f"again in {delay:.0f} s")
        self.delay = delay


class _Retry(retry.BaseRetryStrategy):
    """No task leaves the queue unsettled; `perform` is who gives one up."""

    def get_retry_decision(self, *, exception: BaseException, job: jobs.Job) -> retry.RetryDecision:
        if isinstance(exception, asyncio.CancelledError):
            return retry.RetryDecision(retry_at=datetime.now(UTC))
        if isinstance(exception, _Later):
            delay = exception.delay
        else:
            delay = min(_LONGEST_DELAY, 2.0 ** min(job.attempts, 16))
            known = isinstance(exception, TributaryError)
            words = words_of(exception)
            logger.error("task %s ended unsettled: %s", job.id, words, exc_info=None if known else exception)
        return retry.RetryDecision(retry_in={"milliseconds": round(delay * 1000)})


class _Tasks(manager.JobManager):
    """procrastinate's access to its tables, bound to the connection that the worker lives on. `on_loss` ends the
    worker: left to itself it would not notice that it is cut off."""

    def __init__(self, connector: procrastinate.PsycopgConnector, life: Connection) -> None:
        super().__init__(connector)
        self._life = life
        self.on_loss: Callable[[], None] = lambda: None

    async def register_worker(self) -> int:
        """The worker's row can't be seen before its lock is held."""
        row = await (await self._life.execute(_REGISTER)).fetchone()
        assert row is not None
        return int(row["worker_id"])

    async def listen_for_jobs(
        self, *, on_notification: manager.NotificationCallback, queues: Iterable[str] | None = None
    ) -> None:
        try:
            for channel in manager.get_channel_for_queues(queues=queues):
                await self._life.execute(psycopg.sql.SQL("LISTEN {}").format(psycopg.sql.Identifier(channel)))
            async for told in self._life.notifies():
                await on_notification(channel=told.channel, notification=json.loads(told.payload))
        except psycopg.OperationalError:
            logger.warning("the worker's connection was lost")
            self.on_loss()

    async def update_heartbeat(self, worker_id: int) -> None:
        try:
            await super().update_heartbeat(worker_id)
        except exceptions.ConnectorException:
            logger.warning("a worker could not give a sign of life")

    async def finish_job(self, job: jobs.Job, status: jobs.Status, delete_job: bool) -> None:
        with self._telling():
            await super().finish_job(job, status, delete_job)

    async def retry_job(
        self,
        job: jobs.Job,
        retry_at: datetime | None = None,
        priority: int | None = None,
        queue: str | None = None,
        lock: str | None = None,
    ) -> None:
        with self._telling():
            try:
                await super().retry_job(job, retry_at, priority, queue, lock)
            except exceptions.UniqueViolation:  # the same revision waits already
                await super().finish_job(job, jobs.Status.FAILED, delete_job=True)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """What becomes of a task may not reach PostgreSQL. Then the worker ends, so that the task is nobody's and
        `recover` finds it."""
        try:
            yield
        except exceptions.ConnectorException:
            logger.warning("the outcome of a task could not be stored")
            self.on_loss()
