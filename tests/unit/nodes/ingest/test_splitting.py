import re
import time
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodes.ingest.splitting import embedding_text, split
from tributary.domain.knowledge import ChunkDraft, Heading, Page, ParsedDocument

WORD = re.compile(r"\w{1,6}|[^\w\s]")


def count_words(texts: Sequence[str]) -> list[int]:
    """A stand-in for a tokenizer: long words are several tokens, a mark is one."""
    return [len(WORD.findall(text)) for text in texts]


def cut(text: str, *, window: int = 120, target: int = 60, title: str = "") -> list[ChunkDraft]:
    return split(ParsedDocument(text), count_tokens=count_words, max_tokens=window, target_tokens=target, title=title)


def check(document: ParsedDocument, chunks: Sequence[ChunkDraft], window: int, title: str) -> None:
    """What holds for every document."""
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    covered = 0
    for chunk in chunks:
        assert chunk.text == document.text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip() != ""
        assert not document.text[covered : chunk.start].strip()
        covered = chunk.end
        assert count_words([embedding_text(chunk, title)])[0] <= window
    assert not document.text[covered:].strip()


TABLE = "| a | b |\n| --- | --- |\n"
MARKS = ["# ", "## ", "### ", "- ", "1. ", "    - ", TABLE, "| ", "```\n", "> ", "~~~", "", "", ""]
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
WORDS = ["river", "a", "Überschwemmung", "不是", "น้ำ", "e\u0301", "x" * 90, "end.", "Is it?", "|", "---", "===", FAMILY]
LINE = st.tuples(st.sampled_from(MARKS), st.lists(st.sampled_from(WORDS), max_size=14)).map(
    lambda drawn: drawn[0] + " ".join(drawn[1])
)
BREAK = st.sampled_from(["\n", "\n", "\n\n", "\n \n", "\t\n\n"])
MARKDOWN = st.lists(st.tuples(LINE, BREAK), max_size=25).map(lambda parts: "".join(a + b for a, b in parts))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MARKDOWN, st.integers(24, 90), st.integers(5, 90), st.sampled_from(["", "Rivers", "Floods of the Rhine"]))
def test_chunks_of_any_markdown_cover_it_within_the_window(text: str, window: int, target: int, title: str) -> None:
    document = ParsedDocument(text)
    chunks = split(document, count_tokens=count_words, max_tokens=window, target_tokens=target, title=title)
    check(document, chunks, window, title)


@settings(deadline=None)
@given(st.text(max_size=400), st.integers(24, 60))
def test_chunks_of_any_text_cover_it_within_the_window(text: str, window: int) -> None:
    document = ParsedDocument(text)
    check(document, split(document, count_tokens=count_words, max_tokens=window, title=""), window, "")


@settings(deadline=None)
@given(st.lists(MARKDOWN, min_size=1, max_size=5), st.integers(24, 90))
def test_chunks_of_any_pages_stay_on_theirs(texts: list[str], window: int) -> None:
    pages, start = [], 0
    for number, text in enumerate(texts, start=1):
        pages.append(Page(number, start, start + len(text)))
        start += len(text) + 2
    document = ParsedDocument("\n\n".join(texts), tuple(pages), "Rivers")
    chunks = split(document, count_tokens=count_words, max_tokens=window)
    check(document, chunks, window, "Rivers")
    for chunk in chunks:
        assert chunk.page is not None
        page = pages[chunk.page - 1]
        assert page.start <= chunk.start < chunk.end <= page.end


@pytest.mark.parametrize("text", ["", " \n\t\n ", "\u2003\n"])
def test_a_blank_document_has_no_chunks(text: str) -> None:
    assert cut(text) == []


def test_a_short_document_is_one_chunk() -> None:
    text = "# Rivers\n\nThey flow.\n\n## Floods\n\nThey rise.\n"
    (chunk,) = cut(text)
    assert chunk.text == text.strip()
    assert chunk.heading == ""


def paragraph(word: str, sentences: int, words: int = 9) -> str:
    return " ".join(" ".join([word.capitalize(), *[word] * (words - 2)]) + "." for _ in range(sentences))


def test_a_section_that_fills_a_chunk_is_one() -> None:
    text = "\n\n".join(f"## {name}\n\n{paragraph(name, 5)}" for name in ("rain", "snow", "wind"))
    assert [chunk.text.split("\n")[0] for chunk in cut(text)] == ["## rain", "## snow", "## wind"]


