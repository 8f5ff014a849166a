"""A knowledge graph as one HTML file that needs nothing else: no network, no other file.

The layout is made here, so that a page of thousands of nodes stands still from the first moment. Names are data: they
reach the page as JSON that can't close its element, and are only ever drawn as text. A policy in the page forbids all
scripts but ours, which is named by its digest.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from stores.protocols.graph_engines import GraphEdge, GraphNode

Points = npt.NDArray[np.float64]

_TEMPLATE = Path(__file__).with_name("drawing.html")
_SCRIPT = Path(__file__).with_name("drawing.js")
#: What the browser page draws graphs with, too: a module that imports nothing.
_CANVAS = Path(__file__).parent / "page" / "static" / "lib" / "graph_canvas.js"
_PLACE = re.compile(r"\{\{(\w+)\}\}")
#: Steps of the layout, and nodes above which fewer are taken.
_STEPS = 150
_MANY = 800
#: What a relation pulls, and the middle, per unit of distance.
_PULL = 0.8
_GRAVITY = 0.6
_ESCAPES = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def draw(title: str, nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> str:
    """The page. Edges whose ends are not among the nodes are left out. CPU work of seconds for thousands of nodes."""
    places = {node.id: index for index, node in enumerate(nodes)}
    inside = [edge for edge in edges if edge.source in places and edge.target in places]
    pairs = np.array([[places[edge.source], places[edge.target]] for edge in inside], dtype=np.int64).reshape(-1, 2)
    points = layout(len(nodes), pairs)
    data = {
        "nodes": [
            [node.name, node.type, node.description, node.mentions, round(float(x), 1), round(float(y), 1)]
            for node, (x, y) in zip(nodes, points, strict=True)
        ],
        "edges": [
            [places[edge.source], places[edge.target], edge.relation, edge.description, round(edge.weight, 2)]
            for edge in inside
        ],
    }
    canvas = _CANVAS.read_text(encoding="utf-8").replace("\nexport ", "\n")
    script = f'"use strict";\n{canvas}{_SCRIPT.read_text(encoding="utf-8")}'
    parts = {
        "digest": base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "script": script,
        "title": html.escape(title),
        "data": json.dumps(data, ensure_ascii=False, allow_nan=False).translate(_ESCAPES),
    }
    # In one pass: what is put in is not looked through for places.
    return _PLACE.sub(lambda place: parts[place[1]], _TEMPLATE.read_text(encoding="utf-8"))


def layout(count: int, pairs: npt.NDArray[np.int64]) -> Points:
    """Places for nodes: related ones near each other, all others apart, hubs with room around them, all of it held
    together by a pull to the middle (the forces of ForceAtlas2). The same graph always gets the same places."""
    if count == 0:
        return np.zeros((0, 2))
    points = _spiral(count)
    weights = 1.0 + np.bincount(pairs.ravel(), minlength=count).astype(np.float64)[:, None]
    steps = _STEPS if count <= _MANY else max(40, _STEPS * _MANY // count)
    for step in range(steps):
        moves = (_repulsion(points, weights) * weights + _attraction(points, pairs)) / weights - points * _GRAVITY
        lengths = np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-9)
        warmth = np.sqrt(count) * 0.3 * (1.0 - step / steps) + 0.05
        points = points + moves / lengths * np.minimum(lengths * 0.5, warmth)
    return points * 24.0


def _spiral(count: int) -> Points:
    """The first node, the most mentioned, in the middle; no two in one place."""
    index = np.arange(count)
    angle = index * np.pi * (3.0 - np.sqrt(5.0))
    places: Points = np.sqrt(index + 0.5)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return places


def _repulsion(points: Points, weights: Points) -> Points:
    """Of each node from all others, as their weight over the distance: a sum of differences is a difference of sums,
    so that no array of all differences is needed."""
    near = points.astype(np.float32)
    squares = (near**2).sum(axis=1)
    pushes = near @ near.T
    pushes *= -2.0
    pushes += squares[:, None]
    pushes += squares[None, :]
    np.maximum(pushes, 0.05, out=pushes)
    np.divide(weights.astype(np.float32).T, pushes, out=pushes)
    forces: Points = near * pushes.sum(axis=1, keepdims=True) - pushes @ near
    return forces.astype(np.float64)


def _attraction(points: Points, pairs: npt.NDArray[np.int64]) -> Points:
    forces = np.zeros_like(points)
    if len(pairs):
        difference = points[pairs[:, 1]] - points[pairs[:, 0]]
        pull = difference * _PULL
        np.add.at(forces, pairs[:, 0], pull)
        np.add.at(forces, pairs[:, 1], -pull)
    return forces
