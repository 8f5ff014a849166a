"""Names that a question spells with one letter wrong: which of its phrases may be such, what an engine is asked for
them, and which entities they mean. Shared by all graph stores.

Documents are never joined so: what is alike is not the same. A phrase and a name at one edit from each other are equal
in the first or in the last half of the phrase, so an engine looks for names that begin or end so, by an index.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from tributary.text.words import is_stopword

#: Characters of a phrase, and of the word in it that is spelt wrong: shorter ones are other names (`John`, `Joan`).
SHORTEST, LONGEST, SHORTEST_WORD = 8, 60, 5
MOST_WORDS = 4
#: Phrases of one question.
MOST_PHRASES = 8
#: Names that begin, or end, as a phrase does, of which an engine reads so many and gives those of its length.
READ, GIVEN = 400, 50
#: What an entity counts that is meant by a wrong spelling, beside one that is named.
SHARE = 0.5


class Part(NamedTuple):
    """Half of a phrase, and how many characters a name may have that it is half of."""

    text: str
    shortest: int
    longest: int


@dataclass(frozen=True, slots=True)
class Parts:
    """What names must begin with, or end with."""

    beginnings: tuple[Part, ...]
    endings: tuple[Part, ...]


class Alike(NamedTuple):
    """An entity that may be meant."""

    entity_id: str
    key: str
    mentions: int


def unknown_phrases(text: str, spans: Mapping[str, tuple[int, int]], named: Iterable[str]) -> list[str]:
    """The phrases of a question (`spans`, of its normalised `text`) that may be a name spelt wrong, likeliest first:
    none that overlaps a name which was found; where one was found, only what is written with capitals."""
    found = [spans[key] for key in named]
    candidates = []
    for key, (start, end) in spans.items():
        if not _may_be_name(key) or any(start < behind and first < end for first, behind in found):
            continue
        capitals = all(word[:1].isupper() for word in text[start:end].split())
        if capitals or not found:
            candidates.append((not capitals, start - end, key))
    return [key for _, _, key in islice(sorted(candidates), MOST_PHRASES)]


def parts_of(phrases: Iterable[str]) -> Parts:
    """What to look for."""
    beginnings, endings = [], []
    for phrase in phrases:
        half, sizes = len(phrase) // 2, (len(phrase) - 1, len(phrase) + 1)
        beginnings.append(Part(phrase[:half], *sizes))
        endings.append(Part(phrase[half:], *sizes))
    return Parts(tuple(beginnings), tuple(endings))


def is_misspelt(phrase: str, name: str) -> bool:
    """Whether a phrase is a name with one letter wrong, missing, too many or changed with its neighbour, within a word
    that is long enough to be known all the same; or with a blank too many or missing."""
    # Most of what an engine gives for one phrase is like another, which shows at once.
    if phrase[:1] != name[:1]:
        return False
    if phrase.replace(" ", "") == name.replace(" ", ""):
        return phrase != name
    words, others = phrase.split(" "), name.split(" ")
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(differing) != 1:
        return False
    word, other = differing[0]
    long_enough = min(len(word), len(other)) >= SHORTEST_WORD
    return long_enough and word[0] == other[0] and (word + other).isalpha() and _one_edit(word, other)


def _may_be_name(key: str) -> bool:
    words = key.split(" ")
    if not SHORTEST <= len(key) <= LONGEST or len(words) > MOST_WORDS:
        return False
    return not (is_stopword(words[0]) or is_stopword(words[-1]))


def _one_edit(word: str, other: str) -> bool:
    if len(word) > len(other):
        word, other = other, word
    at = next((n for n, (one, two) in enumerate(zip(word, other, strict=False)) if one != two), len(word))
    if len(word) < len(other):
        return word[at:] == other[at + 1 :]
    changed = word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    return changed or word[at + 1 :] == other[at + 1 :]
