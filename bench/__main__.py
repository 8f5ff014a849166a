"""What Tributary costs, in one table.

    python -m bench [--only turn,start] [--data DIR] [--markdown]

Runs the benchmarks one after the other, each in a process of its own, and prints each question with its figure, what
is promised of it, and whether that holds. The figures stand in build/bench/*.json as well. With `--data`, the folder
of the judged sets, what is measured on those comes behind the table. `--markdown` measures nothing: it prints the
table of the last run as it stands in the documentation.

Ends with 1 where a benchmark did not come to its figures, and where one on judged data says that a promise is broken; a
target of the table that is missed is said there alone.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bench.figures import Report, markdown_of, read_report, table_of
from bench.machine import surroundings
from bench.steps import RESULTS, Step, progress_bar
from bench.suite import BENCHES, JUDGED, Bench, BenchFailed, chosen, judge, measure


async def measure_all(benches: Sequence[Bench], progress: Progress) -> tuple[list[Report], list[BenchFailed]]:
    """One bar over all of them: each moves it by its share of the time."""
    reports, failures = [], []
    task = progress.add_task("", total=sum(each.seconds for each in benches))
    behind = 0
    for bench in benches:

        def show(step: Step, bench: Bench = bench, behind: int = behind) -> None:
            done = behind + bench.seconds * step.done / step.total
            progress.update(task, completed=done, description=f"{bench.name}: {step.text}")

        show(Step(0, 1, ""))
        try:
            reports.append(await measure(bench, show))
        except BenchFailed as failure:
            failures.append(failure)
        behind += bench.seconds
    return reports, failures


def last_run(benches: Sequence[Bench]) -> list[Report]:
    paths = [RESULTS / f"{each.name}.json" for each in benches]
    return [read_report(path) for path in paths if path.exists()]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = ", ".join(each.name for each in (*BENCHES, *JUDGED))
    parser.add_argument("--only", default="", help=f"some of them, with commas between: {names}")
    parser.add_argument("--data", type=Path, help="folder of the judged sets")
    parser.add_argument("--markdown", action="store_true", help="prints the table of the last run")
    options = parser.parse_args()
    options.only = [each for each in options.only.split(",") if each]
    try:
        options.benches = chosen((*BENCHES, *JUDGED), options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.data is None and (judged := [each.name for each in options.benches if each in JUDGED and options.only]):
        parser.error(f"--data is needed for {', '.join(judged)}")
    return options


def main() -> None:
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 150)
    timed = [each for each in options.benches if each in BENCHES]
    if options.markdown:
        print(markdown_of(last_run(timed)))
        return
    failed = bool(timed) and _show(timed, console)
    if options.data is not None:
        codes = [asyncio.run(judge(each, options.data)) for each in options.benches if each in JUDGED]
        failed = failed or any(codes)
    sys.exit(failed)


def _show(benches: Sequence[Bench], console: Console) -> bool:
    """Measures, prints the table, and says whether one failed."""
    with progress_bar(console) as progress:
        reports, failures = asyncio.run(measure_all(benches, progress))
    console.print(table_of(reports, "What Tributary costs"))
    console.print_json(data=surroundings(), indent=None)
    for failure in failures:
        console.print(str(failure), style="red", markup=False, highlight=False)
    return bool(failures)


if __name__ == "__main__":
    main()
