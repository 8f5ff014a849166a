import pytest

from stores.postgres.vector_lists import SHORTEST, fits, lists_of, size_of

GIGABYTE = 2**30


@pytest.mark.parametrize("vectors", [1, 2, 3, 63, 64, 5_200, 99_999, 2**20 - 1, 2**20, 10**9])
def test_an_index_fits_what_it_was_made_for(vectors: int) -> None:
    assert fits(size_of(vectors), vectors)


def test_an_index_serves_some_way_beyond_its_size_and_not_for_ever() -> None:
    size = size_of(100_000)
    assert [fits(size, vectors) for vectors in (40_000, 50_000, 180_000, 190_000)] == [False, True, True, False]


def test_what_was_just_built_does_not_swing_back_at_a_border() -> None:
    for vectors in range(1, 3_000):
        size = size_of(vectors)
        assert all(fits(size, near) for near in (vectors, int(vectors * 0.8) + 1, int(vectors * 1.3)))


@pytest.mark.parametrize("vectors", [5_200, 100_000, 1_000_000])
def test_lists_are_of_like_length_at_any_size(vectors: int) -> None:
    length = vectors / lists_of(size_of(vectors), 384, 1024 * GIGABYTE)
    assert SHORTEST <= length < 2 * SHORTEST


def test_a_handful_of_vectors_is_one_list() -> None:
    assert lists_of(size_of(10), 384, GIGABYTE) == 1


@pytest.mark.parametrize("memory", [2**20, 64 * 2**20, GIGABYTE, 2 * GIGABYTE])
@pytest.mark.parametrize("dimension", [4, 384, 3_072])
def test_looking_for_the_centres_stays_within_the_memory(memory: int, dimension: int) -> None:
    lists = lists_of(30, dimension, memory)
    samples = 50 * lists
    assert lists == 1 or samples * (4 * lists + 2 * dimension) <= memory
    assert lists_of(30, dimension, 2 * memory) > lists or lists == 1
