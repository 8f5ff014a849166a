"""The benchmarks that `python -m bench` runs, each in a process of its own, one after the other."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Report, read_report
from bench.steps import RESULTS, Step, read_step

Tell = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """A module of ours. `seconds` is about how long it takes: its share of the bar. One that is not `usual` is run
    where it is named."""

    name: str
    seconds: int
    arguments: tuple[str, ...] = ()
    usual: bool = True


BENCHES = (
    Bench("start", 85),
    Bench("turn", 215, ("--apart", "--rounds", "3", "--turns", "20")),
    Bench("fan_out", 60),
    Bench("growth", 100),
    Bench("upload", 45),
    Bench("load", 210),
    # Needs a browser.
    Bench("first_paint", 60, usual=False),
)
#: On judged data. Each prints tables of its own, and ends with 1 where a promise is broken.
JUDGED = (Bench("retrieval", 1800), Bench("multihop", 600), Bench("images", 60))


class BenchFailed(Exception):
    """It did not come to its figures. The text is what it said last."""


def chosen(benches: Sequence[Bench], only: Sequence[str]) -> list[Bench]:
    """Those named, in our order; the usual ones where none is.

    Raises:
        ValueError: a name that is none of them.
    """
    if unknown := set(only) - {each.name for each in benches}:
        raise ValueError(f"no such benchmark: {', '.join(sorted(unknown))}")
    return [each for each in benches if each.name in only or (each.usual and not only)]


async def measure(bench: Bench, tell: Tell, *, results: Path = RESULTS) -> Report:
    """Raises `BenchFailed`."""
    path = results / f"{bench.name}.json"
    path.unlink(missing_ok=True)
    arguments = *bench.arguments, "--told", "--json", str(path)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", f"bench.{bench.name}", *arguments), stdout=PIPE, stderr=PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said = asyncio.create_task(process.stderr.read())
    async for line in process.stdout:
        if step := read_step(line.decode()):
            tell(step)
    code = await process.wait()
    if code or not path.exists():
        raise BenchFailed(f"{bench.name} ended with {code}:\n{(await said).decode()[-4000:]}")
    await said
    return read_report(path)


async def judge(bench: Bench, data: Path) -> int:
    """Runs one on judged data, with its own bar and tables; its exit code."""
    arguments = "--data", str(data), *bench.arguments
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", f"bench.{bench.name}", *arguments)
    return await process.wait()
