"""The table and the file of `bench.retrieval`."""

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.metrics import Difference
from bench.outcomes import CITED_AMONG, ORDERS, REFERENCES, Outcome


def write_row(console: Console, outcome: Outcome) -> None:
    """A set as soon as it is measured."""
    figures = "  ".join(f"{order} {outcome.mean(order):.3f}" for order in ORDERS)
    console.print(f"{outcome.embedding} {outcome.bench_set.name}: {figures}  {outcome.verdict}", highlight=False)


def write_table(
    console: Console, outcomes: Sequence[Outcome], surroundings: Mapping[str, object], broken: Sequence[str]
) -> None:
    for embedding in dict.fromkeys(each.embedding for each in outcomes):
        console.print(_table(embedding, [each for each in outcomes if each.embedding == embedding]))
    for outcome in outcomes:
        if outcome.cited:
            shares = ", ".join(f"{order} {statistics.fmean(outcome.cited[order]):.1%}" for order in ORDERS)
            count = len(outcome.cited["ours"])
            console.print(
                f"{outcome.bench_set.name}, {outcome.embedding}: the cited page among the first {CITED_AMONG}; {count} "
                f"questions with a sound citation: {shares}",
                highlight=False,
            )
    console.print(json.dumps(surroundings), highlight=False, soft_wrap=True)
    for line in broken:
        console.print(f"Not as promised: {line}", style="bold red")


def _table(embedding: str, outcomes: Sequence[Outcome]) -> Table:
    table = Table(title=f"{embedding}: nDCG@10 (recall@5)")
    table.add_column("set", no_wrap=True)
    for heading in ("docs", "chunks", "asked", *ORDERS):
        table.add_column(heading, justify="right", no_wrap=True)
    for name in REFERENCES:
        table.add_column(f"over {name} [95 %]", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("ms", justify="right")
    for each in outcomes:
        sizes = (len(each.bench_set.documents), each.chunks, len(each.bench_set.queries))
        table.add_row(
            each.bench_set.name,
            *map(str, sizes),
            *(f"{each.mean(order):.3f} ({statistics.fmean(each.recall[order]):.3f})" for order in ORDERS),
            *(_interval(each.gains[name]) for name in REFERENCES),
            each.verdict,
            f"{1000 * statistics.median(each.seconds):.0f}",
        )
    means = (f"{statistics.fmean(each.mean(order) for each in outcomes):.3f}" for order in ORDERS)
    table.add_section()
    table.add_row("mean", "", "", "", *means)
    return table


def _interval(gain: Difference) -> str:
    return f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]"


def write_json(
    path: Path, outcomes: Sequence[Outcome], surroundings: Mapping[str, object], broken: Sequence[str]
) -> None:
    """Everything that the table says, and more exactly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"surroundings": surroundings, "sets": [_figures(each) for each in outcomes], "broken": list(broken)}
    path.write_text(json.dumps(content, indent=1), "utf8")


def _figures(outcome: Outcome) -> dict[str, Any]:
    return {
        "embedding": outcome.embedding,
        "set": outcome.bench_set.name,
        "documents": len(outcome.bench_set.documents),
        "chunks": outcome.chunks,
        "questions": len(outcome.bench_set.queries),
        "ndcg@10": {order: outcome.mean(order) for order in ORDERS},
        "recall@5": {order: statistics.fmean(outcome.recall[order]) for order in ORDERS},
        "cited": {order: statistics.fmean(shares) for order, shares in outcome.cited.items()},
        "gain": {name: asdict(gain) for name, gain in outcome.gains.items()},
        "verdict": outcome.verdict,
        "median_seconds": statistics.median(outcome.seconds),
    }
