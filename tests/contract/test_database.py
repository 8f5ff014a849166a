"""The schema and its second lock, on a real PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import psycopg
import pytest

from stores.postgres.database import Connection, Database
from stores.postgres.migrate import head, migrate
from stores.postgres.roles import SERVING_ROLE
from tests.support.postgres import Server
from tributary.domain.errors import Conflict, DependencyUnavailable, InvalidRequest
from tributary.domain.identity import Organisation

INSERT_KB = """
INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension) VALUES (%s, %s, 'kb', 'e', 3)
"""


async def test_a_transaction_sees_only_the_rows_of_its_organisation(
    database: Database, organisation: Organisation, other_organisation: Organisation
) -> None:
    for owner in (organisation, other_organisation):
        async with database.organisation(owner.id) as connection:
            await connection.execute(INSERT_KB, (owner.id, uuid4()))
    async with database.organisation(organisation.id) as connection:
        rows = await (await connection.execute("SELECT organisation_id FROM knowledge_bases")).fetchall()
    assert [row["organisation_id"] for row in rows] == [organisation.id]


async def test_a_row_for_another_organisation_is_refused_by_the_database(
    database: Database, organisation: Organisation, other_organisation: Organisation
) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        async with database.organisation(organisation.id) as connection:
            await connection.execute(INSERT_KB, (other_organisation.id, uuid4()))


async def test_a_pooled_connection_forgets_the_organisation_of_the_last_transaction(
    database: Database, organisation: Organisation
) -> None:
    async with database.organisation(organisation.id) as connection:
        await connection.execute(INSERT_KB, (organisation.id, uuid4()))
    async with database.upkeep() as connection:
        rows = await (await connection.execute("SELECT id FROM knowledge_bases")).fetchall()
    assert rows == []


async def _seen(connection: Connection) -> int:
    return len(await (await connection.execute("SELECT id FROM knowledge_bases")).fetchall())


async def test_a_snapshot_sees_one_state_of_its_organisation(
    database: Database, organisation: Organisation, other_organisation: Organisation
) -> None:
    async with database.organisation(organisation.id) as connection:
        await connection.execute(INSERT_KB, (organisation.id, uuid4()))
    async with database.snapshot(organisation.id) as reading:
        before = await _seen(reading)
        async with database.organisation(organisation.id) as connection:
            await connection.execute(INSERT_KB, (organisation.id, uuid4()))
        assert (before, await _seen(reading)) == (1, 1)
    async with database.snapshot(organisation.id) as reading:
        assert await _seen(reading) == 2
    async with database.snapshot(other_organisation.id) as reading:
        assert await _seen(reading) == 0


async def test_nothing_is_written_in_a_snapshot(database: Database, organisation: Organisation) -> None:
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        async with database.snapshot(organisation.id) as connection:
            await connection.execute(INSERT_KB, (organisation.id, uuid4()))


async def _leave_early(database: Database, organisation: Organisation, way: str, statement: str) -> None:
    async with asyncio.timeout(0.5), getattr(database, way)(organisation.id) as connection:
        if way == "pipelined":
            await connection.execute(INSERT_KB, (organisation.id, uuid4()))
        await (await connection.execute(statement)).fetchall()
        raise ZeroDivisionError


INSIDE = "SELECT coalesce(current_setting('app.organisation', true), '') AS organisation"


async def _inside(database: Database) -> str:
    """The organisation that a caller finds itself in who names none."""
    async with database.upkeep() as connection:
        [row] = await (await connection.execute(INSIDE)).fetchall()
    return str(row["organisation"])


@pytest.fixture
async def narrow(dsn: str) -> AsyncIterator[Database]:
    """A database of one connection, which nobody has had yet."""
    database = Database(dsn, role=SERVING_ROLE, pool_size=1)
    await database.open()
    yield database
    await database.close()


@pytest.mark.parametrize("way", ["pipelined", "snapshot"])
@pytest.mark.parametrize("statement", ["SELECT 1 / 0", "SELECT pg_sleep(60)", "SELECT 1"])
async def test_a_transaction_that_is_left_early_leaves_nothing_to_the_next_one(
    narrow: Database, organisation: Organisation, way: str, statement: str
) -> None:
    """By an error of the server, by a time limit, and by an error of the caller."""
    with pytest.raises((psycopg.errors.DivisionByZero, TimeoutError, ZeroDivisionError)):
        await _leave_early(narrow, organisation, way, statement)
    assert await _inside(narrow) == ""
    async with narrow.snapshot(organisation.id) as again:
        assert await _seen(again) == 0


# So the driver complains of its own way out of a pipeline, which was cut off.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*BasePipeline._exit_gen")
@pytest.mark.parametrize("way", ["organisation", "pipelined", "snapshot", "implicit"])
@pytest.mark.parametrize("ticks", range(4))
async def test_who_is_cancelled_twice_leaves_nothing_to_the_next_one(
    narrow: Database, organisation: Organisation, other_organisation: Organisation, way: str, ticks: int
) -> None:
    begun = asyncio.Event()

    async def held() -> None:
        async with getattr(narrow, way)(organisation.id) as connection:
            statement = "SELECT 1" if way == "snapshot" else f"{INSERT_KB} RETURNING id"
            values = None if way == "snapshot" else (organisation.id, uuid4())
            await (await connection.execute(statement, values)).fetchall()
            begun.set()
            await asyncio.sleep(60)

    task = asyncio.create_task(held())
    await begun.wait()
    await asyncio.sleep(0.1)  # the driver, having had nothing to do for a while, lets others go first
    task.cancel()
    for _ in range(ticks):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    assert await _inside(narrow) == ""
    async with narrow.pipelined(other_organisation.id) as connection:
        await connection.execute(INSERT_KB, (other_organisation.id, uuid4()))
    if way != "implicit":  # it keeps what was sent
        async with narrow.snapshot(organisation.id) as connection:
            assert await _seen(connection) == 0


async def test_every_table_with_an_organisation_is_under_a_forced_policy(database: Database) -> None:
    async with database.upkeep() as connection:
        rows = await (
            await connection.execute(
                """
                SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
                WHERE c.relkind IN ('r', 'p') AND a.attname = 'organisation_id'
                  AND NOT (c.relrowsecurity AND c.relforcerowsecurity)
                """
            )
        ).fetchall()
    assert rows == []


async def test_every_key_leads_with_the_organisation(database: Database) -> None:
    """So that the tables can be distributed by organisation as they are."""
    async with database.upkeep() as connection:
        rows = await (
            await connection.execute(
                """
                SELECT t.relname, i.relname AS index
                FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
                JOIN pg_attribute a ON a.attrelid = t.oid AND a.attname = 'organisation_id'
                WHERE x.indisunique AND x.indkey[0] <> a.attnum
                """
            )
        ).fetchall()
    assert rows == []


async def test_migrating_twice_at_once_leaves_one_schema(postgres: Server) -> None:
    name = f"race_{uuid4().hex}"
    with psycopg.connect(postgres.admin, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    dsn = postgres.dsn(name)
    try:
        await asyncio.gather(*(migrate(dsn, dsn) for _ in range(4)))
        with psycopg.connect(dsn) as connection:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        assert row == (head(),)
    finally:
        postgres.drop(dsn)


async def test_a_database_of_a_newer_version_is_refused(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'r9999'")
    with pytest.raises(Conflict, match="newer version"):
        await migrate(dsn, dsn)


async def test_a_server_that_is_not_there_is_a_dependency_and_not_a_driver_error() -> None:
    with pytest.raises(DependencyUnavailable):
        await migrate("postgresql://127.0.0.1:1/none", "postgresql://127.0.0.1:1/none")


async def test_text_that_postgresql_can_not_store_is_the_callers_error(
    database: Database, organisation: Organisation
) -> None:
    with pytest.raises(InvalidRequest):
        async with database.organisation(organisation.id) as connection:
            await connection.execute(
                "UPDATE organisations SET name = %s WHERE id = %s", ("nul\x00inside", organisation.id)
            )
