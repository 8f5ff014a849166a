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
    best = hit("best", vector=0.9, text=1.0, importance=1.0)
    _, without = rerank([best, hit("a", vector=0.6)], Weights())
    _, raised = rerank([best, hit("a", vector=0.6, evidence=0.5)], Weights())
    _, full = rerank([best, hit("a", vector=0.9, evidence=1.0)], Weights())
    assert raised["score"] > without["score"]
    assert raised["vector"] > 0.6
    assert full["vector"] == 1.0


def test_full_evidence_brings_a_passage_up_to_the_best_hit_of_the_question_itself_and_behind_it() -> None:
    ranked = rerank([hit("b", vector=0.7, text=0.2), hit("a", vector=0.1, evidence=1.0)], Weights())
    assert [each["chunkId"] for each in ranked] == ["b", "a"]
    assert ranked[0]["score"] == ranked[1]["score"]


def test_evidence_does_not_raise_what_answers_best_already() -> None:
    [best, _] = rerank([hit("a", vector=0.7, evidence=1.0), hit("b", vector=0.6)], Weights())
    assert best["vector"] == 0.7


def test_evidence_in_one_knowledge_base_does_not_reach_up_to_the_best_hit_of_another() -> None:
    elsewhere = Hit(**hit("a", vector=0.9, text=1.0) | {"knowledgeBaseId": "other"})
    *_, led_to = rerank([elsewhere, hit("b", vector=0.2), hit("c", vector=0.1, evidence=1.0)], Weights())
    assert (led_to["chunkId"], led_to["vector"]) == ("c", 0.2)


def test_evidence_alone_orders_what_no_search_judged() -> None:
    given = [hit("a", branch="graph", evidence=0.2), hit("b", branch="graph", evidence=0.9)]
    assert [(each["chunkId"], each["vector"]) for each in rerank(given, Weights())] == [("b", 0.9), ("a", 0.2)]


@given(st.lists(st.lists(st.floats(0, 1), min_size=4, max_size=4), min_size=1, max_size=6))
def test_no_evidence_takes_the_first_place_from_the_best_hit_of_the_question_itself(terms: list[list[float]]) -> None:
    hits = [
        hit(str(n), vector=vector, text=text, importance=importance, evidence=evidence)
        for n, (vector, text, importance, evidence) in enumerate(terms)
    ]
    plain = rerank([Hit(**each | {"evidence": 0.0}) for each in hits], Weights())
    assert rerank(hits, Weights())[0]["chunkId"] == plain[0]["chunkId"]


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
