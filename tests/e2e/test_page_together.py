"""Several browsers at one account see the same, without anybody reloading."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.support.provider_faults import Pause
from tests.support.visiting import Visitor, begin_visit

pytest_plugins = ["tests.support.visiting_fixtures"]


@pytest.fixture
def other(visitor: Visitor, browser: Browser) -> Iterator[Visitor]:
    """The same account in another browser: nothing is shared but the server."""
    other = begin_visit(browser, visitor.chatting)
    other.open()
    yield other
    other.context.close()
    assert other.errors == []


def listed(visitor: Visitor) -> Locator:
    return visitor.page.get_by_role("navigation", name="Conversations").get_by_role("listitem")


def test_a_conversation_is_the_same_in_both(visitor: Visitor, other: Visitor) -> None:
    pause = Pause(2)
    visitor.provider.answer = "One two three four."
    visitor.provider.next_chat(pause)
    visitor.ask("Count")
    expect(listed(other)).to_contain_text(["Count"])
    other.page.get_by_role("link", name="Count").click()
    expect(other.answers.last).to_contain_text("One two")
    expect(other.answers.last).to_have_attribute("aria-busy", "true")
    pause.event.set()
    for each in (visitor, other):
        each.answered("One two three four.")
    visitor.provider.answer = "Five six."
    other.ask("Go on")
    for each in (visitor, other):
        each.answered("Five six.")
        expect(each.questions).to_have_count(2)


def test_what_is_renamed_or_deleted_in_one_is_so_in_the_other(visitor: Visitor, other: Visitor) -> None:
    visitor.ask("Ferries to Sylt")
    visitor.answered("The stub answers.")
    expect(listed(other)).to_contain_text(["Ferries to Sylt"])
    listed(other).first.hover()
    other.page.get_by_role("button", name="Rename Ferries to Sylt").click()
    other.page.get_by_label("Title").fill("Boats")
    other.page.keyboard.press("Enter")
    expect(listed(visitor)).to_contain_text(["Boats"])
    listed(other).first.hover()
    other.page.get_by_role("button", name="Delete Boats").click()
    other.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(listed(visitor)).to_have_count(0)


def test_a_knowledge_base_and_its_documents_are_the_same_in_both(visitor: Visitor, other: Visitor) -> None:
    page = visitor.page
    for each in (visitor, other):
        each.open("knowledge")
    page.get_by_role("button", name="New knowledge base").click()
    page.get_by_label("Name").fill("Harbour")
    page.get_by_role("button", name="Save").click()
    other.page.get_by_role("navigation", name="Knowledge bases").get_by_role("link", name="Harbour").click()
    expect(other.page.get_by_text("No document yet.")).to_be_visible()
    notes: Any = {"name": "notes.txt", "mimeType": "", "buffer": b"The crane lifts cocoa at dawn."}
    page.get_by_label("Files to add").set_input_files(notes)
    documents = other.page.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(documents).to_contain_text(["notes"])
    expect(documents).to_contain_text(["Ready"])
    documents.get_by_role("button").click()
    panel = other.page.get_by_role("complementary")
    panel.get_by_role("button", name="Delete").click()
    other.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No document yet.")).to_be_visible()
