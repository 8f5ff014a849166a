"""What a measurement of retrieval means, and which promises it breaks."""

from collections.abc import Sequence

import pytest

from bench.datasets import BenchDocument, BenchQuery, BenchSet
from bench.outcomes import ORDERS, Outcome, broken_promises
from tributary.domain.knowledge import Page, ParsedDocument
from tributary.settings import E5, MINILM

QUESTIONS = 60


def outcome(name: str = "some/set", embedding: str = MINILM, **ndcg: Sequence[float]) -> Outcome:
    """By order, the figures of the first questions, again and again; 0.5 where none are given."""
    made = Outcome(embedding, BenchSet(name, (), (), {}), chunks=1)
    for order in ORDERS:
        values = list(ndcg.get(order, (0.5,)))
        made.ndcg[order] = (values * QUESTIONS)[:QUESTIONS]
        made.recall[order] = [0.5] * QUESTIONS
    return made


def test_an_order_is_judged_by_the_ranks_of_what_is_relevant() -> None:
    bench_set = BenchSet("set", (), (), {"q": {"a": 1}})
    made = Outcome(E5, bench_set, chunks=1)
    made.judge(BenchQuery("q", "?", cites=True), {"ours": ["a", "b"], "words": ["b", "c", "d", "a"]})
    assert made.ndcg["ours"] == [1.0]
    assert made.recall["words"] == [1.0]
    assert made.cited == {"ours": [1.0], "words": [0.0]}


def test_a_wrong_citation_is_left_out_of_page_figures_alone() -> None:
    made = Outcome(E5, BenchSet("set", (), (), {"q": {"a": 1}}), chunks=1)
    made.judge(BenchQuery("q", "?", cites=False), {"ours": ["a"]})
    assert made.ndcg["ours"] == [1.0]
    assert made.cited == {}


def test_what_gains_over_the_better_part_is_above() -> None:
    assert outcome(vectors=[0.4], words=[0.5], ours=[0.51]).verdict == "above"


def test_what_loses_no_more_than_the_tolerance_is_equal() -> None:
    assert outcome(words=[0.7], ours=[0.695]).verdict == "equal"


def test_what_loses_by_chance_is_equal() -> None:
    assert outcome(words=[0.5, 0.5], ours=[0.0, 0.97]).verdict == "equal"


def test_what_loses_steadily_is_below_and_said() -> None:
    losing = outcome(vectors=[0.9], ours=[0.8])
    assert losing.verdict == "below"
    lines = broken_promises([losing, *(outcome(ours=[0.6]) for _ in range(3))], whole=False)
    assert lines == ["some/set with local/minilm is below vectors: -0.100"]


def test_losing_to_whole_documents_is_said() -> None:
    lines = broken_promises([outcome(uncut=[0.9], ours=[0.8])], whole=False)
    assert lines == ["some/set with local/minilm is below uncut: -0.100"]


def test_most_sets_must_be_above_both_parts() -> None:
    (line,) = broken_promises([outcome(ours=[0.6]), outcome()], whole=False)
    assert line == "with local/minilm only 1 of 2 sets are above both parts"


@pytest.mark.parametrize(("reached", "missed"), [(0.72, 0), (0.70, 1)])
def test_bounds_hold_for_whole_collections(reached: float, missed: int) -> None:
    measured = outcome("retrieval/scifact", E5, ours=[reached])
    assert len(broken_promises([measured], whole=True)) == missed
    assert broken_promises([measured], whole=False) == []


def test_cited_pages_must_be_among_the_first() -> None:
    measured = outcome("pages", E5, ours=[0.6])
    measured.cited["ours"] = [1.0, 0.0]
    assert broken_promises([measured], whole=True) == ["pages: cited page among the first 3 for 50.0%"]


def test_the_units_of_a_paged_document_are_its_pages() -> None:
    parsed = ParsedDocument("first\f second\f", (Page(1, 0, 6), Page(2, 6, 14)), "Title")
    assert BenchDocument("a.pdf", parsed, paged=True).units == {"a.pdf#page=1": "first\f", "a.pdf#page=2": " second\f"}
    assert BenchDocument("a.md", parsed, paged=False).units == {"a.md": "first\f second\f"}
