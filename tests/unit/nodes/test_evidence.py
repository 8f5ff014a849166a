"""What sets the passages apart that a graph leads to."""

from uuid import UUID

from nodes.retrieval.evidence import set_apart
from stores.protocols.graph import Passage


def passages(*evidence: float) -> list[Passage]:
    return [Passage(UUID(int=n + 1), UUID(int=99), each) for n, each in enumerate(evidence)]


def kept(*evidence: float, limit: int) -> list[float]:
    return [round(each.evidence, 6) for each in set_apart(passages(*evidence), limit=limit)]


def test_what_those_left_out_have_as_well_is_no_evidence() -> None:
    assert kept(1.0, 0.6, 0.2, 0.2, limit=3) == [1.0, 0.5, 0.0]


def test_where_none_is_left_out_all_evidence_counts() -> None:
    assert kept(0.6, 0.2, limit=2) == [0.6, 0.2]


def test_evidence_that_all_have_alike_sets_none_apart() -> None:
    assert kept(0.2, 0.2, 0.2, limit=2) == [0.0, 0.0]
    assert kept(1.0, 1.0, 1.0, limit=2) == [0.0, 0.0]


def test_the_best_of_nothing_is_nothing() -> None:
    assert kept(limit=2) == []
