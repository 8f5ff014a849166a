"""Merging and reranking hits."""

from hypothesis import given
from hypothesis import strategies as st

from nodes.retrieval.ranking import merge, needs_terms, rerank
from tributary.domain.bots import Weights
from tributary.domain.retrieval import Hit


def hit(chunk: str, *, branch: str = "text", **terms: float) -> Hit:
    return Hit(
        chunkId=chunk,
        documentId="d",
        knowledgeBaseId="k",
        vector=terms.get("vector", 0.0),
        text=terms.get("text", 0.0),
        importance=terms.get("importance", 0.5),
        evidence=terms.get("evidence", 0.0),
        branches=[branch],
    )


def test_the_score_is_60_25_15() -> None:
    [ranked] = rerank([hit("a", vector=0.8, text=0.4, importance=1.0)], Weights())
    assert ranked["score"] == round(0.6 * 0.8 + 0.25 * 0.4 + 0.15 * 1.0, 6)


def test_the_best_five_come_first() -> None:
    ranked = rerank([hit(str(n), vector=n / 10) for n in range(9)], Weights())
    assert [each["chunkId"] for each in ranked] == ["8", "7", "6", "5", "4"]


def test_ties_are_ordered_by_chunk() -> None:
    ranked = rerank([hit("b"), hit("a"), hit("c")], Weights())
    assert [each["chunkId"] for each in ranked] == ["a", "b", "c"]


def test_a_chunk_found_twice_is_one_hit_with_the_best_of_each_term() -> None:
    [merged] = merge([hit("a", vector=0.9), hit("a", branch="graph", text=0.7, evidence=0.5)])
    assert (merged["vector"], merged["text"], merged["evidence"]) == (0.9, 0.7, 0.5)
    assert merged["branches"] == ["graph", "text"]


def test_graph_evidence_raises_the_vector_term_and_never_over_one() -> None:
    [without] = rerank([hit("a", vector=0.6)], Weights())
    [with_evidence] = rerank([hit("a", vector=0.6, evidence=1.0)], Weights())
    [full] = rerank([hit("a", vector=1.0, evidence=1.0)], Weights())
    assert with_evidence["score"] > without["score"]
    assert with_evidence["vector"] > 0.6
    assert full["vector"] == 1.0


def test_only_hits_that_no_text_search_judged_wait_for_their_terms() -> None:
    assert needs_terms(hit("a", branch="image"))
    assert not needs_terms(hit("a", branch="text"))


def test_weights_of_zero_rank_without_a_division_by_zero() -> None:
    assert rerank([hit("a", vector=1.0)], Weights(0.0, 0.0, 0.0))[0]["score"] == 0.0


@given(
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
    st.lists(st.floats(0, 1), min_size=3, max_size=3),
)
def test_a_score_stays_within_zero_and_one(terms: list[float], weights: list[float]) -> None:
    vector, text, importance, evidence = terms
    [ranked] = rerank([hit("a", vector=vector, text=text, importance=importance, evidence=evidence)], Weights(*weights))
    assert 0.0 <= ranked["score"] <= 1.0
    assert 0.0 <= ranked["vector"] <= 1.0