def test_what_goes_on_below_a_heading_carries_its_path() -> None:
    text = f"# Weather\n\n## **Rain** in [May](x.md)\n\n{paragraph('rain', 30)}\n\n## Snow\n\n{paragraph('snow', 5)}\n"
    chunks = cut(text)
    assert chunks[0].heading == ""
    assert {chunk.heading for chunk in chunks[1:-1]} == {"Weather > Rain in May"}
    assert chunks[-1].text.startswith("## Snow")
    assert chunks[-1].heading == "Weather"


def test_a_heading_stays_with_what_it_heads() -> None:
    text = f"{paragraph('rain', 6)}\n\n## Snow\n\n{paragraph('snow', 6)}"
    for chunk in cut(text, target=55):
        assert not chunk.text.endswith("## Snow")


def test_number_signs_in_code_are_no_headings() -> None:
    text = f"# Setup\n\n```sh\n# not a heading\nmake\n```\n\n{paragraph('rain', 30)}"
    assert {chunk.heading for chunk in cut(text)[1:]} == {"Setup"}


def test_sentences_stay_whole() -> None:
    for chunk in cut(paragraph("rain", 60)):
        assert chunk.text.startswith("Rain")
        assert chunk.text.endswith(".")


def test_paragraphs_stay_whole_where_they_fit() -> None:
    paragraphs = [paragraph(word, 4) for word in ("rain", "snow", "wind", "hail", "mist", "thaw")]
    for chunk in cut("\n\n".join(paragraphs), target=40):
        assert all(part in paragraphs for part in chunk.text.split("\n\n"))


def test_items_stay_whole() -> None:
    items = [f"- {paragraph(word, 2)}" for word in ("rain", "snow", "wind", "hail", "mist", "thaw") * 3]
    for chunk in cut("\n".join(items), target=40):
        assert all(line in items for line in chunk.text.split("\n"))


def table(rows: int) -> list[str]:
    return [
        "| City | Rain |",
        "| --- | ---: |",
        *(f"| City {number} | {number} mm of rain |" for number in range(rows)),
    ]


def test_rows_of_a_table_stay_whole_and_carry_the_names_of_its_columns() -> None:
    rows = table(40)
    chunks = cut("# Rain\n\n" + "\n".join(rows))
    assert len(chunks) > 2
    assert all(line in rows for chunk in chunks[1:] for line in chunk.text.split("\n"))
    assert {chunk.heading for chunk in chunks[1:]} == {"Rain > City | Rain"}
    assert all(line in embedding_text(chunks[1], "") for line in ("Rain > City | Rain", rows[-30]))


def test_a_row_is_cut_only_where_it_alone_is_over_the_window() -> None:
    long = "| Cologne | " + paragraph("rain", 30) + " |"
    chunks = cut("\n".join([*table(2), long]))
    assert "| City 1 | 1 mm of rain |" in [line for chunk in chunks for line in chunk.text.split("\n")]
    assert len(chunks) > 2


def test_lines_of_code_stay_whole() -> None:
    code = [f"    total_{number} = compute(rain, {number})" for number in range(40)]
    for chunk in cut("```python\n" + "\n".join(code) + "\n```"):
        lines = chunk.text.split("\n")
        assert all(line in {"```python", "```", lines[0]} or line in code for line in lines)
        assert lines[0].strip() in {"```python", *(line.strip() for line in code)}


def test_headings_of_the_layout_are_used_where_they_are_given() -> None:
    body = paragraph("rain", 30)
    text = f"Weather\nreport\n\n{body}"
    document = ParsedDocument(text, (Page(1, 0, len(text)),), headings=(Heading(1, 0, len("Weather\nreport")),))
    chunks = split(document, count_tokens=count_words, max_tokens=120, target_tokens=60)
    assert {chunk.heading for chunk in chunks[1:]} == {"Weather report"}


def test_a_path_goes_on_over_pages() -> None:
    first, second = "Weather\n\nIt rains.", "It still rains."
    document = ParsedDocument(
        f"{first}\n\n{second}",
        (Page(1, 0, len(first)), Page(2, len(first) + 2, len(first) + 2 + len(second))),
        headings=(Heading(1, 0, 7),),
    )
    chunks = split(document, count_tokens=count_words, max_tokens=120)
    assert [(chunk.page, chunk.heading) for chunk in chunks] == [(1, ""), (2, "Weather")]


