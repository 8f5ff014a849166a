"""The units that chunks are made of: what is kept whole unless it alone is larger than a chunk may be.

A unit is a heading, a sentence, a list item's sentence, a table's row or a line of code. Each knows how good a place
to cut stands before it.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import pairwise

from nodes.ingest.blocks import Block, Kind, header_row, lines_of
from tributary.text.sentences import sentence_spans


class Boundary(IntEnum):
    """What begins at a unit, from where a cut does harm to where it is welcome."""

    #: What a heading or a table's header introduces.
    HEADED = 0
    PIECE = 1
    CODE_LINE = 2
    #: A list, table or code that the sentence before announces ("Choose one of:").
    ANNOUNCED = 3
    SENTENCE = 4
    LINE = 5
    ITEM = 6
    BLOCK = 7
    SECTION = 8
    CHAPTER = 9


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]`, never blank, without blanks at its ends."""

    start: int
    end: int
    boundary: Boundary
    path: tuple[str, ...]
    page: int = -1


#: A block of so few characters is not taken apart: it is no larger than a sentence.
_ONE_SENTENCE = 80
_ANNOUNCING = (":", "：")
_LAST_CHAPTER_LEVEL = 2
_SPLITTING_PUNCTUATION = re.compile(r"\s+|(?<=[,;:、，；：。])")
_JOINERS = frozenset("\u200c\u200d")


def read_units(text: str, blocks: Iterable[Block]) -> Iterator[Unit]:
    """The units of the blocks, in order."""
    above: Block | None = None
    for block in blocks:
        first = _first_boundary(text, above, block)
        if block.kind is Kind.HEADING:
            span = _trimmed(text, block.start, block.end)
            assert span is not None  # no block is blank
            yield Unit(*span, first, block.path, block.page)
        elif block.kind is Kind.TABLE:
            yield from _rows(text, block, first)
        elif block.kind is Kind.CODE:
            yield from _code_lines(text, block, first)
        else:
            yield from _sentences(text, block, first)
        above = block


def cut_unit(text: str, unit: Unit, size: int) -> Iterator[Unit]:
    """The unit in pieces of at most `size` characters: by lines if it has any, else behind blanks or punctuation,
    else anywhere but within a character that people see as one."""
    boundary = unit.boundary
    for line_start, line_end in lines_of(text, unit.start, unit.end):
        start = line_start
        while start < line_end:
            end = line_end if line_end - start <= size else _cut_before(text, start, start + size)
            piece = _trimmed(text, start, end)
            if piece:
                yield replace(unit, start=piece[0], end=piece[1], boundary=boundary)
                boundary = Boundary.PIECE
            start = end


def _first_boundary(text: str, above: Block | None, block: Block) -> Boundary:
    if above is None:
        return Boundary.BLOCK
    if block.kind is Kind.HEADING:
        if above.kind is Kind.HEADING and above.level < block.level:
            return Boundary.HEADED
        return Boundary.CHAPTER if block.level <= _LAST_CHAPTER_LEVEL else Boundary.SECTION
    if above.kind is Kind.HEADING:
        return Boundary.HEADED
    if block.kind is not Kind.PARAGRAPH and above.kind is Kind.PARAGRAPH:
        return Boundary.ANNOUNCED if text.endswith(_ANNOUNCING, above.start, above.end) else Boundary.BLOCK
    return Boundary.ITEM if block.kind is above.kind is Kind.ITEM else Boundary.BLOCK


def _rows(text: str, table: Block, first: Boundary) -> Iterator[Unit]:
    """A row is a unit; rows below the header carry the column names as the last part of their path."""
    header = header_row(text, table)
    headed = (*table.path, header) if header else table.path
    for number, (start, end) in enumerate(lines_of(text, table.start, table.end)):
        row = _trimmed(text, start, end)
        if row is None:
            continue
        if number < 2:
            yield Unit(*row, Boundary.HEADED if number else first, table.path, table.page)
        else:
            yield Unit(*row, Boundary.HEADED if number == 2 else Boundary.LINE, headed, table.page)


def _code_lines(text: str, code: Block, first: Boundary) -> Iterator[Unit]:
    boundary = first
    for start, end in lines_of(text, code.start, code.end):
        line = _trimmed(text, start, end)
        if line is None:
            boundary = max(boundary, Boundary.LINE)
            continue
        yield Unit(*line, boundary, code.path, code.page)
        boundary = Boundary.CODE_LINE


def _sentences(text: str, block: Block, first: Boundary) -> Iterator[Unit]:
    """Each from where it starts to where the next one does, so that nothing between two can be lost."""
    content = text[block.start : block.end]
    inner = sentence_spans(content) if len(content) > _ONE_SENTENCE else []
    starts = [0, *(start for start, _ in inner if start > 0), len(content)]
    boundary = first
    for start, end in pairwise(starts):
        sentence = _trimmed(text, block.start + start, block.start + end)
        if sentence is None:
            continue
        yield Unit(*sentence, boundary, block.path, block.page)
        ended_line = _has_break(text, sentence[1], block.start + end)
        boundary = Boundary.LINE if ended_line else Boundary.SENTENCE


def _has_break(text: str, start: int, end: int) -> bool:
    return any(text.find(mark, start, end) >= 0 for mark in "\r\n")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    content = text[start:end]
    left = len(content) - len(content.lstrip())
    if left == len(content):
        return None
    return start + left, start + len(content.rstrip())


def _cut_before(text: str, start: int, limit: int) -> int:
    """The best place to cut in the second half of `text[start:limit]`."""
    middle = start + max(1, (limit - start) // 2)
    best = 0
    for found in _SPLITTING_PUNCTUATION.finditer(text, middle, limit):
        best = found.end()
    if best > start:
        return best
    for at in range(limit, max(middle, limit - 16), -1):
        if not _extends_character(text, at):
            return at
    return limit


def _extends_character(text: str, at: int) -> bool:
    """Whether what stands at `at` belongs to the character before it: an accent, a joiner, an emoji's second part."""
    if at >= len(text):
        return False
    return (
        unicodedata.category(text[at]).startswith("M")
        or text[at] in _JOINERS
        or text[at - 1] in _JOINERS
        or 0x1F3FB <= ord(text[at]) <= 0x1F3FF
    )
