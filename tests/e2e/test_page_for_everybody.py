"""The page by keyboard, on a narrow screen, in the dark, and for screen readers."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.accessibility import serious_faults
from tests.support.provider_faults import Pause
from tests.support.visiting import Visitor, eventually

pytest_plugins = ["tests.support.visiting_fixtures"]


#: Counts the letters that arrived in the composer, and those that stood in it in the very next frame.
LETTERS = """() => {
    const area = document.querySelector('.composer textarea');
    window.letters = { arrived: 0, shown: 0 };
    area.addEventListener('input', () => {
        const text = area.value;
        letters.arrived += 1;
        requestAnimationFrame(() => (letters.shown += Number(area.value.startsWith(text))));
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(visitor: Visitor, scheme: Any) -> None:
    page = visitor.page
    page.emulate_media(color_scheme=scheme)
    expect(page.get_by_label("Bot to ask")).to_be_visible()
    assert serious_faults(page) == []
    visitor.provider.answer = (
        "# Title\n\nText with `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 'a'  # b\n```"
    )
    visitor.attach(("notes.txt", b"text"), ("empty.txt", b""))
    expect(page.locator(".draft.ready")).to_have_count(1)
    assert serious_faults(page) == []
    visitor.ask("Why?")
    visitor.answered("Title")
    assert serious_faults(page) == []
    page.get_by_role("button", name="New bot").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious_faults(page) == []


def test_all_of_a_conversation_goes_by_keyboard(visitor: Visitor) -> None:
    page = visitor.page
    expect(visitor.composer).to_be_focused()
    page.keyboard.type("One")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Two")
    expect(visitor.composer).to_have_value("One\nTwo")
    page.keyboard.press("Enter")
    visitor.answered("The stub answers.")
    expect(visitor.composer).to_be_focused()
    page.get_by_role("button", name="Edit").focus()
    page.keyboard.press("Enter")
    expect(visitor.composer).to_be_focused()
    expect(visitor.composer).to_have_value("One\nTwo")
    page.keyboard.press("Escape")
    expect(visitor.composer).to_have_value("")
    page.get_by_role("button", name="New bot").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="New bot")).to_be_focused()


def test_a_narrow_screen_has_all_of_it(narrow_visitor: Visitor) -> None:
    page = narrow_visitor.page
    narrow_visitor.write("A long line without an end " * 8 + "x" * 300)
    page.get_by_role("button", name="Send").click()
    narrow_visitor.answered("The stub answers.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("navigation", name="Rooms")).not_to_be_visible()
    page.get_by_role("button", name="Menu").click()
    expect(page.get_by_role("navigation", name="Rooms")).to_be_visible()
    page.get_by_role("link", name="New conversation").click()
    expect(page.get_by_role("navigation", name="Rooms")).not_to_be_visible()
    assert serious_faults(page) == []


def test_colours_follow_the_system_until_they_are_chosen(visitor: Visitor) -> None:
    page = visitor.page
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    page.emulate_media(color_scheme="light")
    light = page.evaluate(ground)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(ground)
    assert light != dark
    page.get_by_role("button", name="Colours: system").click()
    assert page.evaluate(ground) == light
    page.reload()
    expect(page.get_by_role("button", name="Colours: light")).to_be_visible()
    assert page.evaluate(ground) == light


def test_typing_does_not_wait_while_ten_answers_are_written(visitor: Visitor) -> None:
    """One of thirty parts before our eyes; none of the ten is at its end when the last letter is there."""
    words = "word " * 15
    parts = "\n\n".join(f"## Part {n}\n\n{words}\n\n- a\n- b\n\n`code` **bold**" for n in range(30))
    visitor.provider.answer = parts
    before_our_eyes = Pause(len(visitor.provider.pieces({})) - 2)
    elsewhere = Pause(20)
    visitor.provider.next_chat(*[elsewhere] * 9, before_our_eyes)
    visitor.provider.answer = lambda body: parts if "Go" in str(body) else words * 2
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    with ThreadPoolExecutor(10) as others:
        asked = [others.submit(visitor.chatting.ask, bot, f"No {number}") for number in range(9)]
        assert others.submit(visitor.provider.wait_for_streams, 9, 60.0).result()
        visitor.ask("Go")
        expect(visitor.answers.last).to_contain_text("Part 0")
        visitor.page.evaluate(LETTERS)
        visitor.page.keyboard.type("typed while ten answers are written")
        expect(visitor.composer).to_have_value("typed while ten answers are written")
        eventually(visitor.page, "() => letters.arrived === 35 && letters.shown === 35")
        assert visitor.provider.open_streams == 10
        assert not any(each.done() for each in asked)
        expect(visitor.answers.last).to_have_attribute("aria-busy", "true")
        elsewhere.event.set()
        before_our_eyes.event.set()
    visitor.answered("Part 29")
    expect(visitor.composer).to_have_value("typed while ten answers are written")
