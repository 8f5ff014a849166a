"""Words and numbers in the graphics of Office documents: charts, diagrams, alternative texts, embedded pictures."""

from collections.abc import Iterator, Sequence
from itertools import islice

from tributary.files.parsing.package import Package
from tributary.files.parsing.xml import Element, attribute, child, children, descendants, name_of, number

#: Points of a chart that are read.
_MAX_POINTS = 10_000


def pictures_of(package: Package, part: str, drawing: Element) -> Iterator[str]:
    """The parts of the pictures that a drawing shows, as far as they lie in the package."""
    relations = package.relations(part)
    for each in drawing.iter():
        name = name_of(each)
        if name == "Fallback":
            continue
        ids = {"blip": "embed", "imagedata": "id"}.get(name)
        related = relations.get(attribute(each, ids) or "") if ids else None
        if related is not None and related.part:
            yield related.part


def alternative_text(drawing: Element) -> str:
    """What the author wrote for those who can't see it."""
    for each in drawing.iter():
        if name_of(each) in {"docPr", "cNvPr"} and (described := attribute(each, "descr")):
            return described
    return ""


def diagram_lines(package: Package, part: str, graphic: Element) -> list[str]:
    """The texts of a diagram (SmartArt), in the order of its data."""
    relations = package.relations(part)
    lines: list[str] = []
    for each in descendants(graphic, "relIds"):
        related = relations.get(attribute(each, "dm") or "")
        root = package.xml(related.part) if related is not None and related.part else None
        for point in descendants(root, "pt") if root is not None else ():
            text = child(point, "t")
            lines += ["".join(t.text or "" for t in descendants(p, "t")) for p in children(text, "p")]
    return [line for line in lines if line.strip()]


def charts_of(package: Package, part: str, graphic: Element) -> Iterator[tuple[str, list[list[str]]]]:
    """Title and table (categories by series) of each chart."""
    relations = package.relations(part)
    for each in descendants(graphic, "chart"):
        related = relations.get(attribute(each, "id") or "")
        root = package.xml(related.part) if related is not None and related.part else None
        if root is not None:
            title = child(root, "chart", "title")
            words = "" if title is None else "".join(t.text or "" for t in descendants(title, "t"))
            yield words, _chart_rows(root)


def _chart_rows(root: Element) -> list[list[str]]:
    series = list(islice(descendants(root, "ser"), 100))
    categories: dict[int, str] = {}
    for each in series:
        categories |= _points(_either(each, "cat", "xVal")) if not categories else {}
    columns = [_points(_either(each, "val", "yVal")) for each in series]
    places = sorted(set(categories).union(*columns))[:_MAX_POINTS]
    names = [" ".join(_points(child(each, "tx")).values()) or _literal(each) for each in series]
    return [["", *names], *([categories.get(at, ""), *(column.get(at, "") for column in columns)] for at in places)]


def _either(element: Element, *names: str) -> Element | None:
    return next((found for name in names if (found := child(element, name)) is not None), None)


def _literal(series: Element) -> str:
    text = child(series, "tx", "v")
    return (text.text or "") if text is not None else ""


def _points(element: Element | None) -> dict[int, str]:
    """The cached values by their index."""
    if element is None:
        return {}
    found: dict[int, str] = {}
    for point in islice(descendants(element, "pt"), _MAX_POINTS):
        value = child(point, "v")
        found[number(attribute(point, "idx"))] = (value.text or "") if value is not None else ""
    return found


def says_anything(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a chart's table says anything."""
    return any(any(row[1:]) for row in rows[1:])
