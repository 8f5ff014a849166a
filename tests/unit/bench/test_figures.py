"""Figures with their targets: what holds, how they read, and that a file gives them back."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from bench.figures import Bound, Figure, Report, markdown_of, quantity, read_report, table_of

FIGURES = [
    Figure("how long", 1234.5, "ms", Bound(2000.0), 0.034),
    Figure("how many", 0.875, "×", Bound(1.0, least=True)),
    Figure("how large", 64.25, "MB"),
]


def test_a_bound_holds_for_what_is_equal_to_it() -> None:
    assert Bound(1.15).holds(1.15)
    assert Bound(1.3, least=True).holds(1.3)


def test_the_most_and_the_least_are_told_apart() -> None:
    assert not Bound(1.15).holds(1.16)
    assert not Bound(1.3, least=True).holds(1.29)


def test_of_a_figure_without_a_target_nothing_is_said() -> None:
    assert [figure.met for figure in FIGURES] == [True, False, None]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1234.5, "ms", "1,234 ms"),
        (123.4, "", "123"),
        (50.0, "MB", "50 MB"),
        (12.34, "ms", "12.3 ms"),
        (1.154, "×", "1.15 ×"),
        (0.0, "", "0"),
        (-0.346, "ms", "-0.35 ms"),
    ],
)
def test_three_digits_count(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_a_file_gives_a_report_back(tmp_path: Path) -> None:
    report = Report("turn", FIGURES, {"rounds": [1.5, 2.5]})
    report.write(tmp_path / "new" / "turn.json")
    read = read_report(tmp_path / "new" / "turn.json")
    assert read.name == "turn"
    assert read.figures == FIGURES
    assert read.details["rounds"] == [1.5, 2.5]


def test_a_file_says_where_the_figures_were_taken(tmp_path: Path) -> None:
    Report("turn", FIGURES).write(tmp_path / "turn.json")
    surroundings = read_report(tmp_path / "turn.json").details["surroundings"]
    assert {"processor", "cores", "load", "python", "packages"} <= surroundings.keys()


def test_one_table_holds_the_figures_of_all_reports() -> None:
    shown = StringIO()
    reports = [Report("turn", FIGURES[:1]), Report("start", FIGURES[1:])]
    Console(file=shown, width=100).print(table_of(reports, "What it costs"))
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.getvalue().splitlines() if "│" in line]
    assert lines == [
        ["how long", "1,234 ms", "3%", "≤ 2,000 ms", "yes"],
        ["how many", "0.88 ×", "", "≥ 1 ×", "NO"],
        ["how large", "64.2 MB", "", "", ""],
    ]


def test_the_documentation_has_the_same_rows() -> None:
    assert markdown_of([Report("turn", FIGURES[:1])]).splitlines() == [
        "| question | figure | ± | target | met |",
        "| --- | ---: | ---: | --- | --- |",
        "| how long | 1,234 ms | 3% | ≤ 2,000 ms | yes |",
    ]
