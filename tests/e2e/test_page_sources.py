"""Where an answer comes from, how it was made, and what it cost, in the page."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.accessibility import serious_faults
from tests.support.documents import filled_base, wait_until_ready
from tests.support.pages import pdf_of
from tests.support.provided import Chatting
from tests.support.provider_faults import Refuse
from tests.support.visiting import Visitor, begin_visit

if TYPE_CHECKING:  # pytest is to import it first, as the plugin that it is
    from tests.support.visiting_fixtures import Visited

pytest_plugins = ["tests.support.visiting_fixtures"]

PDF = pdf_of(
    ["The pump runs at noon.", "The valve of the harbour is closed at night. Ada Lovelace works for Acme Shipping."]
)
#: Characters outside the basic plane come before the passage: offsets count code points.
HOSTILE = "\n\n".join(
    [
        "# Harbour 🚢🚢🚢",
        *(
            f"Line {number} of the harbour's log 🚢 says nothing of note about anything at all."
            for number in range(120)
        ),
        "# Cranes\n\nThe crane <img src=x onerror='caught=1'><script>window.caught = 1</script> lifts cocoa at dawn.",
    ]
)


def taught(visitor: Visitor, *files: tuple[str, bytes]) -> tuple[str, list[str]]:
    """A knowledge base with these files, and the visitor at a bot that searches it; the ids of both."""
    client = visitor.chatting.client
    base = client.post("/knowledge/kb", json={"name": "Harbour"}).json()["id"]
    sent = client.post(f"/knowledge/kb/{base}/documents", files=[("files", each) for each in files]).json()
    ids = [str(each["id"]) for each in sent["documents"]]
    for each in ids:
        wait_until_ready(client, base, each)
    visitor.choose(visitor.chatting.bot(name="Guide", knowledgeBaseIds=[base]))
    return base, ids


def panel_of(page: Page) -> Locator:
    return page.locator("aside.panel")


@pytest.fixture
def pdf_answer(visitor: Visitor) -> Locator:
    """An answer whose first source is a PDF."""
    taught(visitor, ("harbour.pdf", PDF))
    visitor.provider.answer = "At night [1]."
    visitor.ask("When is the valve of the harbour closed?")
    return visitor.answered("At night")


def test_a_number_opens_the_page_with_the_passage_marked(visitor: Visitor, pdf_answer: Locator) -> None:
    page = visitor.page
    pdf_answer.get_by_role("button", name="Source 1", exact=True).click()
    panel = panel_of(page)
    picture = panel.get_by_role("img", name="Page 2 of harbour.pdf, with the passage marked")
    expect(picture).to_have_attribute("src", re.compile(r"/pages/2\.png\?start=\d+&end=\d+&width="))
    expect(panel.locator("figure")).to_have_attribute("aria-busy", "false")
    assert picture.evaluate("image => image.naturalWidth") > 0
    expect(panel.locator("mark")).to_contain_text("The valve of the harbour is closed at night.")
    expect(panel.get_by_role("region", name="Scores")).to_contain_text(re.compile(r"Relevance\s*\d+%"))
    for term in ("Meaning", "Words", "Importance"):
        expect(panel.locator("dt", has_text=term)).to_be_visible()
    expect(panel).to_contain_text(re.compile("Found by .*the search in texts"))
    path = panel.get_by_role("region", name="Paths in the knowledge graph").locator(".path", has_text="Ada Lovelace")
    expect(path.first).to_contain_text(re.compile("→.+→"))
    assert serious_faults(page) == []
    panel.get_by_role("button", name="Next source").click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text("[2]")
    expect(panel.get_by_role("img", name="Page 1 of harbour.pdf")).to_be_visible()
    expect(panel.get_by_role("button", name="Next source")).to_be_disabled()
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(pdf_answer.get_by_role("button", name="Source 1", exact=True)).to_be_focused()


def test_the_turn_is_shown_as_it_ran(visitor: Visitor, pdf_answer: Locator) -> None:
    page = visitor.page
    pdf_answer.get_by_role("button", name="How it was made").click()
    panel = panel_of(page)
    steps = panel.get_by_role("table", name="Steps of the turn")
    for node in ("search text", "read map", "search graph"):
        expect(steps.get_by_role("row").filter(has=page.get_by_role("rowheader", name=node))).to_contain_text("Harbour")
    expect(steps).to_contain_text(re.compile(r"\d+ ms"))
    assert panel.locator("svg.lanes rect").count() == steps.get_by_role("row").count() - 1
    after = panel.get_by_role("table", name="Hits after the rerank")
    expect(after.get_by_role("row").nth(1)).to_contain_text(re.compile(r"harbour\.pdf.*0\.\d{3}.*texts", re.DOTALL))
    panel.locator("summary", has_text="Before the rerank").click()
    expect(panel.get_by_role("table", name="Hits before the rerank")).to_contain_text("harbour.pdf")
    panel.get_by_text("The context as the model got it").click()
    expect(panel.get_by_label("The context", exact=True)).to_contain_text("The valve of the harbour")
    expect(panel).to_contain_text("stub/all")
    assert serious_faults(page) == []
    after.get_by_role("button").first.click()
    expect(panel.get_by_role("heading", level=2)).to_contain_text("[1]")


def test_a_text_is_opened_at_its_passage_and_stays_text(visitor: Visitor) -> None:
    page = visitor.page
    name = "<img src=x onerror='caught=1'>.md"
    base, [document] = taught(visitor, (name, HOSTILE.encode()))
    visitor.provider.answer = "At dawn [1]."
    visitor.ask("What does the crane lift, cocoa at dawn?")
    number = visitor.answered("At dawn").get_by_role("button", name="Source 1", exact=True)
    number.click()
    panel = panel_of(page)
    expect(panel.locator("mark")).to_contain_text("<script>window.caught = 1</script> lifts cocoa at dawn.")
    expect(panel.locator("mark")).to_be_in_viewport()
    assert panel.locator(".surroundings").evaluate("box => box.scrollTop") > 0
    expect(panel.locator("mark")).not_to_contain_text("Line 0 of")
    expect(panel.locator("img, script")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="How it was made").click()
    expect(panel.get_by_role("table", name="Hits after the rerank")).to_contain_text("onerror")
    expect(panel.locator("img, script")).to_have_count(0)
    visitor.chatting.client.delete(f"/knowledge/kb/{base}/documents/{document}").raise_for_status()
    number.click()
    expect(panel.get_by_role("note")).to_contain_text("The document was deleted since.")
    expect(panel.locator(".passage")).to_contain_text("Line ")
    assert page.evaluate("'caught' in window") is False


def test_an_answer_tells_which_search_it_does_without(visitor: Visitor) -> None:
    """With the reason, beside the answer, in its turn, and after a reload."""
    page = visitor.page
    client = visitor.chatting.client
    base = filled_base(client, ("harbour.pdf", PDF), embedding="openai/text-embedding-3-small")
    visitor.choose(visitor.chatting.bot(name="Guide", knowledgeBaseIds=[base]))
    visitor.provider.next_embeddings(*(Refuse(400, message="no <b>such</b> model") for _ in range(8)))
    visitor.ask("When is the valve of the harbour closed?")
    for _ in range(2):
        note = visitor.answered("The stub answers.").get_by_role("note")
        expect(note).to_contain_text("This answer does without a part of what was to be searched:")
        expect(note.get_by_role("listitem")).to_contain_text(re.compile("^the search in texts: .+"))
        expect(note.locator("b")).to_have_count(0)
        page.reload()
    [answer] = [each for each in visitor.chatting.messages(visitor.conversation) if each["role"] == "assistant"]
    expect(visitor.answers.get_by_role("note")).to_contain_text(answer["degraded"][0]["reason"])
    visitor.answers.get_by_role("button", name="How it was made").click()
    expect(panel_of(page).get_by_role("note")).to_contain_text("the search in texts")
    failed = panel_of(page).get_by_role("row").filter(has=page.get_by_role("rowheader", name="search text"))
    expect(failed.last).to_contain_text("in failure")


def test_usage_tells_what_was_used(visitor: Visitor) -> None:
    page = visitor.page
    visitor.ask("Why?")
    visitor.answered("The stub answers.")
    used = visitor.chatting.client.get("/api/usage").json()["totals"]
    page.get_by_role("navigation", name="Rooms").get_by_role("link", name="Usage").click()
    expect(page.locator(".totals")).to_contain_text(f"{used['totalTokens']:,}")
    expect(page.get_by_role("table", name="Usage by model")).to_contain_text("stub/all")
    page.get_by_text("As a table").click()
    expect(page.get_by_role("table", name="Usage day by day")).to_contain_text(f"{used['totalTokens']:,}")
    expect(page.get_by_role("region", name="Storage")).to_contain_text("B")
    page.get_by_label("Days").select_option("30 days")
    expect(page.locator(".chart rect")).to_have_count(30)
    page.get_by_label("Measure").select_option("Cost")
    assert serious_faults(page) == []
    page.set_viewport_size({"width": 375, "height": 740})
    assert page.evaluate("document.querySelector('main').scrollWidth <= 375")


def test_a_key_for_chatting_is_told_calmly_that_usage_is_not_for_it(visited: "Visited", browser: Browser) -> None:
    with ThreadPoolExecutor(1) as thread:
        key = thread.submit(visited.launcher.key, str(uuid4()), "chat").result()
    with httpx.Client(base_url=visited.url, headers={"Authorization": f"Bearer {key}"}) as client:
        visitor = begin_visit(browser, Chatting(client, visited.provider))
        visitor.open("usage")
        expect(visitor.page.get_by_role("main")).to_contain_text("This key may chat, but not see")
        visitor.context.close()
    assert visitor.errors == []
