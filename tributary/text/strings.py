"""Repeated strings: what stands for words in scripts without spaces."""

import re
from collections import Counter
from collections.abc import Iterator

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC

_READ = 40_000
_RUN = re.compile(f"[{IDEOGRAPHIC}]+|[{CONTINUOUS}]+")
_CONTINUOUS = re.compile(f"[{CONTINUOUS}]")
# Hiragana and the commonest Chinese function characters stand between words and hardly within them.
_BETWEEN = re.compile(
    "[\u3041-\u309f的了是在和与與及对對为為以其之也而但或被把从從到于於有这這那你我他她它们們个個不就都很]+"
)
# A vowel sign or tone mark can't begin a word, a leading vowel can't end one.
_NO_BEGINNING = re.compile("[\u0e30-\u0e3a\u0e45-\u0e4e\u0eb0-\u0ebc\u0ec6-\u0ece]")
_NO_END = re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]")
#: Lengths of a word in characters, by whether a character says a syllable or a sound.
_IDEOGRAPHIC_SIZES = range(2, 7)
_CONTINUOUS_SIZES = range(4, 13)


def repeated_strings(text: str, limit: int) -> list[str]:
    """The most telling strings of the text's parts without spaces, best first, none within another.

    Where nothing is repeated, the first short runs. [] for a text that has no such part.
    """
    runs = [run for found in _RUN.findall(text[:_READ]) for run in _BETWEEN.split(found) if len(run) > 1]
    counts = Counter(string for run in runs for string in _substrings(run))
    repeated = {string: count for string, count in counts.items() if count > 1}
    ranked = sorted(repeated, key=lambda string: (-repeated[string] * (len(string) - 1), string))
    chosen: list[str] = []
    for string in ranked:
        if len(chosen) == limit:
            break
        if not any(string in other or other in string for other in chosen):
            chosen.append(string)
    if not chosen:
        chosen = list(dict.fromkeys(run for run in runs if len(run) <= _IDEOGRAPHIC_SIZES.stop))[:limit]
    return chosen


def _substrings(run: str) -> Iterator[str]:
    sizes = _CONTINUOUS_SIZES if _CONTINUOUS.match(run) else _IDEOGRAPHIC_SIZES
    for size in sizes:
        for start in range(len(run) - size + 1):
            string = run[start : start + size]
            if not _NO_BEGINNING.match(string) and not _NO_END.match(string[-1]):
                yield string
