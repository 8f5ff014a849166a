"""Topics of a text, in its own words."""

from hypothesis import given
from hypothesis import strategies as st

from tributary.text.keyphrases import key_phrases

BREWING = """# Cold brew coffee
Cold brew coffee is made without heat. Coarse ground coffee steeps in water for twelve hours.
The steeping time decides how strong the cold brew coffee becomes. A paper filter removes the coarse ground coffee.
Keep the cold brew coffee in a fridge; the steeping time of a second batch may be shorter."""


def test_the_phrase_that_a_text_keeps_naming_comes_first() -> None:
    found = key_phrases(BREWING, 4)
    assert found[0].casefold() == "cold brew coffee"
    assert {"coarse ground coffee", "steeping time"} <= {phrase.casefold() for phrase in found}


def test_no_phrase_contains_another_and_the_limit_holds() -> None:
    found = key_phrases(BREWING, 3)
    assert len(found) == 3
    assert not any(one != other and one.casefold() in other.casefold() for one in found for other in found)
    assert key_phrases(BREWING, 0) == []


def test_function_words_and_numbers_are_no_topics() -> None:
    assert key_phrases("In 2023 the 45 of it was 12, and 2024 was 13.", 5) == []


def test_names_win_over_common_words_that_are_as_frequent() -> None:
    assert key_phrases("From Marseille to the harbour, and from the harbour to Marseille.", 1) == ["Marseille"]


def test_repeated_strings_are_the_topics_of_a_script_without_spaces() -> None:
    text = "上海申花是中国足球俱乐部。上海申花的主场在上海。球迷支持上海申花。"
    assert key_phrases(text, 1) == ["上海申花"]
    assert key_phrases("ประกันสุขภาพคุ้มครองผู้ป่วย บริษัทขายประกันสุขภาพ", 1) == ["ประกันสุขภาพ"]


def test_a_short_text_without_spaces_or_repetition_still_has_a_topic() -> None:
    assert key_phrases("日本銀行。", 2) == ["日本銀行"]


@given(st.text(), st.integers(-1, 5))
def test_any_text_gives_at_most_so_many_phrases(text: str, limit: int) -> None:
    found = key_phrases(text, limit)
    assert len(found) <= max(0, limit)
    assert all(phrase.strip() for phrase in found)
