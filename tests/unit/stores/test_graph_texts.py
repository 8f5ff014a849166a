"""Lists that engines give as one text each."""

from stores.bridging import Mention, SeedMention
from stores.graph_search import Stated
from stores.graph_texts import read_mentions, read_seed_mentions, read_sides, read_stated
from stores.walking import Side


def test_relations_are_read_up_to_a_limit() -> None:
    text = "r1 a 2.0 r2 b 1.0E10 "
    assert read_sides(text) == [Side("r1", "a", 2.0), Side("r2", "b", 1e10)]
    assert read_sides(text, 1) == [Side("r1", "a", 2.0)]


def test_a_passage_that_comes_again_is_one_and_keeps_what_was_said_first() -> None:
    assert read_mentions("e", "1 p d 0 p d 0 q d") == [Mention("e", "p", "d", True), Mention("e", "q", "d", False)]
    assert read_mentions("e", "1 p d 0 q d ", 1) == [Mention("e", "p", "d", True)]


def test_scores_of_passages_are_read() -> None:
    assert read_stated("p d 0.25 q e 3 ") == [Stated("p", "d", 0.25), Stated("q", "e", 3.0)]


def test_nothing_is_an_empty_list() -> None:
    assert (read_sides(""), read_mentions("e", ""), read_stated("")) == ([], [], [])


def test_names_in_seeding_passages() -> None:
    assert read_seed_mentions("p e 3 17 1 q f 1 0 0") == [
        SeedMention("p", "e", 3, 17, True),
        SeedMention("q", "f", 1, 0, False),
    ]
    assert read_seed_mentions("") == []
