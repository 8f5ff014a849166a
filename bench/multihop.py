"""Whether the knowledge graph helps: passage recall with and without it, on questions of several steps and of one.

    python -m bench.multihop --data DIR [--sets NAME …] [--single NAME …] [--documents N] [--questions N] [--ablate]

Everything is the product's: splitter, local embedder, local extractor, PostgreSQL, merge and rerank. For each set, in
one run: recall@5 of vectors alone, words alone, and the product's order without and with the graph; what the graph
adds, with the 95 % interval of a paired bootstrap; and what it costs in time. `--ablate` leaves out each kind of link
from the question into the graph in turn (`bench.ablation`). Exits with 1 where a promise is broken:
no set of several steps may lose, all together gain at least 5 points, and no set of single steps may lose for sure.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from uuid import UUID

from platformdirs import user_cache_path
from rich.console import Console
from rich.table import Table

from bench import ablation
from bench.collection import fill, organisation, smaller, split_set
from bench.datasets import BenchQuery, BenchSet, load_set
from bench.graph_searching import Searching
from bench.machine import surroundings
from bench.metrics import Difference, ndcg_at_k, paired_bootstrap, recall_at_k
from bench.parts import Parts
from bench.retrieval import SETS as ALL_SETS
from bench.retrieval import WHOLE
from bench.vector_cache import VectorCache
from stores.postgres.database import Database
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.graph_engine import PostgresGraphEngine
from stores.postgres.migrate import migrate
from tributary.domain.retrieval import RelationFact
from tributary.models.embeddings import TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.settings import E5, Settings

MULTI = tuple(name for name in ALL_SETS if name.startswith("multihop/"))
SINGLE = tuple(name for name in ALL_SETS if not name.startswith("multihop/"))
ORDERS = ("vectors", "words", "without", "with")
#: Points of recall@5 that the graph adds to questions of several steps, on average over the sets.
LEAST_GAIN = 0.05


@dataclass
class Outcome:
    """One set. By order, a figure for each question; `graph_seconds` is what the graph's part of a search took."""

    bench_set: BenchSet
    recall: dict[str, list[float]] = field(default_factory=dict)
    ndcg: dict[str, list[float]] = field(default_factory=dict)
    #: By order of the connections, the share of the judged passages that state a given one.
    stated: dict[str, list[float]] = field(default_factory=dict)
    text_seconds: list[float] = field(default_factory=list)
    graph_seconds: list[float] = field(default_factory=list)

    def judge(self, query: BenchQuery, rankings: dict[str, list[str]]) -> None:
        grades = self.bench_set.judgements[query.id]
        for order, units in rankings.items():
            self.recall.setdefault(order, []).append(recall_at_k(units, grades, 5))
            self.ndcg.setdefault(order, []).append(ndcg_at_k(units, grades))

    def judge_connections(self, query: BenchQuery, given: Mapping[str, Sequence[RelationFact]]) -> None:
        relevant = [text for unit, text in self._texts.items() if unit in self.bench_set.judgements[query.id]]
        for order, relations in given.items():
            self.stated.setdefault(order, []).append(ablation.stated_share(relations, relevant))

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {unit: text for each in self.bench_set.documents for unit, text in each.units.items()}

    @cached_property
    def gain(self) -> Difference:
        """How much more recall@5 with the graph than without."""
        return paired_bootstrap(self.recall["without"], self.recall["with"])

    @cached_property
    def ndcg_gain(self) -> Difference:
        """The same in nDCG@10, which sees each place that an answer loses."""
        return paired_bootstrap(self.ndcg["without"], self.ndcg["with"])


async def measure(
    database: Database,
    organisation_id: UUID,
    embedder: TextEmbedder,
    cache: VectorCache,
    bench_set: BenchSet,
    *,
    ablate: bool,
) -> Outcome:
    documents = await asyncio.to_thread(split_set, bench_set, embedder)
    vectors = await cache.documents([text for each in documents for text in each.texts])
    asked = await cache.queries([query.text for query in bench_set.queries])
    base, units = await fill(
        database, organisation_id, embedder, documents, vectors, graph=PostgresGraphEngine(database)
    )
    async with database.upkeep() as connection:
        await connection.execute("ANALYZE")
    parts, searching = Parts(documents, vectors), Searching(database, organisation_id, base.id, embedder)
    outcome = Outcome(bench_set)
    for query, vector in zip(bench_set.queries, asked, strict=True):
        orders, text_seconds, graph_seconds = await searching.ask(query.text, vector)
        outcome.text_seconds.append(text_seconds)
        outcome.graph_seconds.append(graph_seconds)
        if ablate:
            fewer, connections = await searching.ablate(query.text, vector)
            orders |= fewer
            outcome.judge_connections(query, connections)
        rankings = {order: list(dict.fromkeys(units[each] for each in chunks)) for order, chunks in orders.items()}
        outcome.judge(query, parts.rankings(query.text, vector) | rankings)
    return outcome


async def run(options: argparse.Namespace, console: Console) -> list[Outcome]:
    """Everything on a PostgreSQL of its own, in a folder that goes with the run."""
    embedders = TextEmbedders(Settings())
    embedder = await embedders.prepare(options.embedding)
    cache = VectorCache(embedder, user_cache_path("tributary-bench"))
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="tributary-bench-") as folder:
        postgres = EmbeddedPostgres(Path(folder) / "pg")
        dsn = postgres.start()
        try:
            access = await migrate(dsn, dsn)
            database = Database(dsn, role=access.role)
            await database.open()
            try:
                owner = await organisation(database)
                for name in (*options.sets, *options.single):
                    chosen = smaller(load_set(options.data, name, limit=options.questions), options.documents)
                    outcome = await measure(database, owner, embedder, cache, chosen, ablate=options.ablate)
                    outcomes.append(outcome)
                    console.print(_line(outcome), highlight=False)
            finally:
                await database.close()
        finally:
            postgres.stop()
    cache.close()
    await embedders.aclose()
    return outcomes


