"""The benchmarks as one: which are chosen, how far each is, and what became of it."""

from pathlib import Path

import pytest

import bench.suite
from bench.figures import Figure, Report
from bench.steps import Step, Steps, read_step
from bench.suite import BENCHES, JUDGED, Bench, BenchFailed, chosen, measure


def test_the_usual_ones_are_run_where_none_is_named() -> None:
    assert chosen(BENCHES, []) == [each for each in BENCHES if each.usual]


def test_an_unusual_one_is_run_where_it_is_named() -> None:
    assert [each.name for each in chosen(BENCHES, ["first_paint"])] == ["first_paint"]


def test_some_keep_our_order_whatever_theirs_is() -> None:
    assert [each.name for each in chosen(BENCHES, ["turn", "start"])] == ["start", "turn"]


def test_an_unknown_name_is_told() -> None:
    with pytest.raises(ValueError, match="truns"):
        chosen(BENCHES, ["turn", "truns"])


def test_every_benchmark_is_a_module() -> None:
    folder = Path(bench.suite.__file__).parent
    assert all((folder / f"{each.name}.py").exists() for each in (*BENCHES, *JUDGED))


def test_the_whole_run_takes_twelve_minutes_at_most() -> None:
    assert sum(each.seconds for each in BENCHES if each.usual) <= 12 * 60


def test_steps_are_counted_and_told_with_what_is_done() -> None:
    told: list[Step] = []
    steps = Steps(told.append)
    steps.expect(2)
    steps.begin("round 1")
    steps.advance()
    steps.advance(5)
    assert told == [Step(0, 2, "round 1"), Step(1, 2, "round 1"), Step(2, 2, "round 1")]


def test_a_line_tells_a_step() -> None:
    assert read_step("step 3 20 round 1, over REST\n") == Step(3, 20, "round 1, over REST")


@pytest.mark.parametrize("line", ["", "a warning of a library", "step by step", "step 1 0 nothing", "steps 1 2 x"])
def test_any_other_line_tells_none(line: str) -> None:
    assert read_step(line) is None


PROGRAM = """
import pathlib, sys
print("step 1 2 half", flush=True)
pathlib.Path(sys.argv[sys.argv.index("--json") + 1]).write_text(REPORT)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a module `bench.made` that only this test's processes know."""
    (tmp_path / "bench").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bench" / "made.py"


async def test_a_benchmark_tells_its_steps_and_leaves_its_figures(module: Path, tmp_path: Path) -> None:
    report = Report("made", [Figure("how long", 1.5, "ms")])
    report.write(tmp_path / "report.json")
    module.write_text(PROGRAM.replace("REPORT", repr((tmp_path / "report.json").read_text())))
    told: list[Step] = []
    found = await measure(Bench("made", 1), told.append, results=tmp_path)
    assert (found.name, list(found.figures)) == ("made", list(report.figures))
    assert told == [Step(1, 2, "half")]


async def test_one_that_fails_says_what_it_said_last(module: Path, tmp_path: Path) -> None:
    module.write_text("raise SystemExit('the disk is full')")
    with pytest.raises(BenchFailed, match="the disk is full"):
        await measure(Bench("made", 1), print, results=tmp_path)


async def test_figures_of_an_earlier_run_are_not_taken_for_this_one(module: Path, tmp_path: Path) -> None:
    Report("made", []).write(tmp_path / "made.json")
    module.write_text("")
    with pytest.raises(BenchFailed):
        await measure(Bench("made", 1), print, results=tmp_path)
