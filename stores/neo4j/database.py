"""Sessions on Neo4j, and the one place where its driver's errors become ours."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_random_exponential

from stores.neo4j.schema import create_schema
from tributary.domain.errors import DependencyUnavailable, InvalidRequest

if TYPE_CHECKING:
    from neo4j import AsyncDriver, AsyncManagedTransaction, AsyncSession, Query

T = TypeVar("T")
Row = Mapping[str, Any]

#: Seconds: for a connection, for a free one of the pool, for repeating what failed on a passing condition, and for a
#: transaction that reads or writes. A sick Neo4j must be told from an empty one before anybody tires of waiting.
CONNECT_TIMEOUT = 5.0
POOL_TIMEOUT = 10.0
RETRY_TIME = 1.0
WRITE_RETRY_TIME = 15.0
READ_TIMEOUT = 30.0
WRITE_TIMEOUT = 120.0
#: A socket that was idle for so many seconds is tried before it is used: firewalls forget connections silently.
IDLE = 15.0

_AGAIN: dict[str, Any] = {
    "stop": stop_after_delay(RETRY_TIME),
    "wait": wait_random_exponential(0.05, max=0.5),
    "reraise": True,
}

_ADDRESS = re.compile(r"(bolt|neo4j)(\+s|\+ssc)?://")
_AWAY = "Neo4j can't be reached"
#: What the server says when not the statement is at fault.
_REFUSALS = {
    "Neo.ClientError.Security": "Neo4j refuses the login",
    "Neo.ClientError.Database.DatabaseNotFound": "Neo4j has no database of that name",
    "Neo.ClientError.Transaction": "Neo4j ended a transaction that took too long",
    "Neo.ClientError.General.": "Neo4j can't serve at this moment",
    "Neo.DatabaseError": "Neo4j failed",
}


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors that say "Neo4j can't serve" as errors of our tree; those of our own statements stay."""
    from neo4j.exceptions import DriverError, Neo4jError, TransientError

    try:
        yield
    except (DriverError, OSError, TransientError) as error:
        raise DependencyUnavailable(_AWAY) from error
    except Neo4jError as error:
        for code, detail in _REFUSALS.items():
            if (error.code or "").startswith(code):
                raise DependencyUnavailable(detail) from error
        raise
    except UnicodeEncodeError as error:
        raise InvalidRequest("A text holds characters that can't be stored (half a surrogate pair)") from error


class Neo4jDatabase:
    """One Neo4j database. A driver belongs to the event loop that it was made in, so each loop has its own; the schema
    is made before the first use of each. `patience`: seconds that a write is repeated while Neo4j is away."""

    def __init__(
        self, uri: str, *, username: str, password: str, database: str | None = None, patience: float = WRITE_RETRY_TIME
    ) -> None:
        self._uri = uri
        self._auth = (username, password)
        self._database = database
        self._patience = patience
        self._drivers: dict[asyncio.AbstractEventLoop, AsyncDriver] = {}
        self._ready: set[asyncio.AbstractEventLoop] = set()
        self._preparing: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}

    async def read(self, work: "Callable[[AsyncManagedTransaction], Awaitable[T]]") -> T:
        """What `work` finds in one reading transaction; it may run more than once."""
        with translated():
            async with self._session() as session:
                return await session.execute_read(_limited(work, READ_TIMEOUT))

    async def ask(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        """The rows of a statement that reads, in a transaction that takes no messages of its own."""
        from neo4j import READ_ACCESS, Query

        limited = Query(statement, timeout=READ_TIMEOUT)
        with translated():
            async for attempt in AsyncRetrying(retry=retry_if_exception(_passes), **_AGAIN):
                with attempt:
                    async with self._session(default_access_mode=READ_ACCESS) as session:
                        return await rows(session, limited, **parameters)
        raise AssertionError("the last attempt raises")

    async def write(self, work: "Callable[[AsyncManagedTransaction], Awaitable[T]]") -> T:
        """What `work` returns, with all of what it wrote or nothing; it may run more than once."""
        with translated():
            async with self._session(max_transaction_retry_time=self._patience) as session:
                return await session.execute_write(_limited(work, WRITE_TIMEOUT))

    async def check(self) -> None:
        """Raises `DependencyUnavailable` when Neo4j does not answer."""
        await self.read(_nothing)

    async def close(self) -> None:
        """Closes the drivers of this loop and of loops that still run elsewhere."""
        here = asyncio.get_running_loop()
        for loop, driver in list(self._drivers.items()):
            if loop is here:
                await driver.close()
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(driver.close(), loop))
        self._drivers.clear()
        self._ready.clear()

    @asynccontextmanager
    async def _session(self, **options: Any) -> "AsyncIterator[AsyncSession]":
        loop = asyncio.get_running_loop()
        driver = self._drivers.get(loop)
        if driver is None:
            driver = self._drivers[loop] = self._connect()
        if loop not in self._ready:
            async with self._preparing.setdefault(loop, asyncio.Lock()), driver.session(**self._options()) as session:
                if loop not in self._ready:
                    await create_schema(session)
                    self._ready.add(loop)
        async with driver.session(**self._options(), **options) as session:
            yield session

    def _options(self) -> dict[str, Any]:
        return {"database": self._database} if self._database else {}

    def _connect(self) -> "AsyncDriver":
        # On first use: the driver costs a start that does without Neo4j a tenth of a second.
        from neo4j import AsyncGraphDatabase, NotificationMinimumSeverity
        from neo4j.exceptions import ConfigurationError

        if not _ADDRESS.match(self._uri):
            raise DependencyUnavailable("NEO4J_URI is no address of Neo4j: it begins with bolt:// or neo4j://")
        try:
            return AsyncGraphDatabase.driver(
                self._uri,
                auth=self._auth,
                connection_timeout=CONNECT_TIMEOUT,
                connection_acquisition_timeout=POOL_TIMEOUT,
                max_transaction_retry_time=RETRY_TIME,
                liveness_check_timeout=IDLE,
                max_connection_pool_size=20,
                keep_alive=True,
                # A message to the server more in each transaction.
                telemetry_disabled=True,
                user_agent="tributary",
                notifications_min_severity=NotificationMinimumSeverity.OFF,
            )
        except (ConfigurationError, ValueError) as error:
            raise DependencyUnavailable(f"NEO4J_URI is no address of Neo4j: {error}") from error


def _limited(
    work: "Callable[[AsyncManagedTransaction], Awaitable[T]]", seconds: float
) -> "Callable[[AsyncManagedTransaction], Awaitable[T]]":
    from neo4j import unit_of_work

    limited: Callable[[AsyncManagedTransaction], Awaitable[T]] = unit_of_work(timeout=seconds)(work)
    return limited


def _passes(error: BaseException) -> bool:
    """Whether the driver would repeat a transaction that failed so."""
    from neo4j.exceptions import DriverError, Neo4jError

    return isinstance(error, DriverError | Neo4jError) and error.is_retryable()


async def _nothing(transaction: "AsyncManagedTransaction") -> None:
    await (await transaction.run("RETURN 1")).consume()


async def rows(
    transaction: "AsyncManagedTransaction | AsyncSession", statement: "str | Query", **parameters: Any
) -> list[dict[str, Any]]:
    """The rows of a statement."""
    result = await transaction.run(statement, parameters)  # type: ignore[arg-type]
    keys = result.keys()
    # Values are plain, so they need not be looked through as the driver's own `data()` does.
    return [dict(zip(keys, record, strict=True)) async for record in result]
