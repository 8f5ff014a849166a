"""What a benchmark found: figures with their targets, as a table for people and as JSON beside it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import JustifyMethod
from rich.table import Table

from bench.machine import surroundings

HEADINGS = ("question", "figure", "±", "target", "met")


@dataclass(frozen=True, slots=True)
class Bound:
    """The most that a figure may be, or the least that it has to be. Being equal is enough."""

    limit: float
    least: bool = False

    def holds(self, value: float) -> bool:
        return value >= self.limit if self.least else value <= self.limit

    def told(self, unit: str) -> str:
        return f"{'≥' if self.least else '≤'} {quantity(self.limit, unit)}"


@dataclass(frozen=True, slots=True)
class Figure:
    """The answer to one question. `spread` is the largest distance of a run from the median, as a share of it."""

    question: str
    value: float
    unit: str = ""
    bound: Bound | None = None
    spread: float | None = None

    @property
    def met(self) -> bool | None:
        """None where nothing is promised."""
        return None if self.bound is None else self.bound.holds(self.value)

    def cells(self) -> tuple[str, ...]:
        """As `HEADINGS` name them."""
        apart = "" if self.spread is None else f"{self.spread:.0%}"
        target = "" if self.bound is None else self.bound.told(self.unit)
        return self.question, quantity(self.value, self.unit), apart, target, _VERDICTS[self.met]


_VERDICTS = {None: "", True: "yes", False: "NO"}


@dataclass(frozen=True, slots=True)
class Report:
    """What one benchmark found. `details` is for those who look closer: anything that JSON can hold."""

    name: str
    figures: Sequence[Figure]
    details: Mapping[str, Any] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        """Beside the figures stands where, with what and under which load they were taken."""
        figures = [asdict(each) | {"met": each.met} for each in self.figures]
        content = {"name": self.name, "surroundings": surroundings(), "figures": figures, **self.details}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf8")


def read_report(path: Path) -> Report:
    """What `Report.write` wrote."""
    content = json.loads(path.read_text("utf8"))
    return Report(content.pop("name"), [_figure(row) for row in content.pop("figures")], content)


def _figure(row: Mapping[str, Any]) -> Figure:
    bound = Bound(**row["bound"]) if row["bound"] else None
    return Figure(row["question"], row["value"], row["unit"], bound, row["spread"])


def quantity(value: float, unit: str = "") -> str:
    """As people read it: three digits that count, and the unit."""
    size = abs(value)
    digits = 0 if size >= 100 or value == int(value) else 1 if size >= 10 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def table_of(reports: Sequence[Report], title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left")
    for heading in HEADINGS:
        justify: JustifyMethod = "right" if heading in ("figure", "±") else "left"
        table.add_column(heading, justify=justify, no_wrap=heading != "question")
    for report in reports:
        for figure in report.figures:
            table.add_row(*figure.cells(), style="red" if figure.met is False else None)
        table.add_section()
    return table


def markdown_of(reports: Sequence[Report]) -> str:
    """The same for a page of the documentation."""
    lines = [_row(HEADINGS), "| --- | ---: | ---: | --- | --- |"]
    lines += [_row(figure.cells()) for report in reports for figure in report.figures]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
