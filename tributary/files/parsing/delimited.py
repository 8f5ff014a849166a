"""Tables as text (CSV, TSV): in any encoding, with whichever separator their lines agree on."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from tributary.domain.errors import DamagedFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.grids import check_cells
from tributary.files.parsing.limits import MAX_CHARACTERS, check_characters, check_not_blank
from tributary.files.parsing.tabular import write_sheet
from tributary.files.parsing.writing import Writing, cleaned
from tributary.files.text import decode_text

_SEPARATORS = ",;\t|"
_SAMPLE_ROWS = 200
_SAMPLE_CHARACTERS = 200_000
#: Spreadsheets write the separator into a line of its own before the first.
_STATED = "sep="


def parse_delimited(path: Path) -> ParsedDocument:
    """The table with its first row as header where it reads like one.

    Raises:
        DamagedFile: it can't be decoded as text.
        EmptyFile: no cell has anything in it.
        FileTooLarge: more text than a document may have.
    """
    text = decode_text(path.read_bytes()).lstrip("\ufeff")
    check_characters(len(text))
    check_not_blank(text)
    first, _, rest = text.partition("\n")
    if first.lower().startswith(_STATED) and len(first) == len(_STATED) + 1:
        separator, text = first[-1], rest
    else:
        separator = choose_separator(text[:_SAMPLE_CHARACTERS])
    writing = Writing()
    write_sheet(writing, _rows(text, separator))
    return writing.document("")


def choose_separator(sample: str) -> str:
    """The separator with which most rows have the same number of columns, more than one; a comma where none does."""
    scores = {each: _agreement(sample, each) for each in _SEPARATORS}
    return max(_SEPARATORS, key=lambda each: scores[each])


def _agreement(sample: str, separator: str) -> tuple[float, int]:
    if separator not in sample:
        return 0.0, 0
    try:
        rows = list(islice(_reader(sample, separator), _SAMPLE_ROWS))
    except csv.Error:
        return 0.0, 0
    widths = Counter(len(row) for row in rows if row)
    width, count = max(widths.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
    return (count / widths.total(), width) if width > 1 else (0.0, 0)


def _rows(text: str, separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    cells = 0
    try:
        for row in _reader(text, separator):
            cells += len(row)
            check_cells(cells)
            rows.append([cleaned(cell) for cell in row])
    except csv.Error as error:
        raise DamagedFile("The table can't be read: its quotes don't end.") from error
    return rows


def _reader(text: str, separator: str) -> Sequence[list[str]]:
    csv.field_size_limit(MAX_CHARACTERS)
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)  # type: ignore[return-value]
