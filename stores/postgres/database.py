"""The connection pool, transactions of an organisation, and the one place where driver errors become ours."""

import asyncio
import select
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import LiteralString
from uuid import UUID
from weakref import WeakKeyDictionary

import psycopg
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from tributary.domain.errors import DependencyUnavailable, InvalidRequest
from tributary.telemetry.metrics import DATABASE_SECONDS, timed
from tributary.telemetry.tracing import span

Connection = AsyncConnection[DictRow]
Pool = AsyncConnectionPool[Connection]

#: Says which organisation's rows the policies show, until the transaction ends.
ENTER = "SELECT set_config('app.organisation', %(organisation)s, true)"
#: States of "this text has no form here": the driver's own refusal of NUL has none.
_UNSTORABLE = (None, "22021", "22P05")


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors that say "PostgreSQL can't serve" or "this text can't be stored" as errors of our tree. All
    others are bugs in our statements, and stay what they are."""
    try:
        yield
    except (psycopg.OperationalError, psycopg.InterfaceError, PoolTimeout, PoolClosed) as error:
        raise DependencyUnavailable("PostgreSQL can't be reached") from error
    except (psycopg.DataError, UnicodeEncodeError) as error:
        if isinstance(error, psycopg.DataError) and error.sqlstate not in _UNSTORABLE:
            raise
        raise InvalidRequest("A text holds characters that can't be stored (NUL or half a surrogate pair)") from error


class _Check:
    """Whether a pooled connection still lives, without asking the server each time: one that the server closed has
    something to read, which the system knows. Only after `idle` seconds is the server asked, since a firewall may
    have dropped the connection without a word."""

    def __init__(self, idle: float = 15.0) -> None:
        self._idle = idle
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()

    async def __call__(self, connection: Connection) -> None:
        now = time.monotonic()
        if now - self._used.get(connection, 0.0) > self._idle or _readable(connection):
            await Pool.check_connection(connection)
        self._used[connection] = now


def _readable(connection: Connection) -> bool:
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


async def _configure(connection: Connection) -> None:
    await register_vector_async(connection)


def make_pool(dsn: str, *, role: str | None, size: int, name: str) -> Pool:
    """A pool that is not open yet. Connections are checked when they are handed out, since those that a server or
    a firewall dropped while idle fail only at their first use. `role` is the one to serve as, where it is not the
    one that logs in: a superuser is exempt from row-level security."""
    options = {"options": f"-c role={role}"} if role else {}
    return AsyncConnectionPool(
        make_conninfo(dsn, application_name=name, **options),
        connection_class=AsyncConnection[DictRow],
        kwargs={"autocommit": True, "row_factory": dict_row},
        min_size=1,
        max_size=size,
        timeout=10,
        name=name,
        configure=_configure,
        check=_Check(),
        open=False,
    )


def sizes_of(pool: Pool) -> dict[str, int]:
    """Its connections `in_use` and `idle`, and how many are `waiting` for one."""
    sizes = pool.get_stats()
    idle = sizes.get("pool_available", 0)
    return {"in_use": sizes.get("pool_size", 0) - idle, "idle": idle, "waiting": sizes.get("requests_waiting", 0)}


class Database:
    """Hands out connections inside a transaction that sees one organisation, and no other."""

    def __init__(self, dsn: str, *, role: str | None, pool_size: int = 12, admin_dsn: str | None = None) -> None:
        self.dsn = dsn
        #: Logs in as the tables' owner, where there is such a role.
        self.admin_dsn = admin_dsn or dsn
        self.role = role
        self.pool = make_pool(dsn, role=role, size=pool_size, name="tributary")

    async def open(self) -> None:
        """Raises `DependencyUnavailable` when no connection can be made."""
        with translated():
            await self.pool.open(wait=True, timeout=10)

    async def close(self) -> None:
        await self.pool.close()

    @asynccontextmanager
    async def organisation(self, organisation_id: UUID) -> AsyncIterator[Connection]:
        """A transaction of `organisation_id`: the setting lives as long as the transaction, so that a pooled
        connection never carries it to the next caller."""
        async with self._lent() as connection, AsyncExitStack() as stack:
            # Its beginning and the setting travel together.
            async with connection.pipeline():
                await stack.enter_async_context(connection.transaction())
                await connection.execute(ENTER, {"organisation": str(organisation_id)})
            yield connection

    @asynccontextmanager
    async def pipelined(self, organisation_id: UUID) -> AsyncIterator[Connection]:
        """The same as one pipeline: nothing is waited for until rows are fetched, and an error shows there. A pipeline
        within it would wait at both of its ends, and so would the driver's own transaction. COPY and several statements
        in one text don't go. What fails is rolled back as the connection goes home."""
        async with self._one_pipeline(organisation_id, "BEGIN") as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, organisation_id: UUID) -> AsyncIterator[Connection]:
        """`pipelined` for reading alone: all statements see one and the same state."""
        beginning: LiteralString = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
        async with self._one_pipeline(organisation_id, beginning) as connection:
            yield connection

    @asynccontextmanager
    async def implicit(self, organisation_id: UUID) -> AsyncIterator[Connection]:
        """A pipeline that is one transaction to PostgreSQL, without a beginning and an end that are sent. A pipeline
        within it would end the transaction, and the setting with it. What was sent is kept where the caller fails
        behind it; what the server refuses undoes all, and must go up from here."""
        async with self._pipeline() as connection:
            await connection.execute(ENTER, {"organisation": str(organisation_id)})
            yield connection

    @asynccontextmanager
    async def _one_pipeline(self, organisation_id: UUID, begin: LiteralString) -> AsyncIterator[Connection]:
        async with self._pipeline() as connection:
            await connection.execute(begin)
            await connection.execute(ENTER, {"organisation": str(organisation_id)})
            yield connection
            await connection.execute("COMMIT")

    @asynccontextmanager
    async def _pipeline(self) -> AsyncIterator[Connection]:
        async with self._lent() as connection:
            try:
                async with connection.pipeline():
                    yield connection
            except asyncio.CancelledError:
                # Cancelled again on its way out, a pipeline has not told the server that it ends, and the driver
                # believes that no transaction has begun: the next caller would be inside of it, in this organisation.
                await connection.close()
                raise

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[Connection]:
        with translated(), timed(DATABASE_SECONDS), span("postgresql"):
            async with self.pool.connection() as connection:
                yield connection

    @asynccontextmanager
    async def upkeep(self) -> AsyncIterator[Connection]:
        """A transaction that sees the rows of `organisations`, all of them, and nothing else."""
        with translated():
            async with self.pool.connection() as connection, connection.transaction():
                await connection.execute("SELECT set_config('app.upkeep', 'on', true)")
                yield connection

    async def check(self) -> None:
        """Raises `DependencyUnavailable` when PostgreSQL does not answer."""
        with translated():
            async with self.pool.connection(timeout=2) as connection:
                await connection.execute("SELECT 1")
