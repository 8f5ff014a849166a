"""Servers to test from outside."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.support.launching import Launcher, Shared, run_server
from tests.support.postgres import Server


@pytest.fixture
def launcher(tmp_path: Path, dsn: str) -> Iterator[Launcher]:
    """Servers of one test, on a database of its own."""
    launcher = Launcher(tmp_path, dsn)
    yield launcher
    launcher.close()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Shared]:
    with run_server(postgres, tmp_path_factory.mktemp("shared")) as shared:
        yield shared


@pytest.fixture
def client(shared: Shared, request: pytest.FixtureRequest) -> Iterator[httpx.Client]:
    """A client of the shared server with the key of an organisation that is this test's alone."""
    with shared.running.client(shared.launcher.key(f"org of {request.node.name}")) as client:
        yield client


@pytest.fixture
def rows(shared: Shared) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """The shared server's database, seen past its policies."""
    with psycopg.connect(shared.dsn, autocommit=True) as connection:
        yield connection
