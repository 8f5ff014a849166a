"""From cosines and BM25 sums to the terms of a hit."""

from uuid import UUID

import numpy as np
import pytest

from stores.scoring import (
    MAX_TERMS,
    RECENT_SHARE,
    RECENT_WEIGHT,
    SUMMARY_BOOST,
    Candidate,
    Candidates,
    Scale,
    rank,
    scale_of,
    temper,
    text_terms,
    vector_terms,
    weigh_terms,
)
from tests.support.worlds import PlainEmbedder
from tributary.models.protocols import Vectors

EMBEDDER = PlainEmbedder()


def candidate(number: int = 0, **changes: float | None) -> Candidate:
    values: dict[str, float | None] = {"importance": 0.5, "cosine": 0.5, "lexical": 0.0, "summary": None}
    return Candidate(UUID(int=number), UUID(int=number), **(values | changes))  # type: ignore[arg-type]


def columns(*candidates: Candidate) -> Candidates:
    return Candidates.gathered(candidates)


def test_the_best_lexical_score_is_a_full_match_where_most_words_are_found() -> None:
    assert text_terms(np.array([8.0, 4.0, 0.0]), Scale(best=8.0, ideal=16.0)).tolist() == [1.0, 0.5, 0.0]


def test_the_best_lexical_score_is_less_where_few_words_are_found() -> None:
    assert text_terms(np.array([2.0]), Scale(best=2.0, ideal=24.0)).tolist() == [pytest.approx(0.25)]


def test_a_question_without_words_matches_no_text() -> None:
    assert text_terms(np.array([0.0, 0.0]), Scale(best=0.0, ideal=0.0)).tolist() == [0.0, 0.0]


def test_a_matching_summary_raises_the_vector_term_by_a_bounded_share() -> None:
    plain, guided = vector_terms(columns(candidate(), candidate(summary=1.0)), EMBEDDER)
    assert guided - plain == pytest.approx(SUMMARY_BOOST)


def test_similarities_come_nearer_to_the_middle_in_the_same_order() -> None:
    similarities = np.array([0.0, 0.1, 0.5, 0.9, 0.99, 1.0])
    tempered = temper(similarities)
    assert tempered[[0, 2, 5]].tolist() == [0.0, 0.5, 1.0]
    assert (np.diff(tempered) > 0).all()
    assert 0.1 < tempered[1] < 0.5 < tempered[3] < 0.9


def test_a_raised_vector_term_stays_at_most_one() -> None:
    assert vector_terms(columns(candidate(cosine=1.0, summary=1.0)), EMBEDDER).tolist() == [1.0]


def test_a_summary_that_points_away_lowers_nothing() -> None:
    plain, guided = vector_terms(columns(candidate(), candidate(summary=-1.0)), EMBEDDER)
    assert guided == plain


def test_hits_come_by_sixty_twenty_five_fifteen() -> None:
    best = candidate(3, cosine=1.0, lexical=0.0, importance=0.0)
    second = candidate(2, cosine=0.3, lexical=1.0, importance=0.1)
    third = candidate(1, cosine=0.0, lexical=1.0, importance=1.0)
    hits = rank(columns(third, second, best), Scale(1.0, 1.0), embedder=EMBEDDER, knowledge_base_id=UUID(int=9))
    assert [UUID(hit["chunkId"]).int for hit in hits] == [3, 2, 1]


def test_equal_hits_come_by_chunk_id() -> None:
    hits = rank(columns(candidate(2), candidate(1)), Scale(0.0, 0.0), embedder=EMBEDDER, knowledge_base_id=UUID(int=9))
    assert [UUID(hit["chunkId"]).int for hit in hits] == [1, 2]


def test_no_more_hits_than_are_wanted_come_back() -> None:
    several = columns(*(candidate(number, cosine=number / 10) for number in range(5)))
    hits = rank(several, Scale(0.0, 0.0), embedder=EMBEDDER, knowledge_base_id=UUID(int=9), limit=2)
    assert [UUID(hit["chunkId"]).int for hit in hits] == [4, 3]


def test_no_candidates_are_no_hits() -> None:
    assert rank(columns(), Scale(0.0, 0.0), embedder=EMBEDDER, knowledge_base_id=UUID(int=9)) == []


def test_words_of_the_question_weigh_one_each_however_often_they_stand() -> None:
    assert set(weigh_terms("pump pump valve", "").values()) == {1.0}


def test_words_of_the_conversation_weigh_less() -> None:
    weights = weigh_terms("which pump leaks and why does it leak", "valve")
    assert weights["valve"] == RECENT_WEIGHT < weights["pump"]


def test_a_long_conversation_never_outweighs_the_question() -> None:
    recent = " ".join(f"word{letter}{other}" for letter in "abcdefgh" for other in "ijklmnop")
    weights = weigh_terms("pump", recent)
    asked = [term for term, weight in weights.items() if weight == 1.0]
    assert sum(weights.values()) - len(asked) <= RECENT_SHARE * len(asked) + 1e-9


def test_a_word_of_both_counts_as_asked() -> None:
    assert weigh_terms("pump", "the pump")["pump"] == 1.0


def test_a_pasted_text_has_a_bounded_number_of_terms() -> None:
    pasted = " ".join(f"{letter}{number}" for letter in "abcdefgh" for number in range(2000))
    assert len(weigh_terms(pasted, pasted[::-1])) <= 2 * MAX_TERMS


def test_cosines_are_calibrated_by_the_model() -> None:
    class Halving(PlainEmbedder):
        def similarity(self, cosine: Vectors) -> Vectors:
            return np.asarray(cosine / 2, np.float32)

    (hit,) = rank(columns(candidate(cosine=0.8)), Scale(0.0, 0.0), embedder=Halving(), knowledge_base_id=UUID(int=9))
    assert hit["vector"] == pytest.approx(float(temper(np.array([0.4]))[0]), abs=1e-6)


def test_a_blind_embedder_is_overruled_by_words_that_know() -> None:
    blind = np.random.default_rng(0).permutation(np.linspace(0.55, 0.65, 60))
    blinded = [
        candidate(number, cosine=float(cosine), lexical=20.0 if number == 7 else 3.0 + number / 60)
        for number, cosine in enumerate(blind)
    ]
    candidates = columns(*blinded)
    hits = rank(
        candidates, scale_of(candidates, best=20.0, ideal=40.0), embedder=EMBEDDER, knowledge_base_id=UUID(int=9)
    )
    assert UUID(hits[0]["chunkId"]).int == 7
    assert max(hit["vector"] for hit in hits) < 0.2
