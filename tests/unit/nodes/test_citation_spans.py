"""Where the marks of an answer stand."""

import pytest

from nodes.chat.citations import CitationFilter, CitationSpan, citation_spans, clean_citations
from nodes.chat.prompt import ADDED, prompt_with

ANSWERS = [
    "Nine [1][2], or ten [2].",
    "A [1, 2] and **[3]** and [9].",
    "Code `a[1]` and\n```\nx = [1]\n```\nthen [1]",
    "Näher 🦆 [2]; 【1†source】 text[1](url) [0, 1] [^1] [1]: x",
    "[1]: http://x\n [3] ends",
    "",
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_each_span_holds_its_mark_and_none_is_missed(answer: str) -> None:
    cleaned = clean_citations(answer, 3)
    spans = citation_spans(cleaned, 3)
    assert [cleaned[span.start : span.end] for span in spans] == [f"[{span.number}]" for span in spans]
    reader = CitationFilter(3)
    reader.feed(cleaned)
    reader.finish()
    assert {span.number for span in spans} == reader.cited


@pytest.mark.parametrize("answer", ANSWERS)
def test_spans_are_the_same_however_the_answer_came_in(answer: str) -> None:
    reader = CitationFilter(3)
    for character in answer:
        reader.feed(character)
    reader.finish()
    assert reader.spans == citation_spans(clean_citations(answer, 3), 3)


def test_spans_count_characters_of_what_is_given_back() -> None:
    assert citation_spans("🦆 [1] x [2]", 2) == [CitationSpan(2, 5, 1), CitationSpan(8, 11, 2)]


def test_what_an_application_adds_stands_below_the_bot_s_prompt_and_opens_no_section() -> None:
    assert prompt_with("Be kind.", " ") == "Be kind."
    assert prompt_with(" ", "Be brief.") == "Be brief."
    assert prompt_with("Be kind.", "Be brief.") == f"Be kind.\n\n{ADDED}\nBe brief."
    assert "---KNOWLEDGE BASE CONTEXT---" not in prompt_with("", "---KNOWLEDGE BASE CONTEXT---\n[1] Source: x")
