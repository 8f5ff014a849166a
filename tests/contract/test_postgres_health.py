"""What an operator asks PostgreSQL."""

from uuid import uuid4

import psycopg
import pytest

from stores.postgres.database import Database
from stores.postgres.health import PostgresHealth
from stores.postgres.queue import PostgresIngestQueue
from tributary.domain.errors import DependencyUnavailable


def _as_owner(dsn: str, statement: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(statement)


async def test_a_database_of_this_version_is_fine(database: Database) -> None:
    health = PostgresHealth(database)
    await health.reachable()
    await health.migrated()


async def test_an_older_schema_is_told_and_a_newer_one_is_fine(database: Database, dsn: str) -> None:
    health = PostgresHealth(database)
    _as_owner(dsn, "UPDATE alembic_version SET version_num = 'r0001'")
    with pytest.raises(DependencyUnavailable, match="r0001"):
        await health.migrated()
    _as_owner(dsn, "UPDATE alembic_version SET version_num = 'r9999'")
    await health.migrated()


async def test_without_a_worker_that_lives_documents_wait(database: Database, dsn: str) -> None:
    health = PostgresHealth(database)
    with pytest.raises(DependencyUnavailable, match="No worker"):
        await health.worked()
    _as_owner(dsn, "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '2 minutes')")
    with pytest.raises(DependencyUnavailable, match="No worker"):
        await health.worked()
    _as_owner(dsn, "INSERT INTO procrastinate_workers DEFAULT VALUES")
    await health.worked()


async def test_the_queue_is_counted(database: Database, dsn: str) -> None:
    health, queue = PostgresHealth(database), PostgresIngestQueue(database)
    assert await health.queue_depth() == {"waiting": 0, "working": 0}
    for _ in range(3):
        await queue.enqueue(uuid4(), uuid4(), uuid4(), 1)
    _as_owner(dsn, "UPDATE procrastinate_jobs SET status = 'doing' WHERE id = (SELECT min(id) FROM procrastinate_jobs)")
    assert await health.queue_depth() == {"waiting": 2, "working": 1}


async def test_a_database_that_is_gone_is_a_dependency(database: Database) -> None:
    health = PostgresHealth(database)
    await database.close()
    for check in (health.reachable, health.migrated, health.worked):
        with pytest.raises(DependencyUnavailable):
            await check()
