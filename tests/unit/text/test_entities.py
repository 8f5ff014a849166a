"""Names and terms that the local extractor finds, script by script."""

from itertools import pairwise

import pytest

from tributary.text.entities import EntityType, extract_entities


def names(text: str) -> list[str]:
    return [mention.name for mention in extract_entities(text).mentions]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("The prize went to Marie Curie in Paris.", ["Marie Curie", "Paris"], id="names"),
        pytest.param("He joined the Bank of England.", ["Bank of England"], id="small words inside"),
        pytest.param("He flew to Paris and London.", ["Paris", "London"], id="and stands between names"),
        pytest.param("The office of the UN is busy.", ["UN"], id="an acronym"),
        pytest.param("Then call getUserName on it.", ["getUserName"], id="an identifier"),
        pytest.param("Files go to S3 at night.", ["S3"], id="letters with digits"),
        pytest.param("It is written in C++ mostly.", ["C++"], id="a language with signs"),
        pytest.param("It needs Windows 11 today.", ["Windows 11"], id="a version"),
        pytest.param("We read Marie's letters.", ["Marie"], id="a possessive"),
        pytest.param('He wrote "The Old Man" there.', ["The Old Man"], id="a quoted title"),
        pytest.param("Лев Толстой написал роман «Война и мир».", ["Лев Толстой", "Война и мир"], id="Cyrillic"),
        pytest.param("Angela Merkel wurde in Hamburg geboren.", ["Angela Merkel", "Hamburg"], id="German"),
        pytest.param("《红楼梦》很有名。", ["红楼梦"], id="a title in brackets"),
    ],
)
def test_names_are_found(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Nothing is known about it.", id="a word that opens a sentence"),
        pytest.param("Choose a size. Then choose a colour.", id="an opening word written small elsewhere"),
        pytest.param("1. Open the lid.\n2. Close the lid.", id="a word that opens an item"),
        pytest.param("It weighs 12 kg and takes 5 GB.", id="numbers with units"),
        pytest.param("It began in March 2023 on a Monday.", id="dates"),
        pytest.param("# How To Replace Your Filter", id="a heading in capitals"),
        pytest.param("", id="nothing"),
        pytest.param("?! ... --", id="signs"),
    ],
)
def test_what_is_no_name_is_left_out(text: str) -> None:
    assert names(text) == []


def test_a_heading_names_what_the_running_text_names() -> None:
    assert names("# Visiting Old Lima\n\nThey went to Lima.").count("Lima") == 1


def test_an_opening_word_belongs_to_its_name() -> None:
    assert names("Marie Curie won. So did Marie Curie again.") == ["Marie Curie", "Marie Curie"]


def test_an_opening_word_before_a_name_that_stands_without_it_is_no_part_of_it() -> None:
    text = "Viewing Amazon Kendra helps. We use Amazon Kendra. They like Amazon Kendra. You know Amazon Kendra."
    assert names(text)[0] == "Amazon Kendra"


def test_a_repeated_phrase_is_a_term() -> None:
    text = "A water filter is cheap. Any water filter works. Each water filter lasts."
    assert {mention.type for mention in extract_entities(text).mentions} == {EntityType.TERM}
    assert names(text) == ["water filter"] * 3


def test_a_phrase_that_stands_once_is_no_term() -> None:
    assert names("A water filter is cheap.") == []


def test_repeated_sequences_are_terms_where_words_are_not_set_apart() -> None:
    text = "战国无双很好玩。我喜欢战国无双。战国无双是游戏。"
    assert names(text) == ["战国无双"] * 3


def test_mentions_say_where_they_stand() -> None:
    text = "They met. It was Marie Curie."
    (mention,) = extract_entities(text).mentions
    assert text[mention.start : mention.end] == "Marie Curie"
    assert mention.sentence == 1


def test_mentions_never_overlap() -> None:
    text = 'The "New York Times" of New York. Data store of a data store near a data store of New York.'
    mentions = extract_entities(text).mentions
    assert all(before.end <= after.start for before, after in pairwise(mentions))


def test_an_organisation_is_known_by_its_form() -> None:
    (mention,) = extract_entities("He works for Contoso Electronics there.").mentions
    assert mention.type is EntityType.ORGANISATION
