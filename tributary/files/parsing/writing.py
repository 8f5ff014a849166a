"""Writes a document's text, block by block, as the splitter reads it back: Markdown's headings, items, tables, code.

Offsets are known while it is written, so that headings, pages and pictures can be told with their place. What the
source says in ordinary words is never read as a mark: a line that would be is escaped.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tributary.domain.knowledge import Heading, Page, ParsedDocument, Picture
from tributary.files.parsing.grids import is_header, trimmed
from tributary.files.parsing.limits import check_characters, check_not_blank

_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\xad\ufeff\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
)
_MISREAD = re.compile(r"(?m)^[ \t]*(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|=+[ \t]*$|[-|:][-|: \t]+$)")
_LINE_BREAK = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")
_BACKTICKS = re.compile(r"`{3,}")
_INDENT = "  "
_MAX_DEPTH = 9
_MAX_HEADING = 1_000


@dataclass(frozen=True, slots=True)
class Sight:
    """Where a picture stands: behind the character before `offset`, on that page where there are pages."""

    source: str
    offset: int
    page: int | None = None


def cleaned(text: str) -> str:
    """One line: without controls and code points that no database takes, runs of white space as one space."""
    return text if text.isalnum() else " ".join(_UNPRINTABLE.sub("", text).split())


def cleaned_lines(text: str) -> list[str]:
    """The lines that are not blank, each `cleaned`."""
    return [line for line in map(cleaned, _LINE_BREAK.split(text)) if line]


class Writing:
    """The text of one document while it grows. Everything raises `FileTooLarge` above the limit on characters."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._pages: list[Page] = []
        self._headings: list[Heading] = []
        self._in_list = False
        self._page_start: int | None = None
        self.sights: list[Sight] = []
        self.length = 0
        self.first_heading = ""

    def heading(self, level: int, text: str) -> None:
        words = cleaned(text)[:_MAX_HEADING]
        if not words:
            return
        level = max(1, min(level, 6))
        start = self._block(f"{'#' * level} {words}")
        self._headings.append(Heading(level, start, self.length))
        self.first_heading = self.first_heading or words

    def paragraph(self, text: str) -> None:
        """Line breaks within stay."""
        lines = cleaned_lines(text)
        if lines:
            self._block(_MISREAD.sub(r"\\", "\n".join(lines)))

    def item(self, depth: int, marker: str, text: str) -> None:
        """An item of a list, `depth` 0 the outermost. Items that follow each other stand on lines of their own."""
        lines = cleaned_lines(text)
        if not lines:
            return
        indent = _INDENT * max(0, min(depth, _MAX_DEPTH))
        first = f"{indent}{marker} {lines[0]}" if marker else f"{indent}{lines[0]}"
        rest = [f"{indent}{_INDENT}{line}" for line in lines[1:]]
        self._block(_MISREAD.sub(lambda found: found[0] + "\\", "\n".join([first, *rest])), listed=True)

    def code(self, text: str) -> None:
        """Lines and blanks as they are."""
        lines = [_UNPRINTABLE.sub("", line).rstrip() for line in _LINE_BREAK.split(text)]
        while lines and not lines[0]:
            del lines[0]
        while lines and not lines[-1]:
            del lines[-1]
        if lines:
            body = "\n".join(lines)
            fence = "`" * max(3, 1 + max((len(found) for found in _BACKTICKS.findall(body)), default=0))
            self._block(f"{fence}\n{body}\n{fence}")

    def table(self, grid: Iterable[Sequence[str]], *, header: bool | None = None) -> None:
        """Rows of cells. `header` tells whether the first names the columns; without it the cells do. What is only one
        column, or one row, is no table and becomes paragraphs."""
        rows = trimmed([cleaned(cell) for cell in row] for row in grid)
        if not rows:
            return
        width = len(rows[0])
        if width == 1:
            for row in rows:
                self.paragraph(row[0])
            return
        if header is None:
            header = is_header(rows)
        lines = [_row(rows[0] if header else [""] * width), "|" + " --- |" * width]
        lines += map(_row, rows[1:] if header else rows)
        self._block("\n".join(lines))

    def picture(self, source: str) -> None:
        """A picture stands here. `source` is the parser's name for it."""
        page = self.page_count or None
        self.sights.append(Sight(source, self.length, page))

    def begin_page(self) -> None:
        """What follows stands on the next page."""
        self.end_page()
        self._page_start = self.length
        self._in_list = False

    def end_page(self) -> None:
        if self._page_start is None:
            return
        start = self._page_start
        if self.length > start and start:
            start += 2  # the blank line before the page's first block belongs to neither
        self._pages.append(Page(len(self._pages) + 1, min(start, self.length), self.length))
        self._page_start = None

    @property
    def page_count(self) -> int:
        return len(self._pages) + (self._page_start is not None)

    def document(self, title: str, pictures: tuple[Picture, ...] = ()) -> ParsedDocument:
        """The whole; without a `title`, under its first heading. Raises `EmptyFile` where nothing was written."""
        self.end_page()
        text = "".join(self._parts)
        check_not_blank(text)
        return ParsedDocument(
            text=text,
            pages=tuple(self._pages),
            title=title or self.first_heading[:200],
            headings=tuple(self._headings),
            pictures=pictures,
        )

    def _block(self, text: str, *, listed: bool = False) -> int:
        """Appends a block; where it begins."""
        if self.length:
            self._append("\n" if listed and self._in_list else "\n\n")
        self._in_list = listed
        start = self.length
        self._append(text)
        return start

    def _append(self, text: str) -> None:
        self._parts.append(text)
        self.length += len(text)
        check_characters(self.length)


def _row(cells: Sequence[str]) -> str:
    return "".join(f"| {cell.replace('|', chr(92) + '|')} " for cell in cells) + "|"
