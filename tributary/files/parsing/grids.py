"""Tables as grids of texts: what all formats do with merged cells, empty edges and header rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tributary.domain.errors import FileTooLarge

Row = Sequence[str]

#: Cells of one table, with those that merged cells cover.
MAX_CELLS = 2_500_000
MAX_COLUMNS = 16_384
#: A merged cell's text stands in each cell that it covers, so that a row can be read alone; a longer one only once.
_REPEATED = 200
#: Cells that one merged cell covers at most across; nobody merges more on purpose.
_MAX_ACROSS = 256
_NUMBER = re.compile(r"[\s+\-–(]*(?:[$€£¥₹]|[A-Z]{3})?\s*\d[\d\s.,'’:/%-]*\)?\s*(?:[%$€£¥₹]|[A-Z]{3})?")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell with the number of columns and rows that it covers."""

    text: str
    across: int = 1
    down: int = 1


def spread(rows: Iterable[Sequence[Cell]]) -> list[list[str]]:
    """The grid of a table whose cells may cover several columns and rows.

    Raises:
        FileTooLarge: more than `MAX_CELLS`.
    """
    grid: list[list[str]] = []
    covered: dict[int, _Cover] = {}
    cells = 0
    for row in rows:
        line, begun = _spread_row(row, covered)
        covered = {at: _Cover(cover.text, cover.rows - 1) for at, cover in covered.items() if cover.rows > 1} | begun
        cells += len(line)
        check_cells(cells)
        grid.append(line)
    return grid


def check_cells(count: int) -> None:
    """Raises `FileTooLarge` above `MAX_CELLS`."""
    if count > MAX_CELLS:
        raise FileTooLarge(f"A table of the document has over {MAX_CELLS:,} cells, which is the most that is read.")


def trimmed(grid: Iterable[Row]) -> list[list[str]]:
    """The grid as a rectangle without empty rows and without empty columns at its sides."""
    rows = [list(row) for row in grid if any(row)]
    if not rows:
        return []
    width = max(map(len, rows))
    for row in rows:
        row.extend([""] * (width - len(row)))
    used = [column for column in range(width) if any(row[column] for row in rows)]
    return [row[used[0] : used[-1] + 1] for row in rows]


def is_header(rows: Sequence[Row]) -> bool:
    """Whether the first row names the columns: words in nearly all of them, short, each different, above something."""
    if len(rows) < 2:
        return False
    filled = sum(map(bool, rows[0]))
    names = [name for name, _ in groupby(rows[0]) if name]  # a merged name stands in several columns
    if filled * 4 < len(rows[0]) * 3 or len(set(names)) < len(names) or len(names) < min(2, len(rows[0])):
        return False
    return not any(_NUMBER.fullmatch(name) or len(name) > 100 for name in names)


@dataclass(frozen=True, slots=True)
class _Cover:
    """What a merged cell of a row above puts into a column, for so many rows more."""

    text: str
    rows: int


def _spread_row(row: Sequence[Cell], covered: Mapping[int, _Cover]) -> tuple[list[str], dict[int, _Cover]]:
    """The row's texts by column, and what its cells cover in the rows below."""
    line: list[str] = []
    begun: dict[int, _Cover] = {}
    for cell in row:
        while len(line) in covered:
            line.append(covered[len(line)].text)
        repeated = cell.text if len(cell.text) <= _REPEATED else ""
        for number in range(max(1, min(cell.across, _MAX_ACROSS))):
            if cell.down > 1:
                begun[len(line)] = _Cover(repeated, cell.down - 1)
            line.append(repeated if number else cell.text)
    behind = range(len(line), max(covered, default=-1) + 1)
    line.extend(covered[at].text if at in covered else "" for at in behind)
    return line, begun
