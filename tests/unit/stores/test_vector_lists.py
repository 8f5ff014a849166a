import pytest

from stores.postgres.vector_lists import MOST, SHORTEST, fits, head_of, lists_of, size_of

GIGABYTE = 2**30
#: Without bounds.
ALONE = 1
PLENTY = 1024 * GIGABYTE


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
    length = vectors / lists_of(size_of(vectors), 384, memory=PLENTY, blocks=ALONE)
    assert SHORTEST <= length < 2 * SHORTEST


def test_a_handful_of_vectors_is_one_list() -> None:
    assert lists_of(size_of(10), 384, memory=GIGABYTE, blocks=ALONE) == 1


def test_there_are_no_more_lists_than_the_extension_makes() -> None:
    assert lists_of(40, 384, memory=PLENTY, blocks=ALONE) == MOST


@pytest.mark.parametrize("memory", [64 * 2**20, 128 * 2**20, GIGABYTE, 2 * GIGABYTE])
@pytest.mark.parametrize("dimension", [4, 384, 3_072])
def test_looking_for_the_centres_stays_within_the_memory(memory: int, dimension: int) -> None:
    lists = lists_of(30, dimension, memory=memory, blocks=ALONE)
    samples = max(10_000, 50 * lists)
    assert samples * (4 * lists + 2 * dimension) <= memory or lists == 1
    assert lists_of(30, dimension, memory=2 * memory, blocks=ALONE) > lists


def test_a_small_part_of_a_large_table_has_as_many_lists_as_it_has_samples_for() -> None:
    size = size_of(8_192)
    assert lists_of(size, 384, memory=GIGABYTE, blocks=10_000) == 128
    assert lists_of(size, 384, memory=GIGABYTE, blocks=2_000_000) == 8192 * 10_000 // 2_000_000 // 4
    assert lists_of(size, 384, memory=GIGABYTE, blocks=10**9) == 1


def test_a_large_part_of_a_large_table_has_them_all() -> None:
    assert lists_of(size_of(1_000_000), 384, memory=PLENTY, blocks=2_000_000) == 8_192


def test_only_long_vectors_lie_in_lists_by_their_heads() -> None:
    assert [head_of(dimension) for dimension in (384, 768, 1_024, 1_536, 3_072)] == [None, None, None, 768, 768]
