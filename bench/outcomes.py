"""What the measurement of a set gave, what that means, and what is promised of all sets together."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bench.datasets import BenchQuery, BenchSet
from bench.metrics import Difference, ndcg_at_k, paired_bootstrap, recall_at_k
from tributary.settings import E5

PARTS = ("vectors", "words")
#: `uncut` is BM25 over whole documents: what splitting must not cost.
REFERENCES = (*PARTS, "uncut")
ORDERS = (*REFERENCES, "fusion", "ours")
#: How much less than the better part an order may gain, even where that is no chance.
TOLERANCE = 0.01
#: Where among the first pages a cited page has to stand, and for which share of the questions.
CITED_AMONG = 3
CITED_SHARE = 0.80
#: By embedder and set: the least nDCG@10 of our order.
LEAST = {(E5, "retrieval/scifact"): 0.715}


@dataclass
class Outcome:
    """One set with one embedder. By order, a figure for each question in `ndcg`, `recall` and `cited`; the last only of
    questions that name the page which holds their answer. `seconds`: of each search."""

    embedding: str
    bench_set: BenchSet
    chunks: int
    ndcg: dict[str, list[float]] = field(default_factory=dict)
    recall: dict[str, list[float]] = field(default_factory=dict)
    cited: dict[str, list[float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)

    def judge(self, query: BenchQuery, rankings: Mapping[str, Sequence[str]]) -> None:
        """Takes in the units that each order gave to a question, best first."""
        grades = self.bench_set.judgements[query.id]
        for order, units in rankings.items():
            self.ndcg.setdefault(order, []).append(ndcg_at_k(units, grades))
            self.recall.setdefault(order, []).append(recall_at_k(units, grades, 5))
            if query.cites:
                self.cited.setdefault(order, []).append(float(not grades.keys().isdisjoint(units[:CITED_AMONG])))

    def mean(self, order: str) -> float:
        """nDCG@10 of an order."""
        return statistics.fmean(self.ndcg[order])

    @cached_property
    def gains(self) -> dict[str, Difference]:
        """By reference, how much more nDCG@10 our order has."""
        return {name: paired_bootstrap(self.ndcg[name], self.ndcg["ours"]) for name in REFERENCES}

    @property
    def gain(self) -> Difference:
        """Over the better part."""
        return self.gains[max(PARTS, key=self.mean)]

    @property
    def verdict(self) -> str:
        """`above` both parts, `below` the better one by more than the tolerance and chance, or `equal`: between."""
        if self.gain.mean > 0:
            return "above"
        return "below" if _loses(self.gain) else "equal"


def _loses(gain: Difference) -> bool:
    return gain.mean < -TOLERANCE and gain.high < 0


def broken_promises(outcomes: Sequence[Outcome], *, whole: bool) -> list[str]:
    """What does not hold. Bounds on single figures are for `whole` collections only: smaller ones are easier."""
    broken = [
        f"{each.bench_set.name} with {each.embedding} is below {name}: {gain.mean:+.3f}"
        for each in outcomes
        for name, gain in each.gains.items()
        if _loses(gain)
    ]
    for embedding in dict.fromkeys(each.embedding for each in outcomes):
        verdicts = [each.verdict for each in outcomes if each.embedding == embedding]
        if verdicts.count("above") * 2 <= len(verdicts):
            broken.append(
                f"with {embedding} only {verdicts.count('above')} of {len(verdicts)} sets are above both parts"
            )
    return broken + [line for each in outcomes for line in (_missed(each) if whole else ())]


def _missed(outcome: Outcome) -> list[str]:
    missed = []
    least = LEAST.get((outcome.embedding, outcome.bench_set.name), 0.0)
    if outcome.mean("ours") < least:
        missed.append(f"{outcome.bench_set.name} with {outcome.embedding}: {outcome.mean('ours'):.3f}, not {least:.3f}")
    if outcome.cited and outcome.embedding == E5:
        share = statistics.fmean(outcome.cited["ours"])
        if share < CITED_SHARE:
            missed.append(f"{outcome.bench_set.name}: cited page among the first {CITED_AMONG} for {share:.1%}")
    return missed
