"""Excel workbooks (XLSX, XLSM and their templates): a section a sheet, cells as they were last calculated.

Hidden sheets and comments are left out. Numbers are those of the cells, whatever format they are shown in.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

from tributary.domain.errors import DamagedFile, FileTooLarge
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.grids import check_cells
from tributary.files.parsing.package import Package, open_package
from tributary.files.parsing.tabular import shown, write_sheet
from tributary.files.parsing.titles import useful_title
from tributary.files.parsing.writing import Writing

#: A merged cell's text stands in all cells that it covers, up to so many of them.
_MAX_MERGED = 10_000
_REPEATED = 200
#: Cells of the rectangle that a sheet's cells span, empty ones included; the reader takes 24 bytes for each.
_MAX_EXTENT = 16_000_000
_REFERENCE = re.compile(rb"<c\s[^<>]{0,64}?\br=\"([A-Z]{1,3})(\d{1,7})\"")
_LONGEST_REFERENCE = 96


def parse_xlsx(path: Path) -> ParsedDocument:
    """The workbook's text; each sheet stands under a heading with its name.

    Raises:
        DamagedFile: it can't be read.
        EmptyFile: no cell of a visible sheet has anything in it.
        FileTooLarge: it unpacks to too much, or has too many cells or too much text.
    """
    with open_package(path) as package:
        _check_extents(package)
        title = useful_title(package.title())
    writing = Writing()
    try:
        workbook = CalamineWorkbook.from_path(str(path))
        for metadata in workbook.sheets_metadata:
            if metadata.typ is SheetTypeEnum.WorkSheet and metadata.visible is SheetVisibleEnum.Visible:
                rows = _rows(workbook.get_sheet_by_name(metadata.name))
                if any(map(any, rows)):
                    writing.heading(1, metadata.name)
                    write_sheet(writing, rows)
    except CalamineError as error:
        raise DamagedFile("The workbook is damaged: it can't be read.") from error
    return writing.document(title)


def _check_extents(package: Package) -> None:
    """The reader holds a sheet as a rectangle: one cell in its last corner would ask for 400 GB.

    Raises:
        DamagedFile: the archive is not as it declares.
        FileTooLarge: the cells of a sheet stand too far apart.
    """
    corners: dict[str, tuple[int, int]] = {}
    rest = b""
    for name, block in package.blocks():
        if not name.startswith("xl/worksheets/"):
            continue
        if name not in corners:
            rest = b""
        rest += block
        bottom, right = corners.get(name, (0, 0))
        for column, row in _REFERENCE.findall(rest):
            bottom, right = max(bottom, int(row)), max(right, _column_number(column))
        if bottom * right > _MAX_EXTENT:
            raise FileTooLarge(f"The cells of a sheet stand too far apart: over {bottom:,} rows and {right:,} columns.")
        corners[name] = bottom, right
        rest = rest[-_LONGEST_REFERENCE:]


def _column_number(letters: bytes) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _rows(sheet: CalamineSheet) -> list[list[str]]:
    check_cells(sheet.total_height * sheet.total_width)
    rows = [[shown(value) for value in row] for row in sheet.iter_rows()]
    for (top, left), (bottom, right) in _merged(sheet):
        _fill(rows, top, left, bottom, right)
    return rows


def _merged(sheet: CalamineSheet) -> Iterator[Sequence[tuple[int, int]]]:
    yield from sheet.merged_cell_ranges or ()


def _fill(rows: list[list[str]], top: int, left: int, bottom: int, right: int) -> None:
    bottom = min(bottom, len(rows) - 1)
    if top >= len(rows) or left >= len(rows[top]) or (bottom - top + 1) * (right - left + 1) > _MAX_MERGED:
        return
    text = rows[top][left]
    if not text or len(text) > _REPEATED:
        return
    for row in rows[top : bottom + 1]:
        for at in range(left, min(right + 1, len(row))):
            row[at] = row[at] or text
