"""The playgrounds of the served graphs in a real browser, from the sign-in on."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.browser import run_browser
from tests.support.provider_faults import Cut
from tests.support.served import Served

pytest_plugins = ["tests.support.provided_fixtures", "tests.support.served_fixtures"]


@pytest.fixture
def page(served: Served) -> Iterator[Page]:
    """A page that logs no error. It comes after the other fixtures: they can't run beside playwright's event loop."""
    errors: list[str] = []
    with run_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        expect.set_options(timeout=60_000)
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
    assert errors == []


def sign_in(page: Page, served: Served, graph: str = "chat") -> None:
    """From the playground's address over the sign-in back to it."""
    page.goto(f"{served.url}/graphs/{graph}/playground/")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("API key").fill(served.key)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/graphs/{graph}/playground/")


def fill(page: Page, **fields: str) -> None:
    for name, text in fields.items():
        page.locator(f'[id="#/properties/{name}-input"]').fill(text)


def start(page: Page) -> None:
    page.get_by_role("button", name="Start").click()


def test_a_person_signs_in_asks_in_the_playground_and_signs_out(page: Page, served: Served) -> None:
    sign_in(page, served)
    fill(page, message="Why?", botId=served.chatting.bot())
    start(page)
    output = page.locator("body")
    expect(output).to_contain_text('"finishReason": "stop"')
    page.get_by_role("button", name="Intermediate steps").click()
    expect(output).to_contain_text("invoke_model")
    served.chatting.provider.next_chat(Cut(1))
    start(page)
    expect(output).to_contain_text('"code": "provider_error"')
    questions = served.chatting.client.get("/api/conversations").json()["items"]
    assert [each["title"] for each in questions] == ["Why?"] * 2

    page.goto(f"{served.url}/graphs/chat/c/N4XyA/playground/")  # as the playground shares it
    expect(page.get_by_role("button", name="Start")).to_be_visible()
    page.goto(f"{served.url}/sign-in")
    page.get_by_role("button", name="Sign out").click()
    page.goto(f"{served.url}/graphs/chat/playground/")
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_person_searches_and_ingests_in_the_playgrounds(page: Page, served: Served) -> None:
    sign_in(page, served, "ingest")
    named = served.knowledge()
    fill(page, **named)
    start(page)
    expect(page.locator("body")).to_contain_text('"status": "ready"')

    page.goto(f"{served.url}/graphs/retrieval/playground/")
    fill(page, query="ferry")
    page.get_by_role("button", name="Add to Knowledge Base Ids").click()
    page.locator("table input, table textarea").first.fill(named["knowledgeBaseId"])
    start(page)
    expect(page.locator("body")).to_contain_text("from Havneby")
