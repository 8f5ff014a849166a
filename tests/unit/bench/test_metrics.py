import pytest

from bench.metrics import ndcg_at_k, paired_bootstrap, recall_at_k


def test_the_best_order_has_an_ndcg_of_one() -> None:
    assert ndcg_at_k(["a", "b", "c"], {"a": 2, "b": 1}) == pytest.approx(1.0)


def test_a_relevant_document_at_rank_two_is_discounted() -> None:
    assert ndcg_at_k(["x", "a"], {"a": 1}) == pytest.approx(0.6309, abs=1e-4)


def test_what_is_below_the_cut_gains_nothing() -> None:
    assert ndcg_at_k(["x", "y", "a"], {"a": 1}, k=2) == 0
    assert recall_at_k(["x", "y", "a"], {"a": 1}, k=2) == 0


def test_recall_is_the_share_of_relevant_documents_found() -> None:
    assert recall_at_k(["a", "x", "b"], {"a": 1, "b": 1, "c": 2, "x": 0}) == pytest.approx(2 / 3)


def test_questions_without_a_relevant_document_gain_nothing() -> None:
    assert ndcg_at_k(["a"], {"a": 0}) == recall_at_k(["a"], {}) == 0


def test_a_steady_gain_is_told_from_chance() -> None:
    gained = paired_bootstrap([0.5] * 50, [0.6, 0.65] * 25)
    assert gained.mean == pytest.approx(0.125)
    assert 0 < gained.low <= gained.mean <= gained.high
    assert gained.p_value < 0.001


def test_noise_is_not_taken_for_a_gain() -> None:
    noise = paired_bootstrap([0.0] * 40, [0.5, -0.5, 0.4, -0.38] * 10)
    assert noise.low < 0 < noise.high
    assert noise.p_value > 0.2
