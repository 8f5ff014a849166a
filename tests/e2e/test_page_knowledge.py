"""Looking after knowledge bases in the page, in a real browser."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support import office
from tests.support.accessibility import serious_faults
from tests.support.documents import filled_base
from tests.support.hands import Drag
from tests.support.pages import pdf_of
from tests.support.visiting import Visitor

pytest_plugins = ["tests.support.visiting_fixtures"]

HARBOUR = b"""# Harbour report

Marie Lindqvist works for Northwind Shipping. Northwind Shipping owns the Albatross Ferry.
The Albatross Ferry sails to Port Ellen. Marie Lindqvist inspected the Albatross Ferry in Port Ellen.
"""
HOSTILE = "<img src=x onerror=alert(1)>\u202e.txt"


def add(page: Page, *files: tuple[str, bytes]) -> None:
    given: list[Any] = [{"name": name, "mimeType": "", "buffer": content} for name, content in files]
    page.get_by_label("Files to add").set_input_files(given)


def documents(page: Page) -> Locator:
    return page.get_by_role("list", name="Documents").get_by_role("listitem")


def test_documents_are_added_found_walked_changed_and_deleted(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    visitor.open("knowledge")
    page.get_by_role("button", name="New knowledge base").click()
    page.get_by_label("Name").fill("Harbour")
    page.get_by_label("Description").fill("Ferries")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Harbour")).to_be_visible()
    add(page, ("harbour.md", HARBOUR), ("empty.txt", b""), ("tool.exe", b"MZ" + b"\0" * 200))
    refused = page.get_by_role("list", name="Uploads").locator(".refused")
    expect(refused).to_have_count(2)
    expect(refused.filter(has_text="empty.txt").locator(".reason")).to_contain_text("empty")
    expect(refused.filter(has_text="tool.exe").locator(".reason")).not_to_be_empty()
    expect(documents(page)).to_have_count(1)
    expect(documents(page)).to_contain_text("Ready")

    page.get_by_role("link", name="Search", exact=True).click()
    page.get_by_label("Search in the documents").fill("Where does the Albatross Ferry sail?")
    page.keyboard.press("Enter")
    hit = page.get_by_role("list", name="Results").get_by_role("listitem").first
    for score in ("Score", "Similarity", "Words", "Importance"):
        expect(hit).to_contain_text(re.compile(rf"{score} \d+%"))
    hit.get_by_role("button").click()
    expect(page.locator("aside mark")).to_contain_text("Port Ellen")

    page.get_by_role("link", name="Graph", exact=True).click()
    entities = page.get_by_role("region", name="Entities")
    entities.get_by_role("link", name="Northwind Shipping").first.click()
    expect(entities.get_by_role("heading", name="Northwind Shipping")).to_be_visible()
    entities.get_by_role("list", name="Connections").get_by_role("link", name="Albatross Ferry").first.press("Enter")
    expect(entities.get_by_role("heading", name="Albatross Ferry")).to_be_visible()
    page.go_back()
    expect(entities.get_by_role("heading", name="Northwind Shipping")).to_be_visible()

    page.get_by_role("link", name="Documents", exact=True).click()
    documents(page).get_by_role("button").click()
    panel = page.get_by_role("complementary")
    panel.get_by_label("Importance").fill("0.9")
    panel.get_by_label("Title").fill("The harbour")
    panel.get_by_role("button", name="Save changes").click()
    expect(documents(page)).to_contain_text("The harbour")
    base = page.url.split("/knowledge/")[1].split("/")[0]
    [document] = client.get(f"/knowledge/kb/{base}/documents").json()["items"]
    assert (document["importance"], document["title"]) == (0.9, "The harbour")

    panel.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No document yet.")).to_be_visible()
    found = client.post(f"/knowledge/kb/{base}/search", json={"query": "Albatross Ferry"}).json()["results"]
    assert found == []


def test_a_page_and_a_picture_are_shown_where_a_passage_stands_on_them(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    pages = pdf_of(["The pump runs at noon.", "The valve is closed at night. \U0001f6a2"])
    base = filled_base(client, ("pumps.pdf", pages), ("green.png", office.picture("green")))
    visitor.open(f"knowledge/{base}/search/valve%20at%20night")
    results = page.get_by_role("list", name="Results").get_by_role("listitem")
    results.filter(has_text="valve").first.get_by_role("button").click()
    drawn = page.get_by_role("img", name="Page 2 of pumps.pdf, with the passage marked")
    expect(drawn).to_be_visible()
    expect(page.locator("aside mark")).to_contain_text("The valve is closed")
    expect(drawn).to_have_js_property("complete", True)
    assert drawn.evaluate("image => image.naturalWidth") > 0
    picture: Any = {"name": "like.png", "mimeType": "image/png", "buffer": office.picture("green")}
    page.get_by_label("Picture to search by").set_input_files(picture)
    expect(page.get_by_role("img", name="The picture that was searched by")).to_be_visible()
    thumbnail = results.filter(has_text="green").first.locator("img.thumbnail")
    expect(thumbnail).to_have_js_property("complete", True)
    assert thumbnail.evaluate("image => image.naturalWidth") > 0


def test_names_and_texts_of_strangers_stay_text(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("<b>bold.md", HARBOUR + b"\n\n<script>alert(1)</script> <img src=x onerror=alert(2)>"))
    visitor.open(f"knowledge/{base}")
    add(page, (HOSTILE, b""))
    expect(page.locator(".uploads .refused")).to_contain_text("<img src=x")
    documents(page).get_by_role("button").click()
    page.get_by_role("button", name="Read it").click()
    expect(page.locator("aside .passage")).to_contain_text("Marie Lindqvist works for")
    assert page.locator("img[src='x'], .knowledge b b, aside script").count() == 0


def test_files_are_dragged_onto_a_knowledge_base(visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    base = filled_base(visitor.chatting.client)
    visitor.open(f"knowledge/{base}")
    (tmp_path / "harbour.md").write_bytes(HARBOUR)
    (tmp_path / "empty.txt").write_bytes(b"")
    drag = Drag(page, *tmp_path.iterdir())
    drag.over(page.get_by_role("heading", name="Harbour"))
    expect(page.get_by_text("Drop files here")).to_be_visible()
    drag.drop()
    expect(page.get_by_text("Drop files here")).to_have_count(0)
    expect(documents(page)).to_have_count(1)
    expect(documents(page)).to_contain_text("Ready")
    expect(page.locator(".uploads .refused")).to_contain_text("empty.txt")


def test_a_document_is_replaced_and_read_again(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("harbour.md", HARBOUR))
    [before] = client.get(f"/knowledge/kb/{base}/documents").json()["items"]
    visitor.open(f"knowledge/{base}")
    documents(page).get_by_role("button").click()
    panel = page.get_by_role("complementary")
    replacement: Any = {"name": "harbour.md", "mimeType": "", "buffer": b"# Quay\n\nThe quay is closed for repairs."}
    panel.get_by_label("File that replaces it").set_input_files(replacement)
    expect(panel).to_contain_text("The quay is closed for repairs.")
    expect(documents(page)).to_contain_text("Ready")
    [after] = client.get(f"/knowledge/kb/{base}/documents").json()["items"]
    assert (after["id"], after["size"]) == (before["id"], len(replacement["buffer"]))
    for query, words in (("Where does the Albatross Ferry sail?", 0), ("Is the quay closed?", 1)):
        found = client.post(f"/knowledge/kb/{base}/search", json={"query": query}).json()["results"]
        assert sum("Albatross" in each["text"] for each in found) == 0
        assert len(found) >= words
    with page.expect_response(lambda response: response.url.endswith("/reingest")) as asked:
        panel.get_by_role("button", name="Read again").click()
    assert asked.value.ok
    expect(panel).to_contain_text("Ready")
    broken: Any = {"name": "harbour.pdf", "mimeType": "", "buffer": b"%PDF-1.7\nand nothing more"}
    panel.get_by_label("File that replaces it").set_input_files(broken)
    expect(page.get_by_role("complementary").locator(".reason, [role=alert]")).to_contain_text("PDF")


def test_a_knowledge_base_is_renamed_and_deleted(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("harbour.md", HARBOUR))
    other = filled_base(client, name="Airport")
    visitor.open(f"knowledge/{base}")
    bases = page.get_by_role("navigation", name="Knowledge bases").get_by_role("link")
    expect(bases).to_have_count(2)
    page.get_by_role("button", name="Change knowledge base").click()
    form = page.get_by_role("dialog", name="Change knowledge base")
    form.get_by_label("Name").fill("Quay")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Quay")).to_be_visible()
    expect(bases.filter(has_text="Quay")).to_have_count(1)
    assert client.get(f"/knowledge/kb/{base}").json()["name"] == "Quay"
    page.get_by_role("button", name="Delete knowledge base").click()
    asked = page.get_by_role("dialog", name="Delete this knowledge base?")
    asked.get_by_role("button", name="Keep").click()
    expect(bases).to_have_count(2)
    page.get_by_role("button", name="Delete knowledge base").click()
    asked.get_by_role("button", name="Delete").click()
    expect(bases).to_have_count(1)
    expect(bases).to_contain_text("Airport")
    assert [each["id"] for each in client.get("/knowledge/kb").json()["items"]] == [other]
    visitor.open(f"knowledge/{base}")
    expect(page.get_by_role("heading", name="This knowledge base is not here")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_the_room(visitor: Visitor, scheme: Any) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("harbour.md", HARBOUR))
    page.emulate_media(color_scheme=scheme)
    visitor.open(f"knowledge/{base}")
    add(page, ("empty.txt", b""))
    documents(page).get_by_role("button").click()
    expect(page.get_by_role("button", name="Save changes")).to_be_visible()
    assert serious_faults(page) == []
    visitor.open(f"knowledge/{base}/search/ferry")
    page.get_by_role("list", name="Results").get_by_role("button").first.click()
    expect(page.locator("aside mark")).to_be_visible()
    assert serious_faults(page) == []
    visitor.open(f"knowledge/{base}/graph")
    page.get_by_role("region", name="Entities").get_by_role("link").first.click()
    expect(page.locator(".entity")).to_be_visible()
    assert serious_faults(page) == []


def test_a_key_for_chats_sees_no_controls_that_it_may_not_use(visitor: Visitor) -> None:
    page, client = visitor.page, visitor.chatting.client
    base = filled_base(client, ("harbour.md", HARBOUR))
    # What the server says of a key for chats; the cookie stays the owner's.
    page.route("**/api/session", lambda route: route.fulfill(json={**route.fetch().json(), "scope": "chat"}))
    page.goto(f"{visitor.url}/#/knowledge/{base}")
    page.reload()
    documents(page).get_by_role("button").click()
    expect(page.get_by_role("button", name="Read it")).to_be_visible()
    for name in ("New knowledge base", "Add files", "Save changes", "Delete", "Replace…", "Change knowledge base"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("link", name="Search", exact=True)).to_be_visible()
