import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import office
from tributary.domain.errors import DamagedFile, EmptyFile, FileTooLarge
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing import grids
from tributary.files.parsing.delimited import parse_delimited
from tributary.files.parsing.grids import Cell, spread
from tributary.files.parsing.xlsx import parse_xlsx

Read = Callable[[bytes], ParsedDocument]


@pytest.fixture
def workbook(tmp_path: Path) -> Read:
    return lambda content: parse_xlsx(stored(tmp_path, content))


@pytest.fixture
def delimited(tmp_path: Path) -> Read:
    return lambda content: parse_delimited(stored(tmp_path, content))


def stored(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    return path


def test_each_sheet_is_a_section_with_its_table(workbook: Read) -> None:
    sheets: dict[str, list[list[object]]] = {
        "Ships": [["Name", "Built"], ["Ada", 1999]],
        "Empty": [],
        "Ports": [["Port", "Depth"], ["Kiel", 9.5]],
    }
    document = workbook(office.xlsx(sheets))
    assert document.text == (
        "# Ships\n\n| Name | Built |\n| --- | --- |\n| Ada | 1999 |\n\n"
        "# Ports\n\n| Port | Depth |\n| --- | --- |\n| Kiel | 9.5 |"
    )
    assert len(document.headings) == 2


def test_values_are_shown_as_people_write_them(workbook: Read) -> None:
    row = [
        0.1 + 0.2,
        12.0,
        True,
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 13, 5),  # noqa: DTZ001 - cells know no time zones
        datetime.time(7, 30),
        "two\nlines",
        None,
        "end",
    ]
    text = workbook(office.xlsx({"S": [["text", *map(str, range(8))], row]})).text
    assert (
        text.splitlines()[-1]
        == "| 0.3 | 12 | TRUE | 2024-02-29 | 2024-02-29 13:05:00 | 07:30:00 | two lines |  | end |"
    )


def test_formulas_give_the_values_that_were_calculated(workbook: Read) -> None:
    def change(book: Any) -> None:
        book["S"]["B2"] = "=A2*2"

    made = office.xlsx({"S": [["n", "twice"], [21, None]]}, change)
    calculated = office.changed(made, "xl/worksheets/sheet1.xml", b"<v></v>", b"<v>42</v>", b"<v />", b"<v>42</v>")
    assert "| 21 | 42 |" in workbook(calculated).text


def test_hidden_sheets_are_left_out(workbook: Read) -> None:
    def hide(book: Any) -> None:
        book["Secret"].sheet_state = "hidden"
        book["Deep"].sheet_state = "veryHidden"

    text = workbook(office.xlsx({"Open": [["a", "b"]], "Secret": [["salary", 5]], "Deep": [["key", 6]]}, hide)).text
    assert "Open" in text
    assert "salary" not in text
    assert "key" not in text


def test_titles_above_and_merged_cells_of_a_sheet_are_understood(workbook: Read) -> None:
    def merge(book: Any) -> None:
        book["S"].merge_cells("A1:C1")
        book["S"].merge_cells("A4:A5")

    rows: list[list[object]] = [
        ["Sales 2024"],
        [],
        ["Region", "Quarter", "Sum"],
        ["North", "Q1", 5],
        [None, "Q2", 6],
        [],
        ["South", "Q1", 7],
    ]
    assert workbook(office.xlsx({"S": rows}, merge)).text == (
        "# S\n\nSales 2024\n\n"
        "| Region | Quarter | Sum |\n| --- | --- | --- |\n| North | Q1 | 5 |\n| North | Q2 | 6 |\n\n"
        "| Region | Quarter | Sum |\n| --- | --- | --- |\n| South | Q1 | 7 |"
    )


def test_a_sheet_whose_cells_stand_far_apart_is_bounded(workbook: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    def far(book: Any) -> None:
        book["S"]["CV2000"] = "far"

    content = office.xlsx({"S": [["near"]]}, far)
    assert "far" in workbook(content).text
    monkeypatch.setattr(grids, "MAX_CELLS", 1_000)
    with pytest.raises(FileTooLarge, match="cells"):
        workbook(content)


def test_a_cell_in_the_last_corner_of_a_sheet_is_refused_before_anything_is_laid_out(workbook: Read) -> None:
    def far(book: Any) -> None:
        book["S"]["XFD1048576"] = "far"

    with pytest.raises(FileTooLarge, match="too far apart"):
        workbook(office.xlsx({"S": [["near"]]}, far))


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (office.xlsx({"S": []}), EmptyFile),
        (office.xlsx({"S": [["a"]]})[:-200], DamagedFile),
        (office.archive({"xl/workbook.xml": "<a>"}), DamagedFile),
    ],
)
def test_a_workbook_that_says_nothing_or_is_broken_is_refused(
    workbook: Read, content: bytes, error: type[Exception]
) -> None:
    with pytest.raises(error):
        workbook(content)


@pytest.mark.parametrize(
    "content",
    [
        b"name,age\nAda,36\nBob,7\n",
        b"name;age\r\nAda;36\r\nBob;7\r\n",
        b"name\tage\nAda\t36\nBob\t7",
        b"name|age\nAda|36\nBob|7",
        b"sep=;\nname;age\nAda;36\nBob;7",
        b'"name", "age"\n"Ada", "36"\n"Bob", "7"\n',
        "name;age\nAda;36\nBob;7\n".encode("utf-16"),
        b"\xef\xbb\xbfname,age\nAda,36\nBob,7\n",
    ],
)
def test_every_dialect_gives_the_same_table(delimited: Read, content: bytes) -> None:
    assert delimited(content).text == "| name | age |\n| --- | --- |\n| Ada | 36 |\n| Bob | 7 |"


def test_quotes_hold_separators_lines_and_quotes(delimited: Read) -> None:
    content = 'ort;text\nKöln;"eine; zwei\nZeilen ""hier"" | da"\n'.encode("cp1252")
    assert delimited(content).text.splitlines()[2:] == ['| Köln | eine; zwei Zeilen "hier" \\| da |']


def test_numbers_with_a_comma_do_not_make_the_comma_the_separator(delimited: Read) -> None:
    assert "| Ada | 1,5 |" in delimited(b"name;size\nAda;1,5\nBob;2,5\nCid;3\n").text


def test_a_table_without_names_has_no_header(delimited: Read) -> None:
    assert delimited(b"1,2\n3,4\n").text == "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 | 4 |"


def test_one_column_is_a_list_of_lines(delimited: Read) -> None:
    assert delimited(b"Ada\nBob\n").text == "Ada\n\nBob"


def test_a_quote_that_does_not_end_loses_nothing(delimited: Read) -> None:
    assert "last words" in delimited(b'a,b\n1,"open\n' + b"2,3\n" * 1_000 + b"last words").text


def test_a_line_of_ten_million_characters_is_read_within_bounds(delimited: Read) -> None:
    with pytest.raises(FileTooLarge):
        delimited(b"a," * 5_000_001)


def test_a_table_without_anything_in_it_is_empty(delimited: Read) -> None:
    with pytest.raises(EmptyFile):
        delimited(b" ;;\n;;\n")


def test_cells_may_cover_columns_and_rows() -> None:
    rows = [[Cell("a", 2), Cell("b", down=2)], [Cell("c"), Cell("d")], [Cell("e"), Cell("f"), Cell("g")]]
    assert spread(rows) == [["a", "a", "b"], ["c", "d", "b"], ["e", "f", "g"]]


def test_a_cell_that_claims_to_cover_millions_is_bounded() -> None:
    [row] = spread([[Cell("x", 10_000_000, 10_000_000)]])
    assert len(row) <= 256
