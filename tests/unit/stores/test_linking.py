"""Which relations a question means."""

from stores.linking import linked
from tributary.domain.retrieval import RelationFact


def fact(relation: str, description: str = "", target: str = "Paris") -> RelationFact:
    return RelationFact(source="Marie Curie", relation=relation, target=target, description=description)


def test_of_relations_on_equal_ways_the_one_that_is_asked_for_comes_first() -> None:
    facts = {"a": fact("lived in"), "b": fact("was buried in"), "c": fact("related to", "She was buried in Paris.")}
    assert linked("Where was Marie Curie buried?", dict.fromkeys(facts, 1.0), facts)[-1] == "a"


def test_other_forms_of_a_word_are_the_same() -> None:
    facts = {"a": fact("visited"), "b": fact("discovered", target="radium")}
    assert linked("her discoveries", {"a": 1.0, "b": 0.9}, facts) == ["b", "a"]


def test_a_much_better_way_stays_ahead() -> None:
    facts = {"far": fact("was buried in"), "near": fact("lived in")}
    assert linked("buried", {"far": 0.1, "near": 1.0}, facts) == ["near", "far"]


def test_a_question_without_words_leaves_the_order_of_the_ways() -> None:
    facts = {"b": fact("x"), "a": fact("y"), "c": fact("z")}
    assert linked("??", {"a": 0.5, "b": 0.5, "c": 0.7}, facts) == ["c", "a", "b"]


def test_what_is_said_no_more_is_not_given() -> None:
    assert linked("Paris", {"a": 1.0, "gone": 1.0}, {"a": fact("x")}) == ["a"]


def test_relations_that_say_the_same_in_another_order_come_by_id() -> None:
    words = [f"word{chr(97 + n)}" for n in range(17)]
    # Each word is told by another number of relations, so that their order shows in a rounded sum.
    others = {f"z{n:02}": fact("x", " ".join(words[:n])) for n in range(1, 17)}
    same = {f"a{n:02}": fact("x", " ".join(words[n:] + words[:n])) for n in range(16, -1, -1)}
    order = linked(" ".join(words), dict.fromkeys(same | others, 1.0), same | others)
    assert order[: len(same)] == sorted(same)
