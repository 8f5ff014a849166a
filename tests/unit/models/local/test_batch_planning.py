import random

from tributary.models.local.batching import plan_batches


def test_every_text_is_in_one_batch() -> None:
    lengths = [random.Random(0).randrange(1, 512) for _ in range(500)]
    assert sorted(at for batch in plan_batches(lengths) for at in batch) == list(range(500))


def test_a_batch_padded_to_its_longest_text_keeps_to_the_bound() -> None:
    lengths = [random.Random(1).randrange(1, 200) for _ in range(500)]
    assert all(max(lengths[at] for at in batch) * len(batch) <= 512 for batch in plan_batches(lengths, tokens=512))


def test_texts_of_similar_length_go_together() -> None:
    assert plan_batches([10, 200, 12, 190], tokens=400) == [[1, 3], [2, 0]]


def test_a_text_over_the_bound_goes_alone() -> None:
    assert plan_batches([900, 5], tokens=512) == [[0], [1]]


def test_nothing_makes_no_batch() -> None:
    assert plan_batches([]) == []
