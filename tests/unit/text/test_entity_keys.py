"""When names are one, and which names a question may hold."""

import pytest

from tributary.text.entity_keys import MAX_KEYS, entity_key, phrase_keys


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Marie Curie", "MARIE CURIE"),
        ("Café", "cafe"),
        ("water filters", "Water Filter"),
        ("The Beatles", "Beatles"),
        ("O'Brien's", "O'Brien"),
        ("U.S.A.", "USA"),
        ("AC/DC", "ac dc"),
        ("self-service", "self service"),
        ("Ｆｕｌｌ", "full"),
    ],
)
def test_forms_of_a_name_have_one_key(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C++"), ("C", "C#"), ("Paris", "Pari"), ("glass", "glas"), ("bus", "bu")],
)
def test_different_names_have_different_keys(one: str, other: str) -> None:
    assert entity_key(one) != entity_key(other)


@pytest.mark.parametrize("name", ["", "?!", "--", "  "])
def test_what_has_no_letter_has_no_key(name: str) -> None:
    assert entity_key(name) == ""


def test_a_question_holds_each_phrase_of_it_longest_first() -> None:
    assert next(iter(phrase_keys("New York Times"))) == "new york time"
    assert {"new york", "york time", "new", "york", "time"} <= phrase_keys("New York Times").keys()


def test_the_key_of_every_name_is_found_in_a_question_that_holds_it() -> None:
    for name in ("O'Brien's Pub", "The Beatles", "C++", "北京大学", "S3", "Café Müller"):
        assert entity_key(name) in phrase_keys(f"tell me, is {name} known?")


def test_function_words_alone_name_nothing() -> None:
    assert "what" not in phrase_keys("what is the time?")


def test_a_function_word_in_capitals_is_an_acronym() -> None:
    assert "who" in phrase_keys("Does the WHO know?")
    assert "who" not in phrase_keys("who knows?")


def test_names_inside_a_run_without_spaces_are_found() -> None:
    assert "北京大学" in phrase_keys("请问北京大学在哪里")


def test_a_pasted_text_has_a_bounded_number_of_keys() -> None:
    assert len(phrase_keys(" ".join(f"word{n}" for n in range(5000)))) == MAX_KEYS
