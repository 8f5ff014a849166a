"""Several browsers at one account see the same, without anybody asking anew."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.support.provider_faults import Pause
from tests.support.visiting import Visitor, begin_visit

pytest_plugins = ["tests.support.visiting_fixtures"]

#: The page's connection of the browser: who holds the lock has it.
HOLDERS = "navigator.locks.query().then(({ held }) => held.length)"


@pytest.fixture
def elsewhere(browser: Browser, visitor: Visitor) -> Iterator[Page]:
    """The page in another browser at the same account."""
    other = begin_visit(browser, visitor.chatting)
    other.open()
    expect(other.composer).to_be_focused()
    yield other.page
    other.context.close()
    assert other.errors == []


def listed(page: Page, name: str = "Conversations") -> Locator:
    return page.get_by_role("navigation", name=name).get_by_role("listitem")


def test_conversations_are_seen_made_answered_renamed_and_deleted_elsewhere(visitor: Visitor, elsewhere: Page) -> None:
    pause = Pause(2)
    visitor.provider.answer = "One two three four."
    visitor.provider.next_chat(pause)
    visitor.ask("Count")
    row = listed(elsewhere)
    expect(row).to_have_count(1)
    for page in (visitor.page, elsewhere):
        expect(listed(page).get_by_title("An answer is being written")).to_be_visible()
    row.get_by_role("link").click()
    expect(elsewhere.get_by_role("article", name="Answer")).to_contain_text("One two")
    pause.event.set()
    for page in (visitor.page, elsewhere):
        expect(listed(page).get_by_title("An answer is being written")).to_have_count(0)
        expect(page.get_by_role("article", name="Answer")).to_contain_text("four.")
    client, conversation = visitor.chatting.client, visitor.conversation
    client.patch(f"/api/conversations/{conversation}", json={"title": "Figures"})
    for page in (visitor.page, elsewhere):
        expect(listed(page)).to_contain_text(["Figures"])
    visitor.chatting.ask(client.get("/api/bots").json()["items"][0]["id"], "And?", conversationId=conversation)
    for page in (visitor.page, elsewhere):
        expect(page.get_by_role("article", name="Your question")).to_have_count(2)
    client.delete(f"/api/conversations/{conversation}")
    for page in (visitor.page, elsewhere):
        expect(listed(page)).to_have_count(0)
        expect(page.get_by_text("This conversation is not here")).to_be_visible()


def test_bots_knowledge_bases_and_documents_are_seen_as_they_come(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    expect(page.get_by_label("Bot to ask")).to_contain_text("Ada")
    visitor.chatting.bot(name="Grace")
    expect(page.get_by_label("Bot to ask")).to_contain_text("Grace")
    page.get_by_role("link", name="Knowledge").click()
    expect(page.get_by_text("None yet")).to_be_visible()
    base = client.post("/knowledge/kb", json={"name": "Harbour"}).json()["id"]
    row = listed(page, "Knowledge bases")
    row.get_by_role("link", name="Harbour").click()
    expect(page.get_by_text(re.compile("No document yet"))).to_be_visible()
    sent = client.post(f"/knowledge/kb/{base}/documents", files={"files": ("ferry.md", b"The ferry leaves at seven.")})
    document = sent.json()["documents"][0]["id"]
    documents = page.get_by_role("list", name="Documents").get_by_role("listitem")
    expect(documents).to_contain_text(["ferry"])
    expect(documents).to_contain_text(["Ready"])
    expect(row).to_contain_text(["1 document"])
    client.delete(f"/knowledge/kb/{base}/documents/{document}")
    expect(page.get_by_text(re.compile("No document yet"))).to_be_visible()
    client.delete(f"/knowledge/kb/{base}")
    expect(row).to_have_count(0)
    expect(page.get_by_role("heading", name="This knowledge base is not here")).to_be_visible()


def test_pages_of_a_browser_share_one_stream_and_the_next_takes_over(visitor: Visitor) -> None:
    streams: list[str] = []
    first = visitor.page
    first.reload()
    expect(first.get_by_label("Bot to ask")).to_be_visible()
    # What comes after the page has read its lists comes by its stream, so that is open.
    visitor.chatting.bot(name="Hedy")
    expect(first.get_by_label("Bot to ask")).to_contain_text("Hedy")
    second = visitor.another()
    for page in (first, second):
        page.on("request", lambda request: streams.append(request.url) if "/api/events" in request.url else None)
    second.goto(f"{visitor.url}/#/chat")
    expect(second.get_by_label("Bot to ask")).to_be_visible()
    visitor.chatting.bot(name="Grace")
    for page in (first, second):
        expect(page.get_by_label("Bot to ask")).to_contain_text("Grace")
    assert second.evaluate(HOLDERS) == 1
    assert streams == []
    first.close()
    visitor.chatting.bot(name="Hopper")
    expect(second.get_by_label("Bot to ask")).to_contain_text("Hopper")
    assert len(streams) == 1


def test_a_server_that_is_away_is_told_and_all_is_read_anew_when_it_is_back(visitor: Visitor) -> None:
    page = visitor.page
    away = page.get_by_text("The server can't be reached. This page tries again by itself.")
    page.route("**/api/events", lambda route: route.abort())
    page.reload()
    expect(page.get_by_label("Bot to ask")).to_contain_text("Ada")
    expect(away).to_be_visible()
    visitor.chatting.bot(name="Grace")
    page.unroute("**/api/events")
    expect(page.get_by_label("Bot to ask")).to_contain_text("Grace")
    expect(away).not_to_be_visible()


def test_lists_are_one_stop_of_the_tabulator_and_go_by_arrows(visitor: Visitor) -> None:
    page = visitor.page
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    for title in ("Third", "Second", "First"):
        visitor.chatting.ask(bot, title)
    rows = listed(page)
    expect(rows).to_have_count(3)
    page.get_by_label("Search conversations").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="First")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("link", name="Second")).to_be_focused()
    page.keyboard.press("End")
    expect(page.get_by_role("link", name="Third")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Rename Third")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("F2")
    page.keyboard.type("Last")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Last")).to_be_focused()
    page.keyboard.press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Delete").press("Enter")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("link", name="Second")).to_be_focused()


#: Presses a key on a row, and says what has the focus before the browser could hand over another key or paint.
FOCUSED_AT_ONCE = """async ([row, key]) => {
    document.querySelector(`[data-row="${row}"]`).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (let turn = 0; turn < 9; turn += 1) await null;
    return document.activeElement.ariaLabel ?? document.activeElement.textContent;
}"""


@pytest.mark.parametrize(("key", "focused"), [("F2", "Title"), ("Delete", "Keep")])
def test_what_opens_by_a_key_has_the_focus_before_the_next_key(visitor: Visitor, key: str, focused: str) -> None:
    page = visitor.page
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    visitor.chatting.ask(bot, "First")
    expect(listed(page)).to_have_count(1)
    row = page.get_by_role("link", name="First").get_attribute("data-row")
    assert page.evaluate(FOCUSED_AT_ONCE, [row, key]) == focused


def test_of_a_long_conversation_the_end_is_drawn_and_the_rest_on_demand(visitor: Visitor) -> None:
    page = visitor.page
    item: dict[str, Any] = {
        "attachments": [],
        "sources": [],
        "usage": None,
        "status": "complete",
        "model": None,
        "parentId": None,
    }
    item |= {"degraded": [], "notSent": [], "finishReason": None, "error": None, "createdAt": "2999-01-01T00:00:00Z"}
    messages = [
        {**item, "id": f"m{number:04}", "role": "assistant" if number % 2 else "user", "content": f"Text {number}."}
        for number in range(300)
    ]
    visitor.ask("Why?")
    visitor.answered("The stub answers.")
    page.route("**/messages*", lambda route: route.fulfill(json={"items": messages, "nextCursor": None}))
    page.reload()
    expect(visitor.answers.last).to_contain_text("Text 299.")
    expect(page.get_by_role("article")).to_have_count(60)
    page.get_by_role("button", name="Show earlier messages (240)").click()
    expect(page.get_by_role("article")).to_have_count(120)
    expect(page.get_by_role("button", name="Show earlier messages (180)")).to_be_attached()


def test_a_wait_that_the_server_asks_for_is_told(visitor: Visitor) -> None:
    page = visitor.page
    problem = {"type": "x", "title": "Too many", "status": 429, "code": "quota_exceeded", "detail": "The day is full"}
    page.route(
        "**/attachments/upload",
        lambda route: route.fulfill(
            status=429, json={**problem, "retryAfter": 5000}, content_type="application/problem+json"
        ),
    )
    visitor.attach(("notes.txt", b"text"))
    expect(page.locator(".draft.refused .reason")).to_have_text("The day is full. Try again in 84 minutes")
    busy = {**problem, "code": "rate_limited", "detail": "Slowly", "retryAfter": 1}
    answers = [lambda route: route.fulfill(status=429, json=busy), lambda route: route.continue_()]
    page.unroute("**/attachments/upload")
    page.route("**/attachments/upload", lambda route: answers.pop(0)(route))
    page.get_by_role("button", name="Remove notes.txt").click()
    visitor.attach(("more.txt", b"text"))
    expect(page.locator(".draft.ready")).to_have_count(1)
    assert answers == []


def test_a_page_that_nobody_looks_at_reads_nothing_until_somebody_does(visitor: Visitor) -> None:
    page, other = visitor.page, visitor.another()
    look = "Object.defineProperty(document, 'visibilityState', { value: %r, configurable: true }); "
    look += "document.dispatchEvent(new Event('visibilitychange')); "
    # Reads that are under way when the page is left may end; those that begin later count.
    count = (
        "window.begun = []; const was = fetch; window.fetch = (...all) => (begun.push(String(all[0])), was(...all));"
    )
    other.goto(f"{visitor.url}/#/chat")
    for each in (page, other):
        expect(each.get_by_label("Bot to ask")).to_contain_text("Ada")
    page.evaluate("() => { " + look % "hidden" + count + " }")
    for name in ("Grace", "Hedy"):
        visitor.chatting.bot(name=name)
        expect(other.get_by_label("Bot to ask")).to_contain_text(name)
    assert [url for url in page.evaluate("begun") if "bots" in url] == []
    page.evaluate("() => { " + look % "visible" + " }")
    expect(page.get_by_label("Bot to ask")).to_contain_text("Hedy")
    assert [url for url in page.evaluate("begun") if "bots" in url] != []


def test_of_a_thousand_conversations_some_are_drawn_and_all_are_found(visitor: Visitor) -> None:
    page = visitor.page
    bot = visitor.chatting.client.get("/api/bots").json()["items"][0]["id"]
    times = {"createdAt": "2026-01-01T00:00:00Z", "updatedAt": "2026-01-01T00:00:00Z", "running": False}
    everything = [
        {"id": f"{9999 - number:04}", "botId": bot, "title": f"Number {number}", **times} for number in range(1000)
    ]
    reached: list[int] = []

    def answer(route: Route) -> None:
        query = parse_qs(urlsplit(route.request.url).query)
        cursor, limit = query.get("cursor", [None])[0], int(query["limit"][0])
        begin = next((at + 1 for at, each in enumerate(everything) if each["id"] == cursor), 0)
        items = everything[begin : begin + limit]
        reached.append(begin + len(items))
        more = begin + limit < len(everything)
        route.fulfill(json={"items": items, "nextCursor": items[-1]["id"] if more else None})

    page.route("**/api/conversations?*", answer)
    page.reload()
    expect(listed(page)).to_have_count(100)
    page.get_by_role("button", name="Show older ones").click()
    expect(listed(page)).to_have_count(200)
    assert max(reached) == 200
    page.get_by_label("Search conversations").press_sequentially("Number 999")
    expect(listed(page)).to_have_count(1)
    expect(listed(page)).to_contain_text(["Number 999"])
