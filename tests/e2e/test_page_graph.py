"""The knowledge graph in the page as a drawing: walked, dragged and brought nearer with the pointer."""

import re

from playwright.sync_api import Page, expect

from tests.support.documents import filled_base
from tests.support.drawn_graph import click_entity, dot_of, watch_drawings
from tests.support.visiting import Visitor

pytest_plugins = ["tests.support.visiting_fixtures"]

HARBOUR = b"""# Harbour report

Marie Lindqvist works for Northwind Shipping. Northwind Shipping owns the Albatross Ferry.
The Albatross Ferry sails to Port Ellen. Marie Lindqvist inspected the Albatross Ferry in Port Ellen.
"""


def heading(page: Page, name: str) -> None:
    expect(page.get_by_role("region", name="Entities").get_by_role("heading", name=name)).to_be_visible()


def test_the_drawing_is_walked_by_clicks(visitor: Visitor) -> None:
    watch_drawings(visitor.context)
    page = visitor.page
    base = filled_base(visitor.chatting.client, ("harbour.md", HARBOUR))
    page.goto("about:blank")
    visitor.open(f"knowledge/{base}/graph")
    click_entity(page, "Northwind Shipping")
    heading(page, "Northwind Shipping")
    assert re.search(r"/graph/[0-9a-f-]{36}$", page.url)
    # What is written on the lit lines is the relation; who stands at their other end is a step away.
    click_entity(page, "Albatross Ferry")
    heading(page, "Albatross Ferry")
    click_entity(page, "Port Ellen")
    heading(page, "Port Ellen")
    page.go_back()
    heading(page, "Albatross Ferry")
    # Where nobody is, a click leads nowhere.
    page.locator(".graph-picture canvas").click(position={"x": 3, "y": 3})
    heading(page, "Albatross Ferry")


def test_the_drawing_is_dragged_and_brought_nearer(visitor: Visitor) -> None:
    watch_drawings(visitor.context)
    page = visitor.page
    base = filled_base(visitor.chatting.client, ("harbour.md", HARBOUR))
    page.goto("about:blank")
    visitor.open(f"knowledge/{base}/graph")
    canvas = page.locator(".graph-picture canvas")
    before = dot_of(page, "Albatross Ferry")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + before["x"], box["y"] + before["y"])
    page.mouse.down()
    page.mouse.move(box["x"] + before["x"] + 40, box["y"] + before["y"] + 30, steps=4)
    page.mouse.up()
    moved = dot_of(page, "Albatross Ferry")
    assert (round(moved["x"] - before["x"]), round(moved["y"] - before["y"])) == (40, 30)
    # To drag is not to choose.
    assert page.url.endswith("/graph")
    page.get_by_role("button", name="All", exact=True).click()
    again = dot_of(page, "Albatross Ferry")
    assert (round(again["x"]), round(again["y"])) == (round(before["x"]), round(before["y"]))
    apart = dot_of(page, "Port Ellen")["x"] - again["x"]
    page.get_by_role("button", name="Nearer").click()
    nearer = dot_of(page, "Port Ellen")["x"] - dot_of(page, "Albatross Ferry")["x"]
    assert abs(nearer / apart - 1.3) < 0.01
