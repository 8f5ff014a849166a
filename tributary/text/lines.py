"""The lines of a text: which of them stand alone, and which belong to one paragraph."""

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC


class Region(NamedTuple):
    """Lines that are read together, `text[start:end]`; sentences end from `body` on, behind a list's marker.
    What is `whole` is no prose: a heading, a table's row, a line of code, a rule."""

    start: int
    body: int
    end: int
    whole: bool


class _Kind(Enum):
    BLANK = auto()
    ALONE = auto()
    ITEM = auto()
    PROSE = auto()


class _Line(NamedTuple):
    """Without the white space at its ends; `width` counts from the beginning of the line."""

    start: int
    end: int
    width: int
    text: str


_FENCE = re.compile(r"`{3,}|~{3,}")
_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_RULE = re.compile(r"[-=_*~+ ]{3,}$")
_MARKER = re.compile(
    r"(?:>\s*)*(?:[-*+•◦▪▫‣●○–—]|\(?(?:\d{1,4}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\d{1,2}(?:\.\d{1,2}){1,3}\.?)[ \t]+(?=\S)"
)
_STATEMENT = re.compile(
    r"def \w+\(|class \w+[(:]|import [\w.]+$|from [\w.]+ import |(?:const|let|var) \w+ =|[\w.]+ = \S+$|[\w.]+\(.*\)$"
    r"|//|#!|#include\b|@\w+$|[)}\]]+;?,?$"
)
_UNSPACED = re.compile(f"[{IDEOGRAPHIC}{CONTINUOUS}]")
_WORD = re.compile(r"\S{1,24}")
# A line is full when the first word of the next would not have fitted; ragged margins leave this much play.
_FULL = 0.85


def regions(text: str) -> Iterator[Region]:
    """The regions of a text in order; together they hold every character that is no white space."""
    paragraph: list[_Line] = []
    for kind, line in _classified(text):
        if kind is not _Kind.PROSE and paragraph:
            yield from _split_paragraph(paragraph)
            paragraph = []
        if kind is _Kind.ALONE:
            yield Region(line.start, line.start, line.end, True)
        elif kind is not _Kind.BLANK:
            paragraph.append(line)
    if paragraph:
        yield from _split_paragraph(paragraph)


def _classified(text: str) -> Iterator[tuple[_Kind, _Line]]:
    fence = ""
    for line in _lines(text):
        mark = _FENCE.match(line.text)
        if fence:
            # Only as long a fence of the same sort closes it.
            if mark and line.text.rstrip(fence[0]) == "" and len(line.text) >= len(fence):
                fence = ""
            yield (_Kind.ALONE if line.text else _Kind.BLANK), line
        elif mark:
            fence = mark[0]
            yield _Kind.ALONE, line
        else:
            yield _kind_of(line.text), line


def _lines(text: str) -> Iterator[_Line]:
    position = 0
    for line in text.splitlines(keepends=True):
        content = line.strip()
        left = len(line) - len(line.lstrip()) if content else 0
        start = position + left
        yield _Line(start, start + len(content), left + len(content), content)
        position += len(line)


def _kind_of(line: str) -> _Kind:
    if not line:
        return _Kind.BLANK
    if _HEADING.match(line) or _RULE.match(line) or is_table_row(line) or is_code(line):
        return _Kind.ALONE
    return _Kind.ITEM if _MARKER.match(line) else _Kind.PROSE


def is_table_row(line: str) -> bool:
    """Whether a line, neither blank nor with white space at its ends, has the cells of a table."""
    return line[0] == "|" or line.count(" | ") > 1 or line.count("\t") > 1


def is_code(line: str) -> bool:
    """Whether a line, neither blank nor with white space at its ends, is a statement of a program."""
    if line[-1] in "{}":
        return True
    return (line[-1] == ";" and ("(" in line or "=" in line)) or _STATEMENT.match(line) is not None


def _split_paragraph(lines: Sequence[_Line]) -> Iterator[Region]:
    """A paragraph, cut where a line was left early and the next begins anew: a title above its text, an address."""
    widths = sorted(line.width for line in lines)
    # One overlong line says nothing about where the others were broken.
    width = widths[(len(widths) * 9 - 1) // 10]
    first = 0
    for number in range(1, len(lines)):
        if _begins_anew(lines[number - 1], lines[number], width):
            yield _region(lines[first:number])
            first = number
    yield _region(lines[first:])


def _begins_anew(above: _Line, line: _Line, width: int) -> bool:
    if line.text[0].islower():
        return False
    word = _WORD.match(line.text)
    needed = 1 if _UNSPACED.match(line.text) or word is None else len(word[0]) + 1
    return above.width + needed <= _FULL * width


def _region(lines: Sequence[_Line]) -> Region:
    marker = _MARKER.match(lines[0].text)
    start = lines[0].start
    return Region(start, start + (marker.end() if marker else 0), lines[-1].end, False)
