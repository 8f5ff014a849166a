import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.files.parsing.pdf_text import (
    LINE_END_HYPHEN,
    NOT_ON_PAGE,
    RawLine,
    RawPage,
    hyphen_rule,
    lay_out,
    origins_of,
    paragraph_rule,
    usual_step,
)


def raw_page(*texts: str, steps: tuple[float, ...] = (), height: float = 10) -> RawPage:
    """Lines one below the other; `steps[k]` is the step from line k to the next, else 12."""
    lines, start, top = [], 0, 700.0
    for number, text in enumerate(texts):
        lines.append(RawLine(start, start + len(text), top, top, height, bold=False))
        start += len(text) + 2
        top -= steps[number] if number < len(steps) else 12
    return RawPage("\r\n".join(texts), tuple(lines))


def text_of(page: RawPage) -> str:
    return lay_out(page, paragraph_rule(page, usual_step([page])), hyphen_rule([page])).text


def test_a_wide_step_opens_a_paragraph() -> None:
    page = raw_page("one", "two", "three", "four", steps=(12, 20, 12))
    assert text_of(page) == "one\ntwo\n\nthree\nfour"


def test_steps_upwards_and_sideways_open_none() -> None:
    page = raw_page("left", "left", "right", "right", steps=(12, -300, 0))
    assert text_of(page) == "left\nleft\nright\nright"


def test_controls_are_dropped_and_symbol_bullets_replaced() -> None:
    assert text_of(raw_page("\uf0b7 a\x00b\x03c\u00add\ufeff")) == "• abcd"


@pytest.mark.parametrize(
    ("broken", "elsewhere", "expected"),
    [
        ("exam|ple", "", "example"),
        ("long|term", "long-term", "long-term"),
        ("long|term", "longterm", "longterm"),
        ("well|known", "well so known", "well-known"),
        ("out-of|network", "", "out-of-network"),
        ("COVID|19", "", "COVID-19"),
        ("Anglo|American", "", "Anglo-American"),
        ("a|b", "a and b", "ab"),
        ("12|34", "", "12-34"),
        ("|x", "", "-x"),
    ],
)
def test_a_line_end_hyphen_stays_where_the_word_has_one(broken: str, elsewhere: str, expected: str) -> None:
    page = raw_page(broken.replace("|", LINE_END_HYPHEN), elsewhere)
    assert text_of(page).split("\n")[0] == expected


def test_a_document_that_breaks_no_words_keeps_its_hyphens() -> None:
    lines = [f"Line {number} of the text" for number in range(60)]
    page = raw_page(*lines, f"cutting{LINE_END_HYPHEN}edge")
    assert text_of(page).endswith("cutting-edge")


def test_a_document_that_breaks_known_words_breaks_unknown_ones() -> None:
    lines = [f"Line {number} of the example" for number in range(60)]
    page = raw_page(*lines, f"exam{LINE_END_HYPHEN}ple", f"syl{LINE_END_HYPHEN}lable")
    assert text_of(page).endswith("example\nsyllable")


ANY_LINE = st.text(
    alphabet=st.sampled_from("abcXY1 -•é中\ufffe\ufffe\x00\x02\u00ad\u00a0\uf0b7\ud800"), min_size=1, max_size=12
).map(lambda text: "x" + text.strip() + "y")


@given(st.lists(st.tuples(ANY_LINE, st.sampled_from([12.0, 25.0])), max_size=8))
def test_every_character_is_found_again_where_it_came_from(drawn: list[tuple[str, float]]) -> None:
    page = raw_page(*(text for text, _ in drawn), steps=tuple(step for _, step in drawn))
    laid_out = lay_out(page, paragraph_rule(page, usual_step([page])), hyphen_rule([page]))
    assert origins_of(page, laid_out.text) == laid_out.origins
    assert len(laid_out.origins) == len(laid_out.text)
    replaced = {"\u00a0": " ", "\uf0b7": "•", LINE_END_HYPHEN: "-"}
    for character, origin in zip(laid_out.text, laid_out.origins, strict=True):
        if origin == NOT_ON_PAGE:
            assert character == "\n"
        else:
            assert character == replaced.get(page.text[origin], page.text[origin])


@given(st.lists(ANY_LINE, min_size=1, max_size=5))
def test_the_text_can_be_stored_and_has_no_forbidden_character(drawn: list[str]) -> None:
    text = text_of(raw_page(*drawn))
    text.encode()
    assert not set(text) & set("\x00\ufffe\r")


def test_the_text_of_another_page_is_refused() -> None:
    with pytest.raises(ValueError, match="was not laid out"):
        origins_of(raw_page("one", "two"), "one\nthree")
