"""One moment of a database as a dump, and a database made from one."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psycopg
from psycopg import sql
from psycopg.errors import UndefinedTable
from psycopg.rows import TupleRow, tuple_row

from stores.postgres.database import translated
from stores.postgres.roles import SERVING_ROLE
from tributary.domain.errors import Conflict, DependencyUnavailable

#: Tables that a backup counts, so that a restore can prove that it has them all.
COUNTED = (
    "organisations",
    "api_keys",
    "bots",
    "conversations",
    "messages",
    "message_attachments",
    "knowledge_bases",
    "documents",
    "chunks",
    "kg_entities",
)
_KEYS = "SELECT storage_key FROM message_attachments UNION ALL SELECT storage_key FROM documents"
_KEYS_AT_A_TIME = 5_000
_KNOWN_TABLES = "SELECT relname FROM pg_class WHERE oid = to_regclass(relname) AND relname = ANY(%s)"
_ROLE = f"""
DO $$ BEGIN CREATE ROLE {SERVING_ROLE} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$
"""
_IS_EMPTY = "SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
#: Seconds that a dump waits for a lock that a migration or a reindexing holds.
_LOCK_WAIT = "60s"
_ERROR_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One moment of the database. Made by `snapshot`, and gone with its block."""

    dsn: str
    tools: Path
    identifier: str
    #: Revision of the schema.
    revision: str
    rows: dict[str, int]
    connection: psycopg.Connection[TupleRow]

    def storage_keys(self) -> Iterator[str]:
        """The keys of all stored files that rows speak of."""
        with translated(), self.connection.cursor("storage_keys") as cursor:
            cursor.itersize = _KEYS_AT_A_TIME
            cursor.execute(_KEYS)
            for (key,) in cursor:
                yield str(key)

    @contextmanager
    def dump(self) -> Iterator[IO[bytes]]:
        """The database of this moment in PostgreSQL's custom format, to be read to its end.

        Raises:
            DependencyUnavailable: at the end of the block, when it is not all of it.
        """
        command = [
            *(str(self.tools / "pg_dump"), "--format=custom", "--compress=gzip:3", "--no-password"),
            *(f"--snapshot={self.identifier}", f"--lock-wait-timeout={_LOCK_WAIT}", f"--dbname={self.dsn}"),
        ]
        with _running(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            yield process.stdout


@contextmanager
def snapshot(dsn: str, tools: Path) -> Iterator[Snapshot]:
    """The database as it is at this moment, for as long as the block lasts. `tools` is the folder of `pg_dump`.

    Raises:
        Conflict: there is no database of ours.
    """
    with translated(), psycopg.connect(dsn, row_factory=tuple_row) as connection:
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        try:
            revision = _one(connection, "SELECT version_num FROM alembic_version")
        except UndefinedTable as error:
            raise Conflict("The database holds nothing of Tributary yet") from error
        identifier = _one(connection, "SELECT pg_export_snapshot()")
        yield Snapshot(dsn, tools, str(identifier), str(revision), count_rows(connection), connection)


def count_rows(connection: psycopg.Connection[TupleRow]) -> dict[str, int]:
    """Rows of the tables that are counted, those that this database has."""
    known = [str(name) for (name,) in connection.execute(_KNOWN_TABLES, (list(COUNTED),))]
    statement = sql.SQL("SELECT count(*) FROM {}")
    counted: dict[str, int] = {}
    for name in sorted(known):
        row = connection.execute(statement.format(sql.Identifier(name))).fetchone()
        assert row is not None
        counted[name] = int(row[0])
    return counted


@contextmanager
def restoring(dsn: str, tools: Path) -> Iterator[IO[bytes]]:
    """A database made from the dump that is written into what this gives, in one transaction.

    Raises:
        Conflict: the database is not empty.
        DependencyUnavailable: at the end of the block, when it was not all taken; then nothing of it is there.
    """
    with translated(), psycopg.connect(dsn, autocommit=True, row_factory=tuple_row) as connection:
        if not _one(connection, _IS_EMPTY):
            raise Conflict("The database is not empty")
        connection.execute(_ROLE)
    command = [
        *(str(tools / "pg_restore"), "--exit-on-error", "--single-transaction", "--no-password"),
        f"--dbname={dsn}",
    ]
    with _running(command, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        yield process.stdin


def finish_restoring(dsn: str, rows: dict[str, int]) -> None:
    """Proves that the database has the rows that were counted, and lets the planner know them.

    Raises:
        Conflict: it has others.
    """
    with translated(), psycopg.connect(dsn, autocommit=True, row_factory=tuple_row) as connection:
        found = count_rows(connection)
        if found != rows:
            raise Conflict(f"The restored database has {found}, the backup says {rows}")
        connection.execute("VACUUM (ANALYZE)")


def _one(connection: psycopg.Connection[TupleRow], statement: str) -> object:
    row = connection.execute(statement.encode()).fetchone()
    return row[0] if row else None


@contextmanager
def _running(
    command: list[str], *, stdin: int | None = None, stdout: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """One of PostgreSQL's programs. It does not outlive the block; a failure of its own counts before one of ours,
    which it mostly is the cause of."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=errors)  # noqa: S603 - ours
        done = False
        try:
            yield process
            if process.stdin is not None:
                process.stdin.close()
            done = True
        except BrokenPipeError:
            done = True  # it ended before us, and says why
        finally:
            if not done:
                process.kill()
            if process.stdin is not None:
                _close(process.stdin)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        if process.returncode != 0:
            raise DependencyUnavailable(f"{Path(command[0]).name} failed: {_last_words(errors)}")


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # what was still to be written is of no use to a process that is gone


def _last_words(errors: IO[bytes]) -> str:
    errors.seek(max(0, errors.seek(0, 2) - _ERROR_BYTES))
    return errors.read().decode(errors="replace").strip() or "it gave no reason"
