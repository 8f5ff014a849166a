"""Headings of a PDF, told by their type: larger than the body's, or bold where the body is not."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tributary.domain.knowledge import Heading
from tributary.files.parsing.pdf_text import PageText, RawLine, RawPage, starts_paragraph

_LARGER = 1.12
_TITLE_LARGER = 1.25
_MAX_CHARACTERS = 160
_MAX_LINES = 3
_MAX_LEVEL = 6
#: A line that returns on this share of the pages is a running header; so is none on fewer than four.
_RUNNING_SHARE = 0.2
_RUNNING_PAGES = 4
#: Where more of the text than this looks like headings, the body was misjudged: then there are none.
_MAX_SHARE = 0.3

_LETTER = re.compile(r"[^\W\d_]")
_LEADER = re.compile(r"(?:\. ?){4,}")
_DIGITS = re.compile(r"\d+")
_SENTENCE_END = (".", ",", ";", "!", "?", ":", "。", "，")


@dataclass(frozen=True, slots=True)
class _Style:
    """Height of the type, to half a point, and whether it is bold."""

    height: float
    bold: bool


@dataclass(frozen=True, slots=True)
class _Found:
    page: int
    first_line: int
    last_line: int
    style: _Style
    text: str


def find_headings(
    pages: Sequence[RawPage], laid_out: Sequence[PageText], offsets: Sequence[int], step: float
) -> tuple[Heading, ...]:
    """The headings with their place in the document, whose page k begins at `offsets[k]`."""
    body = _body_style(pages)
    found = [heading for number, page in enumerate(pages) for heading in _on_page(number, page, body, step)]
    found = _without_running_headers(found, len(pages))
    characters = sum(len(page.text) for page in laid_out)
    if sum(len(heading.text) for heading in found) > _MAX_SHARE * characters:
        return ()
    levels = _levels(found)
    return tuple(
        Heading(levels[heading.style], *_span(heading, laid_out[heading.page], offsets[heading.page]))
        for heading in found
    )


def title_on_first_page(pages: Sequence[RawPage], step: float) -> str:
    """The largest heading of the first page, if it stands out, with those right around it (a title is often set
    in several sizes, below the organisation's name); else nothing."""
    body = _body_style(pages)
    headings = list(_on_page(0, pages[0], body, step)) if pages else []
    largest = max(headings, key=lambda heading: heading.style.height, default=None)
    if largest is None or largest.style.height < _TITLE_LARGER * body.height:
        return ""
    at = headings.index(largest)
    first = last = at
    while first and headings[first - 1].last_line + 1 == headings[first].first_line:
        first -= 1
    while last + 1 < len(headings) and headings[last].last_line + 1 == headings[last + 1].first_line:
        last += 1
    whole = " – ".join(heading.text for heading in headings[first : last + 1])
    return whole if len(whole) <= _MAX_CHARACTERS else largest.text


def _body_style(pages: Sequence[RawPage]) -> _Style:
    characters: Counter[_Style] = Counter()
    for page in pages:
        for line in page.lines:
            characters[_style(line)] += line.end - line.start
    return characters.most_common(1)[0][0] if characters else _Style(0.0, bold=False)


def _style(line: RawLine) -> _Style:
    return _Style(round(line.height * 2) / 2, line.bold)


def _on_page(number: int, page: RawPage, body: _Style, step: float) -> Iterator[_Found]:
    at = 0
    while at < len(page.lines):
        last = _heading_end(page, at, body, step)
        if last is None:
            at += 1
            continue
        words = (page.text[line.start : line.end] for line in page.lines[at : last + 1])
        yield _Found(number, at, last, _style(page.lines[at]), " ".join(words))
        at = last + 1


def _heading_end(page: RawPage, first: int, body: _Style, step: float) -> int | None:
    """The last line of the heading that begins at line `first`; None when none does."""
    opening = page.lines[first]
    if not _stands_out(page, first, body, step):
        return None
    last = first
    while last + 1 < len(page.lines):
        line = page.lines[last + 1]
        if _style(line) != _style(opening) or starts_paragraph(page.lines[last], line, step):
            break
        last += 1
    text = page.text[opening.start : page.lines[last].end]
    long = last - first >= _MAX_LINES or len(text) > _MAX_CHARACTERS
    return None if long or not _reads_as_heading(text) else last


def _reads_as_heading(text: str) -> bool:
    """Mostly letters, and not the head of a formula, a bullet or a line of a table of contents."""
    letters = len(_LETTER.findall(text))
    return text[0].isalnum() and 2 <= letters >= 0.5 * len(text) and not _LEADER.search(text)


def _stands_out(page: RawPage, number: int, body: _Style, step: float) -> bool:
    line = page.lines[number]
    if line.height > _LARGER * body.height:
        return True
    if not line.bold or body.bold or line.height < body.height / _LARGER:
        return False
    text = page.text[line.start : line.end]
    opens = number == 0 or starts_paragraph(page.lines[number - 1], line, step)
    return opens and not text.endswith(_SENTENCE_END)


def _without_running_headers(found: Sequence[_Found], pages: int) -> list[_Found]:
    seen = Counter(_DIGITS.sub("0", heading.text).casefold() for heading in found)
    allowed = max(_RUNNING_PAGES, _RUNNING_SHARE * pages)
    return [heading for heading in found if seen[_DIGITS.sub("0", heading.text).casefold()] < allowed]


def _levels(found: Sequence[_Found]) -> dict[_Style, int]:
    """Level by type: the larger the higher, bold before plain at the same size."""
    styles = sorted({heading.style for heading in found}, key=lambda style: (-style.height, not style.bold))
    return {style: min(level, _MAX_LEVEL) for level, style in enumerate(styles, start=1)}


def _span(heading: _Found, page: PageText, offset: int) -> tuple[int, int]:
    start = page.line_starts[heading.first_line]
    following = heading.last_line + 1
    end = page.line_starts[following] if following < len(page.line_starts) else len(page.text)
    return offset + start, offset + start + len(page.text[start:end].rstrip())
