"""A running server, a browser, and somebody who visits the page with it: for tests that ask for them with
`pytest_plugins`. The server is shared by all of them, the browser by those of a module."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.support.browser import run_browser
from tests.support.launching import Launcher, run_server
from tests.support.postgres import Server
from tests.support.provided import Chatting
from tests.support.provider import Provider, run_provider
from tests.support.visiting import Visitor, begin_visit

expect.set_options(timeout=20_000)


@dataclass(frozen=True)
class Visited:
    launcher: Launcher
    provider: Provider
    url: str


@pytest.fixture(scope="session")
def visited(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Visited]:
    """A server whose every model provider is the stub, and which bears its silences."""
    with (
        run_provider() as provider,
        run_server(postgres, tmp_path_factory.mktemp("visited"), **provider.environment()) as shared,
    ):
        yield Visited(shared.launcher, provider, shared.running.url)


@pytest.fixture(scope="module")
def browser(visited: Visited) -> Iterator[Browser]:
    with run_browser() as browser:
        yield browser


@pytest.fixture
def organisation_of_visitor(visited: Visited, browser: Browser) -> Iterator[Chatting]:
    """An organisation of its own, and the stub of its provider as new."""
    visited.provider.reset()
    # In a thread of its own: beside playwright's event loop there can be no other.
    with ThreadPoolExecutor(1) as thread:
        key = thread.submit(visited.launcher.key, str(uuid4())).result()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=visited.url, headers=headers, timeout=60) as client:
        yield Chatting(client, visited.provider)
    visited.provider.reset()


@pytest.fixture
def visitor(browser: Browser, organisation_of_visitor: Chatting) -> Iterator[Visitor]:
    """Somebody with one bot, at a page that logs no error and asks no other server for anything."""
    organisation_of_visitor.bot(name="Ada")
    visitor = begin_visit(browser, organisation_of_visitor)
    visitor.open()
    yield visitor
    visitor.context.close()
    assert visitor.errors == []
    assert visitor.strangers == []


@pytest.fixture
def narrow_visitor(browser: Browser, organisation_of_visitor: Chatting) -> Iterator[Visitor]:
    """The same with a phone."""
    organisation_of_visitor.bot(name="Ada")
    visitor = begin_visit(browser, organisation_of_visitor, narrow=True)
    visitor.open()
    yield visitor
    visitor.context.close()
    assert visitor.errors == []
