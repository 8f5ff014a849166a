"""Postings of made-up documents whose words are distributed as real ones are: each chunk is a real text's terms, a
fifth of them replaced by others of the collection."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stores.postings import pack
from tributary.text.words import terms

REPLACED = 0.2
WORDS_OF_A_CHUNK = 120


@dataclass(frozen=True, slots=True)
class Rows:
    """A document's rows: term, postings, frequency; and its length in terms."""

    postings: list[tuple[str, list[int], int]]
    length: int


class Words:
    def __init__(self, texts: Sequence[str]) -> None:
        self._chunks = [chunk for text in texts for chunk in _chunks(text)]
        self._all = [term for chunk in self._chunks for term in chunk]
        self._random = random.Random(7)

    def documents(self, count: int, chunks: int) -> Iterator[Rows]:
        for _ in range(count):
            yield self._document(chunks)

    def _document(self, chunks: int) -> Rows:
        postings: dict[str, list[int]] = {}
        frequencies: Counter[str] = Counter()
        for ordinal in range(chunks):
            found = Counter(self._chunk())
            frequencies += found
            for term, frequency in found.items():
                postings.setdefault(term, []).append(pack(ordinal, frequency, found.total()))
        rows = [(term, postings[term], frequencies[term]) for term in sorted(postings)]
        return Rows(rows, frequencies.total())

    def _chunk(self) -> list[str]:
        chosen = list(self._random.choice(self._chunks))
        for _ in range(int(len(chosen) * REPLACED)):
            chosen[self._random.randrange(len(chosen))] = self._random.choice(self._all)
        return chosen


def _chunks(text: str) -> Iterator[list[str]]:
    words = text.split()
    for first in range(0, len(words), WORDS_OF_A_CHUNK):
        part = terms(" ".join(words[first : first + WORDS_OF_A_CHUNK]))
        if len(part) >= WORDS_OF_A_CHUNK // 2:
            yield part
