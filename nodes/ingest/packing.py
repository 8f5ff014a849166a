"""Where a run of units is cut into chunks."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from nodes.ingest.units import Boundary

#: How good it is to begin a chunk at a boundary.
_VALUES = {
    Boundary.HEADED: -1.0,
    Boundary.PIECE: 0.0,
    Boundary.CODE_LINE: 0.15,
    Boundary.ANNOUNCED: 0.2,
    Boundary.SENTENCE: 0.3,
    Boundary.LINE: 0.4,
    Boundary.ITEM: 0.45,
    Boundary.BLOCK: 0.6,
    Boundary.SECTION: 0.9,
    Boundary.CHAPTER: 1.0,
}
_END = 1.0
#: Against taking along only the beginning of the next section.
_CROSSING = 0.35
#: Against leaving a rest that is too small to stand alone.
_REST = 0.5
#: A chunk under this share of the target is made only where nothing else fits.
_SMALLEST = 0.3
#: How much a chunk as large as its room allows is worse than one of the target's size.
_OVERSIZE = 0.6


def pack(
    tokens: Sequence[int], boundaries: Sequence[Boundary], rooms: Sequence[int], target: int
) -> list[tuple[int, int]]:
    """Ranges of units, one a chunk, that cover all of them in order.

    `tokens[i]` is the size of unit i, `rooms[i]` what a chunk that begins there may hold. A unit larger than its
    room gets a chunk of its own. Each cut is made where boundary and size together are best; the time is linear.
    """
    sums = [0, *accumulate(tokens)]
    chunks: list[tuple[int, int]] = []
    start = 0
    while start < len(tokens):
        end = _best_end(sums, boundaries, start, rooms[start], min(target, rooms[start]))
        chunks.append((start, end))
        start = end
    return chunks


def _best_end(sums: Sequence[int], boundaries: Sequence[Boundary], start: int, room: int, target: int) -> int:
    last = max(bisect_right(sums, sums[start] + room) - 1, start + 1)
    smallest = _SMALLEST * target
    best, best_value = last, float("-inf")
    crossed = False
    for end in range(start + 1, last + 1):
        size = sums[end] - sums[start]
        at_section = end < len(boundaries) and boundaries[end] >= Boundary.SECTION
        if size >= smallest:
            value = _value(end, boundaries) - _misfit(size, target, room)
            if crossed and not at_section and end < len(boundaries):
                value -= _CROSSING
            if 0 < sums[-1] - sums[end] < smallest:
                value -= _REST
            if value >= best_value:
                best, best_value = end, value
        crossed = crossed or at_section
    return best


def _value(end: int, boundaries: Sequence[Boundary]) -> float:
    return _VALUES[boundaries[end]] if end < len(boundaries) else _END


def _misfit(size: int, target: int, room: int) -> float:
    """0 at the target, 1 for an empty chunk, `_OVERSIZE` for a full one."""
    if size <= target:
        return float(((target - size) / target) ** 2)
    return float(_OVERSIZE * ((size - target) / (room - target)) ** 2)
