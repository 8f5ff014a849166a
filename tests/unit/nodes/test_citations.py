"""Citation marks, read as the answer streams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.chat.citations import CitationFilter, cited_numbers, clean_citations


@pytest.mark.parametrize(
    ("answer", "cleaned", "cited"),
    [
        ("A fact [1].", "A fact [1].", {1}),
        ("Two [1][2] facts.", "Two [1][2] facts.", {1, 2}),
        ("Listed [1, 2] and [1; 3].", "Listed [1][2] and [1][3].", {1, 2, 3}),
        ("A range [1-3].", "A range [1][2][3].", {1, 2, 3}),
        ("In bold **[2]**, attached[1].", "In bold **[2]**, attached[1].", {1, 2}),
        ("Named [Source 2] and 【3】.", "Named [2] and [3].", {2, 3}),
        ("Zero [0] is no source.", "Zero is no source.", set()),
        ("Apart [1], [2] and [3].", "Apart [1], [2] and [3].", {1, 2, 3}),
        ("Twice [2] and [2].", "Twice [2] and [2].", {2}),
        ("In words [Sources 1 and 2].", "In words [1][2].", {1, 2}),
        ("Auf Deutsch [Quelle 1 und 3].", "Auf Deutsch [1][3].", {1, 3}),
        ("Trained 【1†source】【2†L4-L9】.", "Trained [1][2].", {1, 2}),
        ("全角［1］と【2、3】。", "全角[1]と[2][3]。", {1, 2, 3}),
        ("A range with a dash [1–2].", "A range with a dash [1][2].", {1, 2}),
        ("A range too far [2-9].", "A range too far [2][3].", {2, 3}),
        (
            "**Bold claim [1]**, _slanted [2]_, and ***[3]***.",
            "**Bold claim [1]**, _slanted [2]_, and ***[3]***.",
            {1, 2, 3},
        ),
        ("- item [1]\n- item [2]\n| cell [3] |", "- item [1]\n- item [2]\n| cell [3] |", {1, 2, 3}),
        ("[1] opens a line.\n[2]\n", "[1] opens a line.\n[2]\n", {1, 2}),
        ('A quote: "so" [1].\n> quoted [2]', 'A quote: "so" [1].\n> quoted [2]', {1, 2}),
        ("After code `x = 1` [1] and\n```\n[9]\n```\n[2]", "After code `x = 1` [1] and\n```\n[9]\n```\n[2]", {1, 2}),
    ],
)
def test_marks_are_read_in_all_their_forms(answer: str, cleaned: str, cited: set[int]) -> None:
    assert clean_citations(answer, 3) == cleaned
    assert cited_numbers(answer, 3) == cited


@pytest.mark.parametrize(
    ("answer", "cleaned"),
    [
        ("Made up [9].", "Made up."),
        ("Half [1, 9] true.", "Half [1] true."),
        ("First [7] then [1]", "First then [1]"),
        ("No sources, [4] no marks", "No sources, no marks"),
        ("天空是蓝色的[9]。海[1]也是[7]。", "天空是蓝色的。海[1]也是。"),
        ("Небо синее[9].", "Небо синее."),
        ("Blue[1], and red[9] too[2, 8].", "Blue[1], and red too[2]."),
    ],
)
def test_marks_of_sources_that_do_not_exist_are_removed(answer: str, cleaned: str) -> None:
    assert clean_citations(answer, 3) == cleaned


@pytest.mark.parametrize(
    "answer",
    [
        "an index `rows[1]` in code",
        "``a ` and [1] in code`` of two ticks",
        "````\n```\n[1]\n```\n````",
        "a picture ![1](http://example.com/1.png)",
        "a year [2024] and an interval [0, 1]",
        "a footnote[^1] and its text\n\n[^1]: the text",
        "an empty [] and a word [one]",
        "```python\nrows = [1]\n```",
        "~~~\n[1]\n~~~",
        "a [link](http://example.com) and [text][1]",
        "[1]: http://example.com",
        "a footnote[^1]",
        "an array[9] without a source",
        "a task\n- [ ] to do\n- [x] done",
        "an open bracket [1",
        "a bracket over\n[two\nlines]",
    ],
)
def test_what_is_no_citation_stays_as_it_is(answer: str) -> None:
    assert clean_citations(answer, 3) == answer
    assert cited_numbers(answer, 3) == set()


def test_a_code_span_that_is_never_closed_ends_with_its_paragraph() -> None:
    assert cited_numbers("a stray ` here [1]\n\nand [2]", 3) == {2}


@given(
    st.lists(
        st.sampled_from(
            ["[1]", "[9]", " ", "\n", "`", "```", "text", "[1, 2]", "【1†", "】", "[0, 1]", "(", ":", "]", "[", "**"]
        )
    ),
    st.data(),
)
def test_the_result_does_not_depend_on_how_the_text_was_cut(parts: list[str], data: st.DataObject) -> None:
    answer = "".join(parts)
    whole = clean_citations(answer, 3)
    reader = CitationFilter(3)
    out, position = "", 0
    while position < len(answer):
        length = data.draw(st.integers(1, 5))
        out += reader.feed(answer[position : position + length])
        position += length
    assert out + reader.finish() == whole


@given(st.text(alphabet="ab[]0123 \n`(:)【】［］†*,-", max_size=60))
def test_cleaning_a_clean_answer_changes_nothing(answer: str) -> None:
    once = clean_citations(answer, 3)
    assert clean_citations(once, 3) == once
