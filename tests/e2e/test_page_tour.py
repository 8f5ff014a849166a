"""The newcomer's tour of the page: a real Chromium, the embedded default and the built-in models, from the printed link
to a document that is gone. `make screenshots` keeps the pictures that it takes for the README."""

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests.support import expedition
from tests.support.album import Album
from tests.support.browser import run_browser
from tests.support.cuttable import CuttableWay
from tests.support.drawn_graph import click_entity, names_drawn, watch_drawings
from tests.support.launching import Launcher, Running
from tests.support.marks import marked_text
from tests.support.visiting import Watch, eventually

expect.set_options(timeout=20_000)

BASE = "Skarv Glacier"
QUESTION = "I took this at station 3. How thick is the ice here, and why was it measured twice?"
LINK = re.compile(r"http://\S+/sign-in/link\?secret=\S+")

#: Keeps what each element of a list has ever said.
LISTEN = """([name, selector]) => {
    const heard = (window[name] = []);
    const look = () => document.querySelectorAll(selector).forEach((each) => heard.push(each.textContent));
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""


@pytest.fixture(scope="module")
def started() -> Iterator[Running]:
    """A first start on an empty data folder, which is not below pytest's own: the embedded server's user may not enter
    that."""
    with tempfile.TemporaryDirectory(prefix="tributary-tour-") as folder:
        launcher = Launcher(Path(folder), "")
        yield launcher.start(demo=True)
        launcher.close()


@pytest.fixture(scope="module")
def way(started: Running) -> Iterator[CuttableWay]:
    address = urlsplit(started.url)
    assert address.hostname is not None
    assert address.port is not None
    with CuttableWay(address.hostname, address.port) as way:
        yield way


@pytest.fixture(scope="module")
def browser(started: Running, way: CuttableWay) -> Iterator[Browser]:
    """Comes to the printed address by that way."""
    with run_browser(f"--host-resolver-rules=MAP {urlsplit(started.url).netloc} 127.0.0.1:{way.port}") as browser:
        yield browser


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, device_scale_factor=1.5, locale="en-GB", color_scheme="light"
    )
    watch_drawings(context)
    yield context
    context.close()


@pytest.fixture
def album(tmp_path: Path) -> Album:
    return Album(Path(os.environ.get("SCREENSHOTS") or tmp_path))


def test_the_newcomer_s_tour_of_the_page(
    started: Running, way: CuttableWay, context: BrowserContext, album: Album
) -> None:
    watch = Watch(started.url)
    page = watch.over(context.new_page())
    open_the_link(page, started)
    make_a_knowledge_base(page, album)
    link_it_to_a_bot(page)
    answer = ask(page, way, album)
    conversation = page.url
    open_source_1(page, answer, album)
    look_into_the_turn(page, answer, album)
    follow_the_graph(page, album)
    delete_the_document(page, conversation)
    assert watch.errors == []
    assert watch.strangers == []


def open_the_link(page: Page, started: Running) -> None:
    link = LINK.search("\n".join(started.lines))
    assert link is not None, started.lines
    page.goto(link[0])
    expect(page.get_by_role("textbox", name="Your question")).to_be_focused()
    assert page.url.startswith(f"{started.url}/")
    assert "secret" not in page.url


def room(page: Page, name: str) -> None:
    page.get_by_role("navigation", name="Rooms").get_by_role("link", name=name).click()


def panel(page: Page) -> Locator:
    return page.locator("aside.panel")


def documents(page: Page) -> Locator:
    return page.get_by_role("list", name="Documents").get_by_role("listitem")


def given(name: str, content: bytes) -> Any:
    return {"name": name, "mimeType": "", "buffer": content}


def without_toasts(page: Page) -> None:
    for toast in page.locator(".toast").all():
        toast.get_by_role("button").click()
    expect(page.locator(".toast")).to_have_count(0)


def to_the_end(page: Page) -> None:
    page.get_by_role("region", name="Conversation").evaluate("box => box.scrollTo(0, box.scrollHeight)")
    expect(page.get_by_role("button", name="Latest")).to_have_count(0)


def make_a_knowledge_base(page: Page, album: Album) -> None:
    room(page, "Knowledge")
    page.get_by_role("button", name="New knowledge base").click()
    page.get_by_label("Name").fill(BASE)
    page.get_by_label("Description").fill("Reports of our expeditions")
    page.get_by_role("button", name="Save").click()
    page.evaluate(LISTEN, ["fates", ".fate"])
    page.get_by_label("Files to add").set_input_files(given("skarv-report.pdf", expedition.report()))
    expect(documents(page)).to_contain_text("Ready")
    fates: list[str] = page.evaluate("fates")
    assert any(re.search(r"\d+%", fate) for fate in fates), fates
    documents(page).get_by_role("button").click()
    expect(panel(page).get_by_role("heading", name="Summary")).to_be_visible()
    expect(panel(page)).to_contain_text("Skarv Glacier")
    without_toasts(page)
    album.take(page, "knowledge", "light")
    panel(page).get_by_role("button", name="Close panel").click()


def link_it_to_a_bot(page: Page) -> None:
    room(page, "Chat")
    page.get_by_role("button", name="New bot").click()
    form = page.get_by_role("dialog", name="New bot")
    form.get_by_label("Name").fill("Glaciologist")
    form.get_by_label("Prompt").fill("You know the reports of our expeditions. Answer briefly.")
    form.get_by_label(BASE).check()
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Bot to ask").locator("option:checked")).to_have_text("Glaciologist")
    without_toasts(page)


def ask(page: Page, way: CuttableWay, album: Album) -> Locator:
    """The built-in model is done at once: over a slow way its answer is seen to grow."""
    files = [given("station-3.jpg", expedition.photo()), given("field-notes.txt", expedition.NOTES.encode())]
    page.get_by_label("Files", exact=True).set_input_files(files)
    expect(page.locator(".draft.ready")).to_have_count(2)
    page.evaluate(LISTEN, ["written", ".answer.live .prose"])
    way.rate = 6_000
    page.get_by_role("textbox", name="Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    answer = page.get_by_role("article", name="Answer")
    expect(answer).to_have_attribute("aria-busy", "true")
    eventually(page, "() => written.some((text) => text.length > 200)")
    way.rate = 1
    album.take(page, "chat", "light")
    way.rate = 0
    expect(answer.get_by_role("button", name="Copy", exact=True)).to_be_visible()
    grown = [len(text) for text in page.evaluate("written")]
    assert len({length for length in grown if length > 0}) > 2, grown
    assert grown == sorted(grown)
    expect(answer).to_contain_text("412 metres of ice")
    expect(answer).to_contain_text("because the first run stopped when the battery froze")
    return answer


def open_source_1(page: Page, answer: Locator, album: Album) -> None:
    answer.get_by_role("button", name="Source 1", exact=True).first.click()
    name = f"Page {expedition.PAGE} of skarv-report.pdf, with the passage marked"
    picture = panel(page).get_by_role("img", name=name)
    expect(panel(page).locator("figure")).to_have_attribute("aria-busy", "false")
    passage = panel(page).locator("mark").inner_text()
    assert expedition.PASSAGE in " ".join(passage.split())
    drawn = page.context.request.get(picture.evaluate("image => image.currentSrc")).body()
    marked = marked_text(drawn, expedition.report(), expedition.PAGE)
    assert marked == "".join(passage.split())
    to_the_end(page)
    album.take(page, "source", "light")
    page.keyboard.press("Escape")


def look_into_the_turn(page: Page, answer: Locator, album: Album) -> None:
    answer.get_by_role("button", name="How it was made").click()
    steps = panel(page).get_by_role("table", name="Steps of the turn")
    for branch in ("search text", "search image", "read map", "search graph"):
        row = steps.get_by_role("row").filter(has=page.get_by_role("rowheader", name=branch))
        expect(row).to_contain_text(re.compile(rf"{BASE}.*\d m?s.*well"))
    hits = panel(page).get_by_role("table", name="Hits after the rerank")
    expect(hits).to_contain_text(re.compile("skarv-report.pdf.*texts", re.DOTALL))
    to_the_end(page)
    album.take(page, "turn", "dark")
    page.keyboard.press("Escape")


def follow_the_graph(page: Page, album: Album) -> None:
    room(page, "Knowledge")
    page.get_by_role("navigation", name="Knowledge bases").get_by_role("link", name=BASE).click()
    page.get_by_role("link", name="Graph", exact=True).click()
    entities = page.get_by_role("region", name="Entities")
    for entity in ("Ingrid Solberg", "Nordvik Institute"):
        click_entity(page, entity)
        expect(entities.get_by_role("heading", name=entity)).to_be_visible()
        assert entity in names_drawn(page)
    expect(entities.get_by_role("list", name="Connections")).to_contain_text(
        "Ingrid Solberg works for the Nordvik Institute"
    )
    album.take(page, "graph", "dark")
    page.emulate_media(color_scheme="light")


def delete_the_document(page: Page, conversation: str) -> None:
    page.get_by_role("link", name="Documents", exact=True).click()
    documents(page).get_by_role("button").click()
    panel(page).get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No document yet.")).to_be_visible()
    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Search in the documents").fill("ice at station 3")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No passages found")).to_be_visible()
    page.get_by_role("link", name="Graph", exact=True).click()
    expect(page.get_by_text("No entity yet")).to_be_visible()
    page.goto(conversation)
    page.get_by_role("button", name="Source 1", exact=True).first.click()
    expect(panel(page).get_by_role("note")).to_contain_text("The document was deleted since.")
    expect(panel(page).locator(".passage")).not_to_be_empty()
