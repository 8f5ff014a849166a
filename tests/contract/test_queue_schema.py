"""procrastinate's tables follow the library that is installed."""

from pathlib import Path

import psycopg
import pytest

from stores.postgres.database import Database
from stores.postgres.migrations import queue_schema


def test_what_a_newer_library_brings_is_applied_once_and_granted(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = tmp_path / "99.00.00_01_pre_something.sql"
    newer.write_text("CREATE TABLE procrastinate_something (per_cent text DEFAULT '100%');")
    older = tmp_path / "00.00.00_01_initial.sql"
    older.write_text("CREATE TABLE procrastinate_jobs ();")
    monkeypatch.setattr(queue_schema, "_migrations", lambda: [older, newer])
    with psycopg.connect(dsn, autocommit=True) as connection:
        queue_schema.upgrade(connection)
        queue_schema.upgrade(connection)
        rows = connection.execute(
            "SELECT has_table_privilege('tributary_app', 'procrastinate_something', 'INSERT'), last_migration "
            "FROM queue_schema"
        ).fetchall()
    assert rows == [(True, newer.name)]


def test_the_library_that_is_installed_brings_nothing_new(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        queue_schema.upgrade(connection)
        rows = connection.execute("SELECT last_migration FROM queue_schema").fetchall()
    assert rows == [(queue_schema._migrations()[-1].name,)]


async def test_the_serving_role_may_use_the_queue_and_not_its_bookkeeping(database: Database) -> None:
    async with database.pool.connection() as connection:
        row = await (
            await connection.execute(
                """
                SELECT has_table_privilege(current_user, 'procrastinate_jobs', 'DELETE') AS jobs,
                       has_sequence_privilege(current_user, 'procrastinate_jobs_id_seq', 'USAGE') AS ids,
                       has_function_privilege(current_user, 'unattended_documents()', 'EXECUTE') AS unattended,
                       has_type_privilege(current_user, 'procrastinate_job_to_defer_v1', 'USAGE') AS jobs_to_defer,
                       has_table_privilege(current_user, 'queue_schema', 'UPDATE') AS bookkeeping
                """
            )
        ).fetchone()
    assert row == {"jobs": True, "ids": True, "unattended": True, "jobs_to_defer": True, "bookkeeping": False}
