"""The inverted index of one document, as every store keeps it.

A posting is one number, `ordinal << 32 | frequency << 16 | length`: which chunk, how often the term stands in it,
and how many terms the chunk holds. Frequencies and lengths stop at 65,535, far above what BM25 tells apart.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tributary.domain.knowledge import ChunkDraft
from tributary.text.words import terms

_MAX_COUNT = 0xFFFF


@dataclass(frozen=True, slots=True)
class DocumentPostings:
    """`postings` by term; `lengths` in terms, one a chunk, in the order of the chunks."""

    postings: dict[str, list[int]]
    lengths: tuple[int, ...]


def index_chunks(chunks: Sequence[ChunkDraft], title: str) -> DocumentPostings:
    """The inverted index of a document. The document's title and a chunk's headings are indexed with the chunk, as
    they are embedded with it."""
    postings: dict[str, list[int]] = {}
    lengths = []
    for chunk in chunks:
        found = Counter(terms("\n".join((title, chunk.heading, chunk.text))))
        length = found.total()
        lengths.append(length)
        for term, frequency in found.items():
            postings.setdefault(term, []).append(pack(chunk.ordinal, frequency, length))
    return DocumentPostings(postings, tuple(lengths))


def pack(ordinal: int, frequency: int, length: int) -> int:
    """A posting as one number."""
    return ordinal << 32 | min(frequency, _MAX_COUNT) << 16 | min(length, _MAX_COUNT)


def unpack(posting: int) -> tuple[int, int, int]:
    """Ordinal, frequency, length."""
    return posting >> 32, posting >> 16 & _MAX_COUNT, posting & _MAX_COUNT
