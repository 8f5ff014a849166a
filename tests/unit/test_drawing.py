"""A knowledge graph as one HTML file."""

import html
import json
import re
from typing import Any

import numpy as np
import pytest

from stores.protocols.graph_engines import GraphEdge, GraphNode
from tributary.drawing import draw, layout

HOSTILE = [
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!-- <script>",
    "{{data}}{{script}}{{digest}}",
    "' & \" \\ \u2028 \u202e",
]


def node(identifier: str, name: str = "", mentions: int = 1) -> GraphNode:
    return GraphNode(identifier, name or identifier, "name", f"about {name}", mentions)


def edge(source: str, target: str, relation: str = "knows") -> GraphEdge:
    return GraphEdge(source, target, relation, "", 1.0)


def drawn(page: str) -> dict[str, Any]:
    """The data of the page, as a browser reads it."""
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    data: dict[str, Any] = json.loads(text)
    return data


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    page = draw(name, [node("a", name), node("b")], [edge("a", "b", name)])
    data = drawn(page)
    assert data["nodes"][0][0] == name
    assert data["edges"][0][2] == name
    plain = draw("", [node("a"), node("b")], [edge("a", "b")])
    assert page.count("<script") == plain.count("<script")
    assert html.unescape(page.split("<title>")[1].split("</title>")[0]) == name
    assert page.count("<img") == 0


def test_the_page_asks_for_nothing_and_runs_no_other_script() -> None:
    page = draw("kb", [node("a")], [])
    assert not re.search(r"(src|href)\s*=|https?://|@import|url\(", page)
    assert "default-src 'none'" in page
    assert "unsafe-inline" not in page.split("script-src", 1)[1].split('"', 1)[0]


def test_edges_to_what_is_not_drawn_are_left_out() -> None:
    data = drawn(draw("kb", [node("a"), node("b")], [edge("a", "b"), edge("a", "gone")]))
    assert [each[:2] for each in data["edges"]] == [[0, 1]]


def test_an_empty_graph_is_a_page_too() -> None:
    assert drawn(draw("kb", [], [])) == {"nodes": [], "edges": []}


def test_related_nodes_lie_nearer_than_others() -> None:
    pairs = np.array([[a, b] for side in (0, 10) for a in range(side, side + 10) for b in range(side, a)])
    points = layout(20, pairs)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    inside = np.mean([distances[a, b] for a, b in pairs])
    across = np.mean(distances[:10, 10:])
    assert inside < across


def test_no_two_nodes_lie_on_each_other() -> None:
    points = layout(60, np.array([[0, each] for each in range(1, 60)]))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(60) * 100
    assert np.isfinite(points).all()
    assert distances.min() > 1.0


def test_the_same_graph_is_drawn_alike_each_time() -> None:
    pairs = np.array([[0, 1], [1, 2], [2, 2]])
    assert (layout(4, pairs) == layout(4, pairs)).all()
