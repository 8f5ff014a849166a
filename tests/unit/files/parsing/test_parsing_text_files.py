import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tributary.domain.errors import EmptyFile, FileTooLarge
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing import limits
from tributary.files.parsing.markdown import (
    atx_heading,
    closes_fence,
    heading_text,
    markdown_title,
    parse_markdown,
    underline_level,
)
from tributary.files.parsing.plain import parse_text

Parse = Callable[[Path], ParsedDocument]


def stored(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "document"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("parse", [parse_text, parse_markdown])
def test_the_text_is_kept_as_it_was_written(tmp_path: Path, parse: Parse) -> None:
    source = "# Title #\n\n* a  **bold** word\n\n\n    code\n<b>tag</b>\n"
    document = parse(stored(tmp_path, source))
    assert document.text == source
    assert document.pages == ()
    assert document.headings == ()


@pytest.mark.parametrize("parse", [parse_text, parse_markdown])
def test_other_encodings_are_decoded(tmp_path: Path, parse: Parse) -> None:
    source = "Grüße aus Köln, schöne Straßen überall.\n"
    assert parse(stored(tmp_path, source.encode("utf-16"))).text == source


@pytest.mark.parametrize("parse", [parse_text, parse_markdown])
@pytest.mark.parametrize("blank", ["", " \n\t\n", "\ufeff"])
def test_blank_files_are_refused(tmp_path: Path, parse: Parse, blank: str) -> None:
    with pytest.raises(EmptyFile):
        parse(stored(tmp_path, blank))


@pytest.mark.parametrize("parse", [parse_text, parse_markdown])
def test_too_long_files_are_refused(tmp_path: Path, parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CHARACTERS", 10)
    with pytest.raises(FileTooLarge):
        parse(stored(tmp_path, "eleven chars"))


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("# The Title\n\ntext", "The Title"),
        ("text\n\n## Later ##\n", "Later"),
        ("The Title\n=========\n", "The Title"),
        ("Lower\n---\n", "Lower"),
        ('---\ntitle: "From the front"\nother: 1\n---\n# Heading\n', "From the front"),
        ("---\nother: 1\n---\n# Heading\n", "Heading"),
        ("```\n# no heading\n```\n# Heading\n", "Heading"),
        ('# A [link](http://x) and `code` <a name="x"></a>\n', "A link and code"),
        ("#\n# Named\n", "Named"),
        ("#hashtag\n", ""),
        ("text only\n", ""),
        ("---\nnever closed\n", ""),
    ],
)
def test_the_title_of_a_markdown_file(source: str, title: str) -> None:
    assert markdown_title(source) == title


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("The Title\n\nText begins here.\n", "The Title"),
        ("\n\n  The Title\n=====\nText.\n", "The Title"),
        ("THE TITLE\n----\n\nText.\n", "THE TITLE"),
        ("A sentence that ends.\n\nAnother.\n", ""),
        ("A first line\nthat goes on in a second one\n", ""),
        ("x" * 120 + "\n\ntext", ""),
    ],
)
def test_the_title_of_a_text_file_stands_by_itself(tmp_path: Path, source: str, title: str) -> None:
    assert parse_text(stored(tmp_path, source)).title == title


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# One", (1, "One")),
        ("   ###### Six ##  ", (6, "Six")),
        ("##", (2, "")),
        ("## C# and F#", (2, "C# and F#")),
        ("####### Seven", None),
        ("    # indented code", None),
        ("#hashtag", None),
        ("# " + "x" * 2_000, None),
    ],
)
def test_headings_by_number_signs(line: str, heading: tuple[int, str] | None) -> None:
    assert atx_heading(line) == heading


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("**Bold** and _slanted_", "Bold and slanted"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("![logo](a.png) Home", "logo Home"),
        ("Title {#anchor}", "Title"),
        (r"Not \*slanted\*", "Not *slanted*"),
        ("  spaced   out ", "spaced out"),
    ],
)
def test_headings_as_people_read_them(raw: str, text: str) -> None:
    assert heading_text(raw) == text


def test_underlines_and_fences() -> None:
    assert [underline_level(line) for line in ("===", "---", "-", "- -", "=-=", "")] == [1, 2, None, None, None, None]
    assert closes_fence("  ````  ", "```")
    assert not closes_fence("``", "```")
    assert not closes_fence("``` python", "```")
    assert not closes_fence("~~~", "```")


@pytest.mark.parametrize("source", ["# " + " " * 60_000 + "x", "#" * 60_000, "[" * 60_000, "---\n" + "a\n" * 30_000])
def test_hostile_lines_take_no_longer_than_others(source: str) -> None:
    started = time.process_time()
    markdown_title(source)
    heading_text(source)
    assert time.process_time() - started < 1
