"""Bringing a database to this version's schema, from any number of processes at once."""

import asyncio
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psycopg
from psycopg.rows import tuple_row

from stores.postgres.database import translated
from stores.postgres.roles import SERVING_ROLE
from tributary.domain.errors import Conflict, DependencyUnavailable

VERSIONS = Path(__file__).parent / "migrations" / "versions"
MINIMUM_SERVER = 150000
MINIMUM_PGVECTOR = (0, 8)
#: One lock for schema changes of any kind; the number is arbitrary and ours.
MIGRATION_LOCK = 7_301_977
#: Seconds to wait for another process that migrates.
MIGRATION_WAIT = 600


@dataclass(frozen=True, slots=True)
class Access:
    """How to serve: the role to take on after login, or None when the one that logs in is fit to serve."""

    role: str | None


async def migrate(admin_dsn: str, serving_dsn: str) -> Access:
    """Brings the schema to the newest revision and says how to serve.

    The statements run as `admin_dsn`; the role of `serving_dsn` gets the rights to serve.

    Raises:
        DependencyUnavailable: no connection, or a server or pgvector that is too old.
        Conflict: the database was written by a newer version.
    """
    await asyncio.to_thread(_migrate, admin_dsn)
    return await asyncio.to_thread(_serving_access, admin_dsn, serving_dsn)


def head() -> str:
    """The newest revision of this version. Revisions are named so that they sort."""
    return max(_revisions())


def require_known(revision: str) -> None:
    """Raises `Conflict` when `revision` is none of this version's."""
    if revision not in _revisions():
        raise Conflict(
            f"The database has schema {revision}, made by a newer version; this one knows {head()}. "
            "Upgrade Tributary, or restore an older backup."
        )


@cache
def _revisions() -> frozenset[str]:
    """Read once, in the thread that migrates: later nobody waits for the disk."""
    return frozenset(path.stem.split("_")[0] for path in VERSIONS.glob("r*.py"))


def _migrate(dsn: str) -> None:
    with translated(), psycopg.connect(dsn, autocommit=True, row_factory=tuple_row) as connection:
        _require_versions(connection)
        _wait_for_lock(connection)
        try:
            current = _current(connection)
            if current is not None:
                require_known(current)
            if current != head():
                _upgrade(dsn)
            _setup_libraries(dsn)
        finally:
            connection.execute("SELECT pg_advisory_unlock(%s)", (MIGRATION_LOCK,))


def _wait_for_lock(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Waits for processes that migrate at the same moment; whoever comes after them finds the work done.

    By trying, not by waiting inside PostgreSQL: the checkpointer builds its indexes concurrently, which waits for
    every running statement, and a statement that waits for this lock would be one of them.
    """
    deadline = time.monotonic() + MIGRATION_WAIT
    while True:
        row = connection.execute("SELECT pg_try_advisory_lock(%s)", (MIGRATION_LOCK,)).fetchone()
        if row == (True,):
            return
        if time.monotonic() > deadline:
            raise DependencyUnavailable("Another process has been migrating the database for too long")
        time.sleep(0.1)


def _require_versions(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    if connection.info.server_version < MINIMUM_SERVER:
        raise DependencyUnavailable("PostgreSQL 15 or later is needed")
    row = connection.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    version = tuple(int(part) for part in str(row[0]).split(".")[:2]) if row else (0, 0)
    if version < MINIMUM_PGVECTOR:
        raise DependencyUnavailable("PostgreSQL needs the extension pgvector 0.8 or later")


def _current(connection: psycopg.Connection[tuple[object, ...]]) -> str | None:
    row = connection.execute("SELECT to_regclass('alembic_version') IS NOT NULL").fetchone()
    assert row is not None
    if not row[0]:
        return None
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(row[0]) if row else None


def _upgrade(dsn: str) -> None:
    # Alembic brings SQLAlchemy along: imported only when there is something to migrate.
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine
    from sqlalchemy.pool import NullPool

    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn), poolclass=NullPool)
    config = Config()
    config.set_main_option("script_location", str(VERSIONS.parent))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _setup_libraries(dsn: str) -> None:
    """The tables of the checkpointer and of the queue, which bring their own migrations."""
    from langgraph.checkpoint.postgres import PostgresSaver

    from stores.postgres.migrations import queue_schema

    with PostgresSaver.from_conn_string(dsn) as saver:
        saver.setup()
    with psycopg.connect(dsn, autocommit=True) as connection:
        queue_schema.upgrade(connection)
        connection.execute(
            f"""
            DO $$ BEGIN
                IF EXISTS (SELECT FROM pg_roles WHERE rolname = '{SERVING_ROLE}') THEN
                    GRANT SELECT, INSERT, UPDATE, DELETE
                    ON checkpoints, checkpoint_blobs, checkpoint_writes TO {SERVING_ROLE};
                    GRANT SELECT ON checkpoint_migrations, alembic_version TO {SERVING_ROLE};
                END IF;
            END $$
            """
        )


_FITNESS = """
SELECT rolsuper OR rolbypassrls AS exempt,
       EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s) AS role_exists,
       CASE WHEN EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s)
            THEN pg_has_role(current_user, %(role)s, 'MEMBER') ELSE false END AS member
FROM pg_roles WHERE rolname = current_user
"""


def _serving_access(admin_dsn: str, serving_dsn: str) -> Access:
    with translated(), psycopg.connect(serving_dsn, autocommit=True, row_factory=tuple_row) as serving:
        row = serving.execute(_FITNESS, {"role": SERVING_ROLE}).fetchone()
        assert row is not None
        exempt, role_exists, member = row
        if role_exists and not member:
            with psycopg.connect(admin_dsn, autocommit=True) as admin:
                admin.execute(f'GRANT {SERVING_ROLE} TO "{serving.info.user}"')
            member = True
        if member:
            return Access(role=SERVING_ROLE)
        if exempt:
            raise DependencyUnavailable(
                "The database role is exempt from row-level security and can't take on "
                f"{SERVING_ROLE}: give it that role, or use another one"
            )
        return Access(role=None)
