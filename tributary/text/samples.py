"""Bounding what is read of a long text."""

from collections.abc import Sequence
from typing import TypeVar

_Item = TypeVar("_Item")


def sample_text(text: str, limit: int, *, pieces: int = 16) -> str:
    """At most about `limit` characters: the whole text, or its beginning and pieces evenly spread over the rest."""
    if len(text) <= limit:
        return text
    size = limit // pieces
    step = (len(text) - size) / (pieces - 1)
    return "\n\n".join(text[int(number * step) :][:size] for number in range(pieces))


def sample_items(items: Sequence[_Item], limit: int) -> Sequence[_Item]:
    """At most `limit` items in order: all, or the first third of the limit and the rest evenly spread."""
    if len(items) <= limit:
        return items
    lead = limit // 3
    rest = limit - lead
    step = (len(items) - lead) / rest
    return [*items[:lead], *(items[lead + int(number * step)] for number in range(rest))]
