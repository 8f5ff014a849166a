"""Tables of an HTML page: their rows, and which of them only lay the page out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from tributary.files.parsing.grids import Cell, Row, spread
from tributary.files.parsing.xml import number

_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
#: What stands in the cells of tables that only put things beside each other.
_LAYOUT = "table, h1, h2, h3, h4, h5, h6, pre, article, section, main, form"
_LAYOUT_CELL = 2_000
_MOST_ROWS = 65_534


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """`header` is None where the page doesn't say whether the first row names the columns."""

    caption: str
    rows: Sequence[Row]
    header: bool | None


def is_layout(table: LexborNode) -> bool:
    if (table.attributes.get("role") or "").lower() in {"presentation", "none"}:
        return True
    inner = table.css_first(_LAYOUT)
    return inner is not None and (inner.mem_id != table.mem_id or len(table.css(_LAYOUT)) > 1)


def read_table(table: LexborNode, text_of: Callable[[LexborNode], str]) -> HtmlTable | None:
    """The table; None where its cells are too long for one, or it has only one of them."""
    rows = list(_rows(table))
    cells = [[(cell, text_of(cell)) for cell in _cells(row)] for row in rows]
    if sum(map(len, cells)) <= 1 or any(len(text) > _LAYOUT_CELL for row in cells for _, text in row):
        return None
    grid = spread([Cell(text, _span(cell, "colspan"), _down(cell)) for cell, text in row] for row in cells)
    caption = next((each for each in table.iter() if each.tag == "caption"), None)
    told = "" if caption is None else text_of(caption)
    heading = _heading_rows(rows, cells)
    if heading == 0:
        return HtmlTable(told, grid, None)
    names = [" ".join(dict.fromkeys(filter(None, column))) for column in zip(*_even(grid[:heading]), strict=True)]
    return HtmlTable(told, [names, *grid[heading:]], header=len(grid) > heading or heading > 1 or None)


def _rows(table: LexborNode) -> Iterator[LexborNode]:
    for each in table.iter():
        if each.tag == "tr":
            yield each
        elif each.tag in _SECTIONS:
            yield from (row for row in each.iter() if row.tag == "tr")


def _cells(row: LexborNode) -> Iterator[LexborNode]:
    return (each for each in row.iter() if each.tag in {"td", "th"})


def _heading_rows(rows: Sequence[LexborNode], cells: Sequence[Sequence[tuple[LexborNode, str]]]) -> int:
    """How many of the first rows name the columns, as the page says it."""
    count = 0
    for row, row_cells in zip(rows, cells, strict=True):
        in_head = row.parent is not None and row.parent.tag == "thead"
        named = bool(row_cells) and all(cell.tag == "th" for cell, _ in row_cells)
        if not (in_head or named) or count == 5:
            break
        count += 1
    return count if count < len(rows) else 0


def _even(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    width = max(map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def _span(cell: LexborNode, name: str) -> int:
    return max(1, number(cell.attributes.get(name), 1))


def _down(cell: LexborNode) -> int:
    """0 means all rows that follow."""
    stated = number(cell.attributes.get("rowspan"), 1)
    return min(stated, _MOST_ROWS) if stated > 0 else _MOST_ROWS
