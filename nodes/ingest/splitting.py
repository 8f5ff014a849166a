"""Documents into chunks: pieces that the embedder sees whole and that a citation can point at.

A chunk never crosses a page, and with its title and heading path it never exceeds the embedder's window, as the
embedder itself counts.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from nodes.ingest.blocks import read_blocks
from nodes.ingest.packing import pack
from nodes.ingest.units import cut_unit, read_units
from nodes.ingest.window import Measured, Path, TokenCounter, Window, embedding_text
from tributary.domain.knowledge import ChunkDraft, ParsedDocument

__all__ = ["TARGET_TOKENS", "TokenCounter", "embedding_text", "split"]

#: The size that chunks aim at, title and headings not counted.
TARGET_TOKENS = 300


def split(
    document: ParsedDocument,
    *,
    count_tokens: TokenCounter,
    max_tokens: int,
    title: str | None = None,
    target_tokens: int = TARGET_TOKENS,
) -> list[ChunkDraft]:
    """The chunks in order; together they hold all that isn't blank. A blank document has none.

    `max_tokens` is the embedder's window for `embedding_text(draft, title)`; `title` is the document's own unless
    given. Headings, paragraphs, list items, table rows and sentences stay whole unless one alone is over the window.

    Raises:
        ValueError: the window is too small for the title and any text.
    """
    text = document.text
    window = Window(count_tokens, max_tokens, document.title if title is None else title)
    units = list(read_units(text, read_blocks(document)))
    headings = window.headings(unit.path for unit in units)
    rooms = window.rooms(headings)
    pages = groupby(window.measure(text, units, rooms), key=lambda each: each.unit.page)
    pending = [run for _, page in pages for run in _pack(list(page), target_tokens)]
    finished: list[ChunkDraft] = []
    while pending:
        drafts = [_draft(document, run, headings) for run in pending]
        over = window.over(drafts)
        finished += [draft for draft, exceeds in zip(drafts, over, strict=True) if not exceeds]
        exceeding = [run for run, exceeds in zip(pending, over, strict=True) if exceeds]
        pending = [part for run in exceeding for part in _halve(text, run, window, rooms)]
    finished.sort(key=lambda draft: draft.start)
    return [replace(draft, ordinal=ordinal) for ordinal, draft in enumerate(finished)]


def _pack(page: Sequence[Measured], target: int) -> list[Sequence[Measured]]:
    ranges = pack(
        [each.tokens for each in page],
        [each.unit.boundary for each in page],
        [each.room for each in page],
        target,
    )
    return [page[first:behind] for first, behind in ranges]


def _draft(document: ParsedDocument, run: Sequence[Measured], headings: dict[Path, str]) -> ChunkDraft:
    opening = run[0].unit
    start, end = opening.start, run[-1].unit.end
    page = document.pages[opening.page].number if opening.page >= 0 else None
    return ChunkDraft(-1, document.text[start:end], start, end, page, headings[opening.path])


def _halve(text: str, run: Sequence[Measured], window: Window, rooms: dict[Path, int]) -> list[Sequence[Measured]]:
    """A run that turned out too large, in two or more: joined, its units count more than one by one."""
    if len(run) == 1:
        unit = run[0].unit
        if unit.end - unit.start == 1:
            raise ValueError("the window can't hold the title and a single character")
        pieces = cut_unit(text, unit, (unit.end - unit.start + 1) // 2)
        return [[piece] for piece in window.measure(text, pieces, rooms)]
    half = max(1, sum(each.tokens for each in run) * 3 // 5)
    parts = _pack([replace(each, room=min(each.room, half)) for each in run], half)
    return parts if len(parts) > 1 else [run[: len(run) // 2], run[len(run) // 2 :]]
