"""What the contract suites of the stores share: one database for all of them. Each test has organisations of its own,
which see nothing of each other's."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.chat_worlds import ChatWorld, open_chat_world
from tests.support.neo4j import Neo4jServer
from tests.support.postgres import Server
from tests.support.worlds import World, open_world


@pytest.fixture(scope="session")
def shared_dsn(postgres: Server) -> Iterator[str]:
    """A database that tests share; what they keep in it stays apart by organisation."""
    name = postgres.clone()
    yield name
    postgres.drop(name)


@pytest.fixture(params=["memory", "postgres"])
def place(request: pytest.FixtureRequest) -> str | None:
    """Where the stores under test keep things: a connection string, or None for memory."""
    if request.param == "memory":
        return None
    dsn: str = request.getfixturevalue("shared_dsn")
    return dsn


@pytest.fixture
async def chat(place: str | None) -> AsyncIterator[ChatWorld]:
    """The stores of the chat: everything that promises their contracts."""
    async with open_chat_world(place) as world:
        yield world


@pytest.fixture
async def world(place: str | None) -> AsyncIterator[World]:
    """The stores of knowledge bases: everything that promises their contracts."""
    async with open_world(place) as world:
        yield world


@pytest.fixture(params=["memory", "postgres", "neo4j"])
def graph_place(request: pytest.FixtureRequest) -> tuple[str | None, Neo4jServer | None]:
    """Where documents and where their graph are kept."""
    if request.param == "memory":
        return None, None
    server = request.getfixturevalue("neo4j") if request.param == "neo4j" else None
    return request.getfixturevalue("shared_dsn"), server


@pytest.fixture
async def graph_world(graph_place: tuple[str | None, Neo4jServer | None]) -> AsyncIterator[World]:
    """The stores of knowledge bases with each engine of the knowledge graph: everything that promises its contract."""
    async with open_world(*graph_place) as world:
        yield world


@pytest.fixture
async def neo4j_world(neo4j: Neo4jServer, shared_dsn: str) -> AsyncIterator[World]:
    """The stores of knowledge bases on PostgreSQL, their graphs on Neo4j."""
    async with open_world(shared_dsn, neo4j) as world:
        yield world
