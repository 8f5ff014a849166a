"""Fixtures of the tests over the chat's stores; a test module asks for them with `pytest_plugins`."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.chat_worlds import ChatWorld, open_chat_world
from tests.support.postgres import Server


@pytest.fixture(scope="session")
def chat_dsn(postgres: Server) -> Iterator[str]:
    """One database for all of them. They see nothing of each other: each makes organisations of its own."""
    dsn = postgres.clone()
    yield dsn
    postgres.drop(dsn)


@pytest.fixture(params=["memory", "postgres"])
def ground(request: pytest.FixtureRequest) -> str | None:
    """The connection string of the database to use, or None for memory."""
    dsn: str | None = request.getfixturevalue("chat_dsn") if request.param == "postgres" else None
    return dsn


@pytest.fixture
async def chat(ground: str | None) -> AsyncIterator[ChatWorld]:
    """The chat's stores of every backend in turn."""
    async with open_chat_world(ground) as world:
        yield world


@pytest.fixture
async def postgres_chat(chat_dsn: str) -> AsyncIterator[ChatWorld]:
    """The chat's stores on PostgreSQL."""
    async with open_chat_world(chat_dsn) as world:
        yield world