def broken_promises(outcomes: Sequence[Outcome]) -> list[str]:
    several = [each for each in outcomes if each.bench_set.name in MULTI]
    broken = [f"{each.bench_set.name} loses {-each.gain.mean:.3f}" for each in several if each.gain.mean < 0]
    gain = statistics.fmean(each.gain.mean for each in several) if several else LEAST_GAIN
    if gain < LEAST_GAIN:
        broken.append(f"the graph adds {gain:+.3f} on average, not {LEAST_GAIN:+.3f}")
    single = [each for each in outcomes if each.bench_set.name not in MULTI]
    return broken + [
        f"{each.bench_set.name} loses {-gain.mean:.3f} of {measure}, which is no chance"
        for each in single
        for measure, gain in (("recall@5", each.gain), ("nDCG@10", each.ndcg_gain))
        if gain.high < 0
    ]


def _line(outcome: Outcome) -> str:
    recall = "  ".join(f"{order} {statistics.fmean(outcome.recall[order]):.3f}" for order in ORDERS)
    return f"{outcome.bench_set.name}: {recall}"


def write_table(console: Console, outcomes: Sequence[Outcome]) -> None:
    table = Table(title="recall@5 (nDCG@10), and what the graph adds to each")
    table.add_column("set", no_wrap=True)
    for heading in ("docs", "asked", *ORDERS, "recall@5 [95 %]", "nDCG@10 [95 %]", "text ms", "graph ms (95 %)"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in outcomes:
        table.add_row(
            each.bench_set.name,
            str(len(each.bench_set.documents)),
            str(len(each.bench_set.queries)),
            *(f"{statistics.fmean(each.recall[o]):.3f} ({statistics.fmean(each.ndcg[o]):.3f})" for o in ORDERS),
            *(f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]" for gain in (each.gain, each.ndcg_gain)),
            f"{1000 * statistics.median(each.text_seconds):.0f}",
            f"{1000 * statistics.median(each.graph_seconds):.0f} ({1000 * _p95(each.graph_seconds):.0f})",
        )
    console.print(table)


def write_ablation(console: Console, outcomes: Sequence[Outcome]) -> None:
    table = Table(title="recall@5 with fewer links into the graph; judged passages that a given connection stands in")
    table.add_column("set", no_wrap=True)
    for heading in ("without", *ablation.ORDERS, "with", "sentences add [95 %]", *ablation.CONNECTIONS):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in outcomes:
        added = paired_bootstrap(each.recall["passages"], each.recall["with"])
        table.add_row(
            each.bench_set.name,
            *(f"{statistics.fmean(each.recall[order]):.3f}" for order in ("without", *ablation.ORDERS, "with")),
            f"{added.mean:+.3f} [{added.low:+.3f}, {added.high:+.3f}]",
            *(f"{statistics.fmean(each.stated[order]):.3f}" for order in ablation.CONNECTIONS),
        )
    console.print(table)


def _p95(seconds: Sequence[float]) -> float:
    return sorted(seconds)[int(0.95 * (len(seconds) - 1))]


def write_json(path: Path, outcomes: Sequence[Outcome], machine: dict[str, object], broken: Sequence[str]) -> None:
    sets = [
        {
            "set": each.bench_set.name,
            "documents": len(each.bench_set.documents),
            "questions": len(each.bench_set.queries),
            "recall@5": {order: statistics.fmean(figures) for order, figures in each.recall.items()},
            "ndcg@10": {order: statistics.fmean(figures) for order, figures in each.ndcg.items()},
            "stated": {order: statistics.fmean(figures) for order, figures in each.stated.items()},
            "gain": asdict(each.gain),
            "ndcg_gain": asdict(each.ndcg_gain),
            "text_seconds": statistics.median(each.text_seconds),
            "graph_seconds": statistics.median(each.graph_seconds),
            "graph_seconds_p95": _p95(each.graph_seconds),
        }
        for each in outcomes
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"surroundings": machine, "sets": sets, "broken": list(broken)}
    path.write_text(json.dumps(content, indent=1), "utf8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder of the judged sets")
    parser.add_argument("--embedding", default=E5, help="a local embedder")
    parser.add_argument("--sets", nargs="*", default=list(MULTI), help="sets of questions of several steps")
    parser.add_argument("--single", nargs="*", default=list(SINGLE), help="sets of questions of one step")
    parser.add_argument("--documents", type=int, default=WHOLE, help="documents of a set at most")
    parser.add_argument("--questions", type=int, default=600, help="questions of a set at most")
    parser.add_argument("--ablate", action="store_true", help="also leave out each kind of link from the question")
    parser.add_argument("--json", type=Path, default=Path("build/bench/multihop.json"), help="where the figures go")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 200)
    machine = surroundings()
    outcomes = asyncio.run(run(options, console))
    broken = broken_promises(outcomes)
    write_table(console, outcomes)
    if options.ablate:
        write_ablation(console, outcomes)
    write_json(options.json, outcomes, dict(machine), broken)
    for line in broken:
        console.print(f"Not as promised: {line}", style="bold red")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
