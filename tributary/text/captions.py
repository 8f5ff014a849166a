"""Captions of pictures in a document's text: where they stand, and how a reader tells them from its own words.

A document that is a picture has its caption as a paragraph. A picture inside a document has it in square brackets: at
the end of its page, where the document has pages, so that the page's own text stays what its file says; else behind
the paragraph that it stands beside.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from tributary.domain.knowledge import Heading, Page, ParsedDocument, Picture

CAPTION_CHARACTERS = 1_200
_OPENS, _CLOSES = "[Picture: ", "]"
_LAST = re.compile(r"(?:\n\n|\A)\[Picture: [^\n]*\]\Z")
_PARAGRAPH_END = re.compile(r"[ \t]*\n[ \t]*\n")
#: What would make a line more than a paragraph.
_MARKS = "#`~>|*=+-_ "


def caption_line(text: str) -> str:
    """What a model wrote as one line that can be stored and is a paragraph wherever it stands; empty where it says
    nothing."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    line = line.lstrip(_MARKS)[:CAPTION_CHARACTERS].rstrip()
    return line if any(each.isalpha() for each in line) else ""


def whole_captioned(document: ParsedDocument, caption: str) -> ParsedDocument:
    """A document that is a picture, with its caption."""
    return replace(document, text="\n\n".join(filter(None, (document.text, caption)))) if caption else document


def captioned(document: ParsedDocument, captions: Mapping[int, str]) -> ParsedDocument:
    """The document with the captions of its pictures, by their number, in its text. Everything else in it moves along,
    and a picture with a caption stands at that."""
    told = {number: caption for number, caption in sorted(captions.items()) if caption}
    if not told:
        return document
    ends = {number: _place(document, document.pictures[number]) for number in told}
    order = sorted(told, key=lambda number: (ends[number], number))
    return _inserted(document, [(*ends[number], number, f"{_OPENS}{told[number]}{_CLOSES}") for number in order])


def without_last_caption(page_text: str) -> str:
    """A page's text without the caption at its end; the same where there is none."""
    return _LAST.sub("", page_text)


def _place(document: ParsedDocument, picture: Picture) -> tuple[int, int]:
    """The offset to insert at, and the index of the page, -1 where there is none."""
    for index, page in enumerate(document.pages):
        if page.number == picture.page:
            return page.end, index
    if document.pages:
        index = max(0, bisect_right(document.pages, picture.offset, key=lambda page: page.start) - 1)
        return document.pages[index].end, index
    before = document.text[: picture.offset]
    paragraph = before.rstrip()
    if paragraph and before.count("\n", len(paragraph)) > 1:
        return len(paragraph), -1
    found = _PARAGRAPH_END.search(document.text, len(paragraph))
    return (found.start() if found else len(document.text.rstrip())), -1


def _inserted(document: ParsedDocument, insertions: Sequence[tuple[int, int, int, str]]) -> ParsedDocument:
    """`insertions` as (offset, page, picture, text), in order."""
    parts: list[str] = []
    sizes: list[int] = []
    written, last = 0, 0
    at: dict[int, int] = {}
    for offset, page, number, text in insertions:
        start = document.pages[page].start if page >= 0 else 0
        opened = bool(parts) and insertions[len(sizes) - 1][:2] == (offset, page)
        blank = "" if offset == start and not opened else "\n\n"
        parts += [document.text[last:offset], blank, text]
        written += offset - last + len(blank)
        at[number] = written
        written += len(text)
        sizes.append(len(blank) + len(text))
        last = offset
    shifts = _Shifts([each[0] for each in insertions], [each[1] for each in insertions], sizes)
    return replace(
        document,
        text="".join([*parts, document.text[last:]]),
        pages=tuple(shifts.page(index, page) for index, page in enumerate(document.pages)),
        headings=tuple(shifts.heading(each) for each in document.headings),
        pictures=tuple(
            replace(each, offset=at.get(number, shifts.behind(each.offset)))
            for number, each in enumerate(document.pictures)
        ),
    )


class _Shifts:
    """How far characters move that stand behind insertions."""

    def __init__(self, offsets: Sequence[int], pages: Sequence[int], sizes: Sequence[int]) -> None:
        self._offsets = offsets
        self._pages = pages
        self._sums = [0, *accumulate(sizes)]

    def behind(self, offset: int) -> int:
        """Where a character goes that stands at `offset`; what ends there stays before an insertion."""
        return offset + self._sums[bisect_left(self._offsets, offset)]

    def page(self, index: int, page: Page) -> Page:
        before, through = bisect_left(self._pages, index), bisect_right(self._pages, index)
        return replace(page, start=page.start + self._sums[before], end=page.end + self._sums[through])

    def heading(self, heading: Heading) -> Heading:
        moved = self._sums[bisect_right(self._offsets, heading.start)]
        return replace(heading, start=heading.start + moved, end=heading.end + moved)
