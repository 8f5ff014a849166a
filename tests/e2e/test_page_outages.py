"""A network that breaks and a server that dies in mid-answer, while somebody looks at the page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.support.cuttable import CuttableWay
from tests.support.launching import Running
from tests.support.provided import Chatting
from tests.support.provider_faults import Pause
from tests.support.visiting import Visitor, begin_visit

if TYPE_CHECKING:  # pytest is to import it first, as the plugin that it is
    from tests.support.visiting_fixtures import Visited

pytest_plugins = ["tests.support.visiting_fixtures"]


def place_of(url: str) -> tuple[str, int]:
    address = urlsplit(url)
    return str(address.hostname), int(address.port or 0)


@pytest.fixture
def way(visited: "Visited") -> Iterator[CuttableWay]:
    with CuttableWay(*place_of(visited.url)) as way:
        yield way


@pytest.fixture
def traveller(way: CuttableWay, browser: Browser, organisation_of_visitor: Chatting) -> Iterator[Visitor]:
    """Somebody who comes to the page by that way, with a question that is being answered."""
    organisation_of_visitor.bot(name="Ada")
    headers = organisation_of_visitor.client.headers
    with httpx.Client(base_url=f"http://127.0.0.1:{way.port}", headers=headers, timeout=60) as client:
        visitor = begin_visit(browser, Chatting(client, organisation_of_visitor.provider))
        visitor.open()
        yield visitor
        visitor.context.close()


@pytest.fixture
def doomed(visited: "Visited") -> Iterator[Running]:
    """Another server on the database and the files of the shared one."""
    running = visited.launcher.start(environment=visited.provider.environment())
    yield running
    running.kill()


def ask_with_a_file(visitor: Visitor) -> Pause:
    pause = Pause(2)
    visitor.provider.answer = "One two three four."
    visitor.provider.next_chat(pause)
    visitor.attach(("notes.txt", b"The ferry leaves at seven."))
    expect(visitor.page.locator(".draft.ready")).to_have_count(1)
    visitor.ask("When does it leave?")
    expect(visitor.answers.last).to_contain_text("One two")
    return pause


def test_a_network_that_breaks_in_mid_answer_loses_nothing(traveller: Visitor, way: CuttableWay) -> None:
    pause = ask_with_a_file(traveller)
    way.cut()
    traveller.write("And then?")
    pause.event.set()
    expect(traveller.answers.last).to_contain_text("One two")
    way.mend()
    traveller.answered("One two three four.")
    expect(traveller.composer).to_have_value("And then?")
    expect(traveller.questions).to_have_count(1)
    assert len(traveller.provider.chats) == 1


def test_a_server_that_dies_in_mid_answer_leaves_the_question_its_file_and_the_reason(
    visited: "Visited", doomed: Running, traveller: Visitor, way: CuttableWay
) -> None:
    """Another server stands in for it, at the same address; nobody reloads the page."""
    way.lead_to(*place_of(doomed.url))
    ask_with_a_file(traveller)
    traveller.write("And then?")
    doomed.kill()
    way.lead_to(*place_of(visited.url))
    expect(traveller.page.get_by_role("main")).to_contain_text("The server stopped")
    expect(traveller.questions.get_by_role("link", name="notes.txt")).to_be_visible()
    expect(traveller.composer).to_have_value("And then?")
    traveller.page.get_by_role("button", name="Try again").click()
    traveller.answered("One two three four.")
    assert "The ferry leaves at seven." in str(traveller.chatting.last_question)
    expect(traveller.questions).to_have_count(1)
