"""A running server whose every model provider is the stub, shared by the tests that ask for it with `pytest_plugins`.
Each test has an organisation of its own, and the stub as new."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest

from tests.support.launching import Launcher, run_server
from tests.support.postgres import Server
from tests.support.provided import Chatting
from tests.support.provider import Provider, run_provider

#: Seconds of silence after which a provider counts as gone.
SILENCE = 2.5


@dataclass(frozen=True)
class _Provided:
    launcher: Launcher
    provider: Provider
    url: str
    dsn: str


@pytest.fixture(scope="session")
def provided(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[_Provided]:
    with run_provider() as provider:
        environment = {**provider.environment(), "TRIBUTARY_PROVIDER_TIMEOUT": str(SILENCE)}
        with run_server(postgres, tmp_path_factory.mktemp("provided"), **environment) as shared:
            yield _Provided(shared.launcher, provider, shared.running.url, shared.dsn)


@pytest.fixture
def chatting(provided: _Provided) -> Iterator[Chatting]:
    provided.provider.reset()
    key = provided.launcher.key(str(uuid4()))
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=provided.url, headers=headers, timeout=60) as client:
        yield Chatting(client, provided.provider)
    provided.provider.reset()
