"""Cells as they are shown, and sheets of them as titles and tables."""

import datetime
from collections.abc import Iterator, Sequence

from tributary.files.parsing.grids import is_header, trimmed
from tributary.files.parsing.writing import Writing, cleaned

Value = object


def shown(value: Value) -> str:
    """A cell's value as text: numbers with the 15 digits that spreadsheets keep, dates as ISO 8601 has them."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.replace(tzinfo=None).isoformat(" ", "seconds")
    if isinstance(value, datetime.time):
        return value.isoformat("seconds")
    if isinstance(value, datetime.timedelta):
        return _duration(value)
    return cleaned(str(value))


def write_sheet(writing: Writing, rows: Sequence[Sequence[str]]) -> None:
    """Writes a sheet region by region. Regions are parted by empty rows; one that goes on below an empty row, in the
    same columns, has the header of the one above."""
    above: tuple[int, list[str]] | None = None
    for region in _regions(rows):
        first = next(at for at in range(max(map(len, region))) if any(at < len(row) and row[at] for row in region))
        grid = trimmed(region)
        while grid and len(grid[0]) > 1 and _is_title(grid[0]):
            writing.paragraph(grid.pop(0)[0])
            grid = trimmed(grid)
        header = is_header(grid)
        if header:
            above = first, grid[0]
        elif above is not None and above[0] == first and len(above[1]) == len(grid[0]) > 1:
            grid, header = [above[1], *grid], True
        writing.table(grid, header=header)


def _regions(rows: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    region: list[Sequence[str]] = []
    for row in rows:
        if any(row):
            region.append(row)
        elif region:
            yield region
            region = []
    if region:
        yield region


def _is_title(row: Sequence[str]) -> bool:
    """One text across the table, in one cell or in merged ones."""
    return len({text for text in row if text}) == 1 and any(map(str.isalpha, row[0]))


def _duration(value: datetime.timedelta) -> str:
    minutes, seconds = divmod(round(value.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}"
