"""When a question's cosines are doubted."""

import numpy as np
import pytest

from stores.agreement import SAMPLE, Values, agreement, doubt, prominence

DRAW = np.random.default_rng(0)
WORDS = np.linspace(1.0, 10.0, 80)
IDEAL = 20.0


def shuffled(values: Values) -> Values:
    return np.random.default_rng(1).permutation(values)


def test_cosines_that_follow_the_words_are_trusted() -> None:
    assert doubt(WORDS, WORDS / 20, IDEAL) == 0.0


def test_cosines_that_know_nothing_of_the_words_are_doubted() -> None:
    assert doubt(WORDS, shuffled(WORDS / 20), IDEAL) > 0.8


def test_words_that_find_little_of_the_question_doubt_nobody() -> None:
    unsure = doubt(WORDS, shuffled(WORDS / 20), 100 * IDEAL)
    assert unsure < 0.1 * doubt(WORDS, shuffled(WORDS / 20), IDEAL)


def test_a_chunk_that_stands_out_speaks_for_the_embedder() -> None:
    """As the answer to a question in another language does, which shares just a name with its text."""
    cosines = shuffled(WORDS / 20)
    cosines[3] = 1.5
    assert doubt(WORDS, cosines, IDEAL) < 0.5 * doubt(WORDS, shuffled(WORDS / 20), IDEAL)


def test_nothing_is_doubted_without_words_or_candidates() -> None:
    assert doubt(np.zeros(80), shuffled(WORDS / 20), IDEAL) == 0.0
    assert doubt(WORDS, shuffled(WORDS / 20), 0.0) == 0.0
    assert doubt(np.zeros(0), np.zeros(0), IDEAL) == 0.0


def test_a_word_of_one_chunk_alone_is_judged_by_how_near_it_lies() -> None:
    words = np.zeros(50)
    words[7] = 1.0
    cosines = np.linspace(0.5, 0.6, 50)
    assert agreement(words, np.where(words > 0, 0.7, cosines)) == 1.0
    assert agreement(words, np.where(words > 0, 0.4, cosines)) == 0.0
    assert 0.0 < agreement(words, np.where(words > 0, 0.57, cosines)) < 1.0


def test_of_equal_chunks_the_nearest_is_looked_at() -> None:
    words = np.zeros(50)
    words[[3, 49]] = 1.0
    assert agreement(words, np.linspace(0.5, 0.6, 50)) == 1.0


def test_a_few_chunks_prove_less_than_many() -> None:
    many = np.arange(1.0, 61.0)
    assert agreement(many, -many) == 0.0
    assert agreement(np.arange(1.0, 4.0), np.array([2.0, 3.0, 1.0])) > agreement(many, shuffled(many))


def test_words_or_cosines_that_are_all_the_same_prove_nothing() -> None:
    assert agreement(np.ones(50), shuffled(np.arange(50.0))) == 1.0
    assert agreement(np.ones(1), np.ones(1)) == 1.0
    assert agreement(np.arange(1.0, 51.0), np.ones(50)) == 1.0


def test_chance_leaves_nothing_prominent() -> None:
    for size in (60, 1_000, 100_000):
        draws = [prominence(np.random.default_rng(seed).normal(size=size)) for seed in range(20)]
        assert np.mean(draws) < 0.2


def test_a_few_chunks_show_no_shape() -> None:
    assert prominence(np.array([0.9, *np.linspace(0.1, 0.2, 10)])) == 0.0
    assert prominence(np.ones(50)) == 0.0


def test_what_is_beyond_the_sample_changes_nothing() -> None:
    words, cosines = np.linspace(5, 10, SAMPLE), np.linspace(0.5, 0.9, SAMPLE)
    before = doubt(words, shuffled(cosines), IDEAL)
    more_words, more_cosines = np.append(words, [0.1, 0.0]), np.append(shuffled(cosines), [0.49, 0.2])
    assert doubt(more_words, more_cosines, IDEAL) == pytest.approx(before)