def test_front_matter_is_text_and_no_heading() -> None:
    text = f"---\ntitle: Rain\n---\n# Weather\n\n{paragraph('rain', 30)}"
    chunks = cut(text)
    assert chunks[0].text.startswith("---\ntitle: Rain")
    assert {chunk.heading for chunk in chunks[1:]} == {"Weather"}


def test_a_long_path_keeps_its_innermost_part() -> None:
    headings = "\n".join(f"{'#' * level} {'Part ' * 12}{level}\n" for level in range(1, 6))
    chunks = cut(f"{headings}\n{paragraph('rain', 40)}")
    assert chunks[-1].heading.endswith("5")
    assert count_words([chunks[-1].heading])[0] <= 30


@pytest.mark.parametrize(
    "text",
    ["河流涨水了" * 400, "แม่น้ำไหล" * 300, "x" * 5_000, "e\u0301" * 3_000, FAMILY * 500, "a b " * 3_000],
    ids=["Chinese", "Thai", "one word", "accents", "emoji", "one line"],
)
def test_text_without_sentences_is_cut_within_the_window(text: str) -> None:
    document = ParsedDocument(text)

    def count(texts: Sequence[str]) -> list[int]:
        return [len(re.findall(r"\w\W?", each)) for each in texts]

    chunks = split(document, count_tokens=count, max_tokens=100, target_tokens=60)
    assert "".join(chunk.text for chunk in chunks).replace(" ", "") == text.replace(" ", "")
    assert all(tokens <= 100 for tokens in count([chunk.text for chunk in chunks]))
    assert len(chunks) < 3 + sum(count([text])) / 30


def test_a_character_of_several_code_points_is_not_cut() -> None:
    for unit in ("e\u0301", FAMILY, "\U0001f44d\U0001f3fd"):
        chunks = split(
            ParsedDocument(unit * 200), count_tokens=lambda texts: [len(text) for text in texts], max_tokens=64
        )
        assert all(len(chunk.text) % len(unit) == 0 for chunk in chunks)


def test_a_counter_that_counts_joined_text_higher_is_still_obeyed() -> None:
    def count(texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 3 * text.count("\n") for text in texts]

    chunks = split(
        ParsedDocument("\n".join(f"Line {number}" for number in range(200))), count_tokens=count, max_tokens=40
    )
    assert all(tokens <= 40 for tokens in count([chunk.text for chunk in chunks]))


def test_tokens_are_counted_in_few_calls() -> None:
    calls: list[int] = []

    def counting(texts: Sequence[str]) -> list[int]:
        calls.append(len(texts))
        return count_words(texts)

    split(ParsedDocument(paragraph("rain", 2_000)), count_tokens=counting, max_tokens=120)
    assert len(calls) <= 6


def test_a_window_too_small_for_the_title_is_an_error() -> None:
    with pytest.raises(ValueError, match="can't hold the title"):
        cut("text", window=4, title="A title of many words")


@pytest.mark.parametrize(
    "text",
    [f"{paragraph('rain', 12)}\n\n" * 300, "word " * 60_000, "a\n\n" * 20_000, "# a\n" * 20_000],
    ids=["paragraphs", "one line", "tiny paragraphs", "headings only"],
)
def test_the_time_is_linear(text: str) -> None:
    started = time.process_time()
    cut(text, window=500, target=300)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("title", "heading", "context"),
    [
        ("", "", ""),
        ("Rivers", "", "Rivers\n\n"),
        ("", "Floods > May", "Floods > May\n\n"),
        ("Rivers", "Floods > May", "Rivers > Floods > May\n\n"),
        ("The Rivers", "the rivers > Floods", "the rivers > Floods\n\n"),
        ("A – B", "A > B > C", "A > B > C\n\n"),
        ("x" * 200, "", "x" * 80 + "\n\n"),
    ],
)
def test_title_and_headings_are_embedded_before_the_text(title: str, heading: str, context: str) -> None:
    draft = ChunkDraft(0, "They flow.", 0, 10, None, heading)
    assert embedding_text(draft, title) == f"{context}They flow."
