"""How far a benchmark is: on a bar of its own, or told to whoever started it, who shows one bar for all.

Told means lines on stdout, `step DONE TOTAL TEXT`; stderr stays for what goes wrong.
"""

import argparse
import asyncio
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from bench.figures import Report, table_of
from bench.machine import surroundings

MARK = "step"
RESULTS = Path("build/bench")


class Step(NamedTuple):
    done: int
    total: int
    text: str


class Steps:
    """Counts the steps of one benchmark, and passes each on."""

    def __init__(self, tell: Callable[[Step], None]) -> None:
        self._tell = tell
        self._step = Step(0, 1, "")

    def expect(self, total: int) -> None:
        """So many steps in all."""
        self._step = Step(0, total, "")

    def begin(self, text: str) -> None:
        """What is done now; nothing is finished by it."""
        self._step = self._step._replace(text=text)
        self._tell(self._step)

    def advance(self, count: int = 1) -> None:
        self._step = self._step._replace(done=min(self._step.done + count, self._step.total))
        self._tell(self._step)


Measure = Callable[[argparse.Namespace, Steps], Coroutine[Any, Any, Report]]


def bench_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """With what every benchmark takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, default=RESULTS / f"{name}.json", help="where the figures go")
    parser.add_argument("--told", action="store_true", help="prints steps instead of a bar and a table")
    return parser


def run(parser: argparse.ArgumentParser, measure: Measure) -> None:
    """Measures, and writes the figures down: in a table unless steps are told, and in a file."""
    options = parser.parse_args()
    # Ended from outside it leaves no server behind either.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.told:
        asyncio.run(measure(options, Steps(_print))).write(options.json)
        return
    console = Console()
    with progress_bar(console) as progress:
        task = progress.add_task("", total=1.0)

        def show(step: Step) -> None:
            progress.update(task, completed=step.done / step.total, description=step.text)

        report = asyncio.run(measure(options, Steps(show)))
    report.write(options.json)
    console.print(table_of([report]))
    console.print_json(data=surroundings(), indent=None)


def _print(step: Step) -> None:
    print(MARK, step.done, step.total, step.text, flush=True)


def read_step(line: str) -> Step | None:
    """The step that a line tells, if it tells one."""
    mark, _, rest = line.rstrip("\n").partition(" ")
    done, total, text = [*rest.split(" ", 2), "", "", ""][:3]
    if mark != MARK or not done.isdigit() or not total.isdigit() or int(total) == 0:
        return None
    return Step(int(done), int(total), text)


def progress_bar(console: Console) -> Progress:
    columns = (BarColumn(), TimeElapsedColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=console, transient=True)
