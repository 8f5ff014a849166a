"""Which names a question may spell wrong, and what that means."""

import pytest

from stores.misspelling import MOST_PHRASES, Part, is_misspelt, parts_of, unknown_phrases
from tributary.text.entity_keys import phrase_keys


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("helena cartr", "helena carter"),
        ("helena carterr", "helena carter"),
        ("helena cratre", "helena crater"),
        ("mississipi", "mississippi"),
        ("data base", "database"),
        ("newsweek", "news week"),
        ("пушкина", "пушкин"),
    ],
)
def test_one_letter_is_forgiven(phrase: str, name: str) -> None:
    assert is_misspelt(phrase, name)


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("john smith", "joan smith"),
        ("north plant", "south plant"),
        ("version 10", "version 11"),
        ("model x100", "model x101"),
        ("helena carter", "helena carter"),
        ("helena carter", "helena cartier b"),
        ("garter club", "carter club"),
        ("helene cartar", "helena carter"),
        ("carter helena", "helena carter"),
    ],
)
def test_other_names_are_not(phrase: str, name: str) -> None:
    assert not is_misspelt(phrase, name)


def fits(part: Part, name: str) -> bool:
    return part.shortest <= len(name) <= part.longest


@pytest.mark.parametrize("phrase", ["helena carter", "mississippi", "newsweek"])
def test_whatever_one_edit_makes_of_a_name_it_is_looked_for(phrase: str) -> None:
    letters = "x"
    edits = {phrase[:n] + phrase[n + 1 :] for n in range(len(phrase))}
    edits |= {phrase[:n] + letters + phrase[n:] for n in range(len(phrase) + 1)}
    edits |= {phrase[:n] + letters + phrase[n + 1 :] for n in range(len(phrase))}
    parts = parts_of([phrase])
    for name in edits:
        begins = any(
            name.startswith(each.text) and each.shortest <= len(name) <= each.longest for each in parts.beginnings
        )
        ends = any(name.endswith(each.text) and each.shortest <= len(name) <= each.longest for each in parts.endings)
        assert begins or ends, name


def unknown(text: str, *named: str) -> list[str]:
    return unknown_phrases(text, phrase_keys(text), named)


def test_what_is_written_with_capitals_comes_first() -> None:
    assert unknown("where do people in Helena Cartr live?")[0] == "helena cartr"


def test_beside_a_name_that_was_found_only_capitals_are_looked_for() -> None:
    assert unknown("the discovery of radium by Marie Curei", "radium") == ["marie curei"]
    assert unknown("the discovery of radium by people", "radium") == []


def test_nothing_is_looked_for_inside_what_was_found() -> None:
    assert unknown("Helena Carter", "helena carter") == []


def test_short_words_and_function_words_are_no_names() -> None:
    assert unknown("who is Joan of?") == []
    assert "with helena cartr" not in unknown("with helena cartr")


def test_a_long_question_asks_for_few_names() -> None:
    assert (
        len(unknown(" ".join(f"Something{letter} Wonderful{letter}" for letter in "abcdefghijklmnop"))) == MOST_PHRASES
    )
