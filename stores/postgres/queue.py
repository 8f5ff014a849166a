"""The queue of documents to ingest, in the tables of procrastinate.

A document's tasks share one lock, so that two of its revisions are never worked on at the same time; a revision waits
at most once. procrastinate's own functions are left aside for putting tasks in: a statement that skips what is there
needs no failed insert, and counts the deaths of workers in the task itself.
"""

from uuid import UUID

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from stores.postgres.database import Connection, Database, translated

QUEUE = "ingest"
TASK = "ingest_document"
#: First key of the advisory lock that a worker holds while it lives; the second is its id.
PRESENCE = 7_301_978

# A task of the same revision that is being worked on would be retried if need be.
_ENQUEUE = f"""
INSERT INTO procrastinate_jobs (queue_name, task_name, lock, queueing_lock, args, scheduled_at)
SELECT '{QUEUE}', '{TASK}', %(lock)s, %(queueing_lock)s, %(args)s,
       CASE WHEN %(delay)s > 0 THEN now() + make_interval(secs => %(delay)s) END
WHERE NOT EXISTS (
    SELECT FROM procrastinate_jobs WHERE lock = %(lock)s AND status = 'doing' AND queueing_lock = %(queueing_lock)s
)
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
"""
_WITHDRAW = "DELETE FROM procrastinate_jobs WHERE queueing_lock = %(queueing_lock)s AND status = 'todo'"
_POSTPONE = """
UPDATE procrastinate_jobs SET scheduled_at = now() + make_interval(secs => %(delay)s)
WHERE queueing_lock = %(queueing_lock)s AND status = 'todo'
"""

# A worker is dead when the connection that it lived on is gone, which PostgreSQL knows at once, or when it has been
# silent for long, as after a power cut that nobody could tell PostgreSQL about.
_DEAD_WORKERS = f"""
SELECT id FROM procrastinate_workers
WHERE last_heartbeat < now() - make_interval(secs => %(silence)s) OR pg_try_advisory_xact_lock({PRESENCE}, id::integer)
"""
# The same revision may wait already: then that is the one to go on with.
_DROP_DUPLICATES = f"""
DELETE FROM procrastinate_jobs j
WHERE j.queue_name = '{QUEUE}' AND j.status = 'doing' AND (j.worker_id IS NULL OR j.worker_id = ANY(%(dead)s))
  AND EXISTS (SELECT FROM procrastinate_jobs t WHERE t.queueing_lock = j.queueing_lock AND t.status = 'todo')
"""
# A worker that left in good order has taken its id off its tasks: that was no death.
_RELEASE = f"""
UPDATE procrastinate_jobs
SET status = 'todo', scheduled_at = NULL, attempts = attempts + 1, abort_requested = false, worker_id = NULL,
    args = CASE WHEN worker_id IS NULL THEN args
                ELSE args || jsonb_build_object('deaths', (args ->> 'deaths')::integer + 1) END
WHERE queue_name = '{QUEUE}' AND status = 'doing' AND (worker_id IS NULL OR worker_id = ANY(%(dead)s))
"""
_BURY = "DELETE FROM procrastinate_workers WHERE id = ANY(%(dead)s)"
# As procrastinate's trigger tells of new tasks.
_WAKE = f"""
SELECT pg_notify('procrastinate_queue_v1#{QUEUE}', '{{"type": "job_inserted", "job_id": 0}}')
"""


class PostgresIngestQueue:
    """`IngestQueue` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enqueue(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, revision: int, *, delay: float = 0.0
    ) -> None:
        with translated():
            async with self._database.pool.connection() as connection, connection.pipeline():
                await _enqueue(connection, organisation_id, knowledge_base_id, document_id, revision, delay)

    async def postpone(self, organisation_id: UUID, document_id: UUID, revision: int, *, delay: float) -> bool:
        values = _locks(organisation_id, document_id, revision) | {"delay": delay}
        with translated():
            async with self._database.pool.connection() as connection:
                return bool((await connection.execute(_POSTPONE, values)).rowcount)

    async def withdraw(self, organisation_id: UUID, document_id: UUID, revision: int) -> None:
        with translated():
            async with self._database.pool.connection() as connection:
                await connection.execute(_WITHDRAW, _locks(organisation_id, document_id, revision))


async def release_orphans(database: Database, *, silence: float) -> int:
    """Gives the tasks of dead workers back to the queue; how many. Workers count as dead after `silence` seconds."""
    with translated():
        async with database.pool.connection() as connection, connection.transaction():
            dead = [row["id"] for row in await _all(connection, _DEAD_WORKERS, {"silence": silence})]
            await connection.execute(_DROP_DUPLICATES, {"dead": dead})
            released = (await connection.execute(_RELEASE, {"dead": dead})).rowcount
            await connection.execute(_BURY, {"dead": dead})
            if released:
                await connection.execute(_WAKE)
    return released


async def enqueue_unattended(database: Database) -> int:
    """Queues the unfinished documents of all organisations that have no task; how many."""
    async with database.upkeep() as connection:
        found = await _all(connection, "SELECT * FROM unattended_documents()", {})
        async with connection.pipeline():
            for row in found:
                await _enqueue(connection, **row)
    return len(found)


async def _enqueue(
    connection: Connection,
    organisation_id: UUID,
    knowledge_base_id: UUID,
    document_id: UUID,
    revision: int,
    delay: float = 0.0,
) -> None:
    if revision > 1:
        await connection.execute(_WITHDRAW, _locks(organisation_id, document_id, revision - 1))
    args = {
        "organisation_id": str(organisation_id),
        "knowledge_base_id": str(knowledge_base_id),
        "document_id": str(document_id),
        "revision": revision,
        "deaths": 0,
    }
    values = _locks(organisation_id, document_id, revision) | {"args": Jsonb(args), "delay": delay}
    await connection.execute(_ENQUEUE, values)


def _locks(organisation_id: UUID, document_id: UUID, revision: int) -> dict[str, object]:
    """`lock`: one at work. `queueing_lock`: one that waits. `unattended_documents()` knows these names."""
    lock = f"document {organisation_id} {document_id}"
    return {"lock": lock, "queueing_lock": f"{lock} {revision}"}


async def _all(connection: Connection, statement: str, parameters: dict[str, object]) -> list[DictRow]:
    return await (await connection.execute(statement, parameters)).fetchall()
