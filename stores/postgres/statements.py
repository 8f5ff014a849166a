"""Statements that need no conversation with the server: one round trip in an organisation's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from stores.postgres.database import Connection, Database

#: A statement that returns rows (some or none), with its parameters. `%(organisation)s` is given to each.
Statement = tuple[str, Mapping[str, Any]]
Rows = list[DictRow]


async def query(database: Database, organisation_id: UUID, statement: str, parameters: Mapping[str, Any]) -> Rows:
    """The rows of one statement."""
    [rows] = await run(database, organisation_id, [(statement, parameters)])
    return rows


async def run(database: Database, organisation_id: UUID, statements: Sequence[Statement]) -> list[Rows]:
    """The rows of each statement. All of them, and the setting that the policies read, travel together: a pipeline
    without an explicit transaction is one transaction to PostgreSQL, which ends with it. Each statement sees what was
    committed before it began, so that a lock taken by one protects the next."""
    async with database.implicit(organisation_id) as connection:
        return await sent(connection, organisation_id, statements)


async def pipelined(connection: Connection, organisation_id: UUID, statements: Sequence[Statement]) -> list[Rows]:
    """The same inside a transaction that the caller has begun, and may still roll back on what the rows say."""
    async with connection.pipeline():
        return await sent(connection, organisation_id, statements)


async def sent(
    connection: Connection, organisation_id: UUID, statements: Sequence[Statement], *, binary: bool = False
) -> list[Rows]:
    """The same inside a pipeline that the caller has begun: it stays as it is, and more may follow. To fetch is to
    wait: all are sent before. `binary`: large values of bytes come as they are."""
    cursors = [
        await connection.execute(statement, {"organisation": organisation_id, **parameters}, binary=binary)
        for statement, parameters in statements
    ]
    return [await cursor.fetchall() for cursor in cursors]
