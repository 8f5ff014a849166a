"""The blocks of a document's text: headings, paragraphs, list items, tables, fenced code.

Read line by line, once. Markdown's marks are honoured wherever a document has no layout of its own (no pages and no
headings given), plain text included: who writes `# Title` into a text file means a title.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from tributary.domain.knowledge import Heading, ParsedDocument
from tributary.files.parsing.markdown import (
    FENCE,
    LINE,
    atx_heading,
    closes_fence,
    front_matter_end,
    heading_text,
    underline_level,
)

#: Joins the parts of a heading path.
PATH_SEPARATOR = " > "

_ITEM = re.compile(r"[ \t]*(?:[-*+•‣◦▪●○–·]|\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})[.)、]|\d{1,3}、)(?=[ \t]+\S)")
_DELIMITER_ROW = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL_MARKS = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
#: What a heading is marked with besides, where the parser gives its place.
_ATX_MARKS = re.compile(r"#{1,6}[ \t]+")
_MAX_HEADING = 160
_MAX_HEADER_ROW = 240


class Kind(Enum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Block:
    """`text[start:end]`, without the line break behind it. `path` are the headings above it, outermost first;
    `level` is a heading's own. `page` counts from 0 and is -1 where the document has none."""

    kind: Kind
    start: int
    end: int
    path: tuple[str, ...]
    page: int = -1
    level: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    text: str

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()


@dataclass(slots=True)
class _Outline:
    """The headings in force while the document is read."""

    levels: list[int] = field(default_factory=list)
    path: tuple[str, ...] = ()

    def above(self, level: int) -> tuple[str, ...]:
        """Leaves what a heading of this level ends, and returns what it stands under."""
        keep = len(self.levels)
        while keep and self.levels[keep - 1] >= level:
            keep -= 1
        del self.levels[keep:]
        self.path = self.path[:keep]
        return self.path

    def enter(self, level: int, text: str) -> None:
        self.levels.append(level)
        self.path = (*self.path, text[:_MAX_HEADING])


def read_blocks(document: ParsedDocument) -> Iterator[Block]:
    """The blocks in order; together they hold all that isn't blank. None crosses a page."""
    outline = _Outline()
    given = {heading.start: heading for heading in document.headings}
    if not document.pages:
        yield from _read(document.text, 0, len(document.text), -1, given, outline, marked=not given)
        return
    for number, page in enumerate(document.pages):
        yield from _read(document.text, page.start, page.end, number, given, outline, marked=False)


def header_row(text: str, table: Block) -> str:
    """The column names of a table, readable; nothing where it has no header."""
    lines = [found[0].strip() for found in islice(LINE.finditer(text, table.start, table.end), 2)]
    if len(lines) < 2 or not _DELIMITER_ROW.match(lines[1]):
        return ""
    cells = [heading_text(cell) for cell in _CELL_MARKS.split(lines[0].strip("|"))]
    return " | ".join(cell for cell in cells if cell)[:_MAX_HEADER_ROW]


def lines_of(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines in `text[start:end]` as ranges without their breaks."""
    return [
        (found.start(), found.start() + len(found[0].rstrip("\r\n")))
        for found in LINE.finditer(text, start, end)
        if found[0]
    ]


def _read(
    text: str,
    start: int,
    end: int,
    page: int,
    given: Mapping[int, Heading],
    outline: _Outline,
    *,
    marked: bool,
) -> Iterator[Block]:
    lines = [_Line(first, last, text[first:last]) for first, last in lines_of(text, start, end)]
    at = 0
    if marked and start == 0 and (front := front_matter_end(text)):
        at = next((number for number, line in enumerate(lines) if line.start >= front), len(lines))
        yield Block(Kind.PARAGRAPH, 0, lines[at - 1].end, (), page)
    while at < len(lines):
        line = lines[at]
        if line.blank:
            at += 1
            continue
        heading = _heading(lines, at, given, marked=marked)
        if heading is not None:
            level, name, following = heading
            yield Block(Kind.HEADING, line.start, lines[following - 1].end, outline.above(level), page, level)
            outline.enter(level, name)
        else:
            kind, following = _extent(lines, at, given, marked=marked)
            yield Block(kind, line.start, lines[following - 1].end, outline.path, page)
        at = following


def _heading(
    lines: Sequence[_Line], at: int, given: Mapping[int, Heading], *, marked: bool
) -> tuple[int, str, int] | None:
    """Level, readable text and the line behind it, where a heading begins at line `at`."""
    line = lines[at]
    if heading := given.get(line.start):
        following = at + 1
        while following < len(lines) and lines[following].start < heading.end:
            following += 1
        name = " ".join(" ".join(each.text for each in lines[at:following]).split())
        return heading.level, _ATX_MARKS.sub("", name, count=1) if name.startswith("#") else name, following
    if not marked:
        return None
    if line.text.lstrip(" ").startswith("#") and (found := atx_heading(line.text)):
        return found[0], found[1], at + 1
    return _underlined(lines, at)


def _underlined(lines: Sequence[_Line], at: int) -> tuple[int, str, int] | None:
    """A line by itself above `===` or `---`. Only the first line of a paragraph gets here, so a paragraph of
    several lines above a rule is none; a table's header row is none either."""
    if at + 1 >= len(lines) or lines[at + 1].text.lstrip(" ")[:1] not in ("=", "-"):
        return None
    level = underline_level(lines[at + 1].text)
    line = lines[at].text
    if level is None or "|" in line or _ITEM.match(line) or underline_level(line):
        return None
    return level, heading_text(line), at + 2


def _extent(lines: Sequence[_Line], at: int, given: Mapping[int, Heading], *, marked: bool) -> tuple[Kind, int]:
    """Kind of the block that begins at line `at`, and the line behind its end."""
    line = lines[at]
    if marks := _fence(line):
        return Kind.CODE, _end_of_code(lines, at, marks)
    if _opens_table(lines, at):
        following = at + 2
        while following < len(lines) and "|" in lines[following].text:
            following += 1
        return Kind.TABLE, following
    kind = Kind.ITEM if _ITEM.match(line.text) else Kind.PARAGRAPH
    following = at + 1
    while following < len(lines) and not _opens_block(lines, following, given, marked=marked):
        following += 1
    return kind, following


def _opens_block(lines: Sequence[_Line], at: int, given: Mapping[int, Heading], *, marked: bool) -> bool:
    """Whether line `at` ends the paragraph or list item above it."""
    line = lines[at]
    if line.blank or line.start in given:
        return True
    first = line.text.lstrip()[0]
    if first.isalpha() and len(line.text) > 1 and line.text.lstrip()[1].isalpha() and "|" not in line.text:
        return False  # ordinary words, most lines: nothing below can match
    if _ITEM.match(line.text) or _fence(line) or _opens_table(lines, at):
        return True
    return marked and first == "#" and atx_heading(line.text) is not None


def _fence(line: _Line) -> str:
    found = FENCE.match(line.text)
    if found is None or ("`" in found["marks"] and "`" in found["info"]):
        return ""
    return found["marks"]


def _end_of_code(lines: Sequence[_Line], at: int, marks: str) -> int:
    following = at + 1
    while following < len(lines):
        following += 1
        if closes_fence(lines[following - 1].text, marks):
            break
    return following


def _opens_table(lines: Sequence[_Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at].text:
        return False
    below = lines[at + 1].text
    return "|" in below and _DELIMITER_ROW.match(below.strip()) is not None
