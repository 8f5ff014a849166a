"""What every test may ask for: one real PostgreSQL a run, a fresh database of it a test, and a stub of providers."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

# Set before anything imports the libraries that read them.
os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
os.environ.setdefault("LANGSMITH_TRACING", "false")
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import migrate
from stores.postgres.roles import SERVING_ROLE
from tests.support.neo4j import Neo4jServer, fetch_jars, run_neo4j
from tests.support.postgres import Server
from tests.support.provider import Provider, run_provider
from tributary.domain.identity import Organisation


def pytest_collection_finish(session: pytest.Session) -> None:
    """Fetches Neo4j's jars where tests want them and they are not there yet: how long a network takes is no test's
    time."""
    if session.config.option.collectonly or os.environ.get("TEST_NEO4J_URI"):
        return
    if any(_asks_for_neo4j(item) for item in session.items):
        fetch_jars()


def _asks_for_neo4j(test: pytest.Item) -> bool:
    if not isinstance(test, pytest.Function):
        return False
    chosen = test.callspec.params.values() if hasattr(test, "callspec") else ()
    return "neo4j" in test.fixturenames or any(isinstance(each, str) and each == "neo4j" for each in chosen)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The embedded PostgreSQL, or the server of `TEST_DATABASE_URL` where that is set."""
    external = os.environ.get("TEST_DATABASE_URL")
    embedded = EmbeddedPostgres(Path(tempfile.mkdtemp(prefix="tributary-test-")) / "pg")
    admin = external or embedded.start()
    template = f"template_{uuid4().hex}"
    try:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {template}")
        server = Server(admin=admin, template=template)
        asyncio.run(migrate(server.dsn(template), server.dsn(template)))
        yield server
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {template} WITH (FORCE)")
    finally:
        embedded.stop()


@pytest.fixture(scope="session")
def neo4j() -> Iterator[Neo4jServer]:
    """A Neo4j for all tests that ask for one, or the empty one of `TEST_NEO4J_URI` and `TEST_NEO4J_PASSWORD` where
    these are set. What tests keep in it stays apart by knowledge base."""
    if external := os.environ.get("TEST_NEO4J_URI"):
        yield Neo4jServer(external, os.environ["TEST_NEO4J_PASSWORD"])
        return
    with run_neo4j() as server:
        yield server


@pytest.fixture(scope="session")
def running_provider() -> Iterator[Provider]:
    with run_provider() as provider:
        yield provider


@pytest.fixture
def provider(running_provider: Provider) -> Iterator[Provider]:
    """The stub of all model providers, as new."""
    running_provider.reset()
    yield running_provider
    running_provider.reset()


@pytest.fixture
def dsn(postgres: Server) -> Iterator[str]:
    """A database of the test's own, with the schema and no rows."""
    name = postgres.clone()
    yield name
    postgres.drop(name)


@pytest.fixture
async def database(dsn: str) -> AsyncIterator[Database]:
    """The test's database, served as the application serves it: not as a superuser."""
    database = Database(dsn, role=SERVING_ROLE, pool_size=8)
    await database.open()
    yield database
    await database.close()


async def _organisation(database: Database, name: str) -> Organisation:
    organisation = Organisation(id=uuid4(), name=name)
    async with database.upkeep() as connection:
        await connection.execute(
            "INSERT INTO organisations (id, name) VALUES (%s, %s)", (organisation.id, organisation.name)
        )
    return organisation


@pytest.fixture
async def organisation(database: Database) -> Organisation:
    return await _organisation(database, "acme")


@pytest.fixture
async def other_organisation(database: Database) -> Organisation:
    return await _organisation(database, "globex")
