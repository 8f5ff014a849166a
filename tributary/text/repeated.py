"""Key terms in scripts that set no words apart: sequences of characters that a text repeats."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC

_RUN = re.compile(f"[{IDEOGRAPHIC}]{{2,}}|[{CONTINUOUS}]{{4,}}")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHIC}]")
#: Particles and function characters at which a term neither begins nor ends.
_EDGES = frozenset(
    "的了是在和与或及而也都就不没有我你他她它们这那之其以于为被把从对到上下中里个一二三很更最会能可要使于由并但"
    "はがをにでとのもへやかなよねだですまるたてしい"
)
_REPETITIONS = 3
_IDEOGRAPHIC_LENGTHS = range(6, 1, -1)
_ALPHABETIC_LENGTHS = range(12, 3, -2)


def repeated_sequences(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Repeated sequences as (sentence, start, end). Of sequences inside each other only the longest that is repeated
    as often stays."""
    runs = [
        (number, match.start(), match[0])
        for number, (start, end) in enumerate(sentences)
        for match in _RUN.finditer(text, start, end)
    ]
    counts = Counter(gram for _, _, run in runs for _, gram in _grams(run))
    kept = {gram for gram, count in counts.items() if count >= _REPETITIONS and not _at_edge(gram)}
    kept -= _absorbed(kept, counts)
    return [found for number, start, run in runs for found in _matches(number, start, run, kept)]


def _lengths(run: str) -> range:
    return _IDEOGRAPHIC_LENGTHS if _IDEOGRAPH.match(run) else _ALPHABETIC_LENGTHS


def _grams(run: str) -> Iterator[tuple[int, str]]:
    for length in _lengths(run):
        for first in range(len(run) - length + 1):
            yield first, run[first : first + length]


def _at_edge(gram: str) -> bool:
    return gram[0] in _EDGES or gram[-1] in _EDGES


def _absorbed(grams: set[str], counts: Counter[str]) -> set[str]:
    """Those that hardly ever stand outside a longer one."""
    absorbed = set()
    for gram in grams:
        for first in range(len(gram)):
            for behind in range(first + 2, len(gram) + 1):
                part = gram[first:behind]
                if part != gram and part in grams and counts[part] < 1.5 * counts[gram]:
                    absorbed.add(part)
    return absorbed


def _matches(number: int, start: int, run: str, kept: set[str]) -> Iterator[tuple[int, int, int]]:
    """The longest kept sequences from left to right."""
    position = 0
    while position < len(run):
        for length in _lengths(run):
            if position + length <= len(run) and run[position : position + length] in kept:
                yield number, start + position, start + position + length
                position += length
                break
        else:
            position += 1
