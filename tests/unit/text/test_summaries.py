"""Summaries made of the text's own sentences."""

from hypothesis import given
from hypothesis import strategies as st

from tributary.text.sentences import sentence_spans
from tributary.text.summaries import join_sentences, plain, shorten, summarise

FERRIES = """# Ferries of the northern coast

The northern ferries carry mail and passengers to nine islands. Weather stops the ferries about thirty days a year.
It was a Tuesday. Somebody laughed at the pier.

| island | days |
|---|---|
| Havn | 30 |

Passengers pay half the fare when weather stops the ferries and a later crossing is taken instead.
"""


def test_a_summary_is_whole_sentences_in_the_order_of_the_text() -> None:
    summary = summarise(FERRIES, 200)
    sentences = [plain(FERRIES[start:end]) for start, end in sentence_spans(FERRIES)]
    kept = [sentence for sentence in sentences if sentence in summary]
    assert " ".join(kept) == summary
    assert summary.startswith("The northern ferries carry mail")
    assert "Tuesday" not in summary
    assert "|" not in summary


def test_a_summary_never_exceeds_its_limit() -> None:
    for limit in (1, 2, 40, 120, 300):
        assert 0 < len(summarise(FERRIES, limit)) <= limit
    assert summarise(FERRIES, 0) == ""


def test_a_sentence_that_is_too_long_is_cut_at_a_word() -> None:
    assert summarise("Remarkably extensive descriptions continue", 30) == "Remarkably extensive…"
    assert shorten("abcdefghij", 5) == "abcd…"
    assert shorten("abc", 3) == "abc"


def test_what_is_said_twice_is_summarised_once() -> None:
    twice = (
        "The reactor was shut down for inspection in spring. " * 2 + "Engineers replaced four cracked coolant valves."
    )
    assert summarise(twice, 110).count("reactor") == 1
    assert "coolant" in summarise(twice, 110)


def test_a_table_without_prose_is_summarised_by_its_rows() -> None:
    assert "Havn" in summarise("| island | days |\n|---|---|\n| Havn | 30 |", 100)


def test_sentences_are_joined_as_their_script_does() -> None:
    assert join_sentences(["One.", "Two."]) == "One. Two."
    assert join_sentences(["一。", "二。"]) == "一。二。"


def test_markup_is_no_part_of_a_sentence() -> None:
    assert plain("- **Note:** see [the page](https://example.com/a) for\n `x\\_y`\\.") == "Note: see the page for x_y."


@given(st.text(), st.integers(0, 200))
def test_any_text_is_summarised_within_the_limit(text: str, limit: int) -> None:
    summary = summarise(text, limit)
    assert len(summary) <= limit
    assert summary == summary.strip()


def test_a_text_of_a_megabyte_is_summarised_from_its_beginning_and_its_parts() -> None:
    text = "".join(f"Chapter {number} describes the harvest of year {number}. " for number in range(20_000))
    assert summarise(text, 300).startswith("Chapter 0 describes")
