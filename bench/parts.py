"""What the product's order is compared with: each side of the search alone, their fusion by rank, and BM25 over whole
documents, which knows nothing of chunks.

All orders are over the whole collection, whatever candidates the product's statement looks at.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench.collection import SplitDocument
from bench.lexical_terms import Bm25
from stores.scoring import BM25_B, BM25_K1, DOCUMENT_SHARE
from stores.vectors import require_directions
from tributary.models.protocols import Vectors
from tributary.text.words import terms

RRF_K = 60
Scores = NDArray[np.float64]


class Parts:
    """The orders of one collection's units. `vectors`: a row for each chunk, in order."""

    def __init__(self, documents: Sequence[SplitDocument], vectors: Vectors) -> None:
        chunks = [
            terms("\n".join((each.document.parsed.title, chunk.heading, chunk.text)))
            for each in documents
            for chunk in each.chunks
        ]
        sizes = [len(each.chunks) for each in documents]
        ends = np.cumsum(sizes)
        whole = [
            [term for chunk in chunks[end - size : end] for term in chunk]
            for size, end in zip(sizes, ends, strict=True)
            if size
        ]
        self._chunks = Bm25(chunks, BM25_K1, BM25_B)
        self._documents = Bm25(whole, BM25_K1, BM25_B)
        self._document_of = np.repeat(np.arange(len(whole)), [size for size in sizes if size])
        # As PostgreSQL keeps them, in half precision.
        self._vectors = _unit(vectors.astype(np.float16).astype(np.float32))
        self._unit_names, self._units = _numbered([unit for each in documents for unit in each.units])
        uncut = {
            unit: terms(f"{each.document.parsed.title}\n{text}")
            for each in documents
            for unit, text in each.document.units.items()
        }
        self._uncut = Bm25([uncut[unit] for unit in self._unit_names], BM25_K1, BM25_B)

    def rankings(self, question: str, vector: Vectors, depth: int = 10) -> dict[str, list[str]]:
        """The first `depth` units by vectors alone, by words alone, by words of whole units, and by equal-weight
        reciprocal ranks of the first two."""
        require_directions(vector)
        near = self._best(self._vectors @ _unit(vector))
        asked = terms(question)
        chunks = self._chunks.scores(asked)
        shares = DOCUMENT_SHARE * self._documents.scores(asked)[self._document_of]
        worded = self._best(np.where(chunks > 0, chunks + shares, 0.0))
        fused = _reciprocal(near, found=np.ones(len(near), bool)) + _reciprocal(worded, found=worded > 0)
        return {
            "vectors": self._first(near, depth),
            "words": self._first(_matching(worded), depth),
            "uncut": self._first(_matching(self._uncut.scores(asked)), depth),
            "fusion": self._first(fused, depth),
        }

    def _best(self, of_chunks: NDArray[np.floating]) -> Scores:
        """A unit counts by its best chunk."""
        best = np.full(len(self._unit_names), -np.inf)
        np.maximum.at(best, self._units, of_chunks)
        return best

    def _first(self, scores: Scores, depth: int) -> list[str]:
        order = np.argsort(-scores, kind="stable")[:depth]
        return [self._unit_names[place] for place in order if scores[place] > -np.inf]


def _matching(scores: Scores) -> Scores:
    """What shares no term with the question is not found."""
    return np.where(scores > 0, scores, -np.inf)


def _reciprocal(scores: Scores, found: NDArray[np.bool_]) -> Scores:
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(found, 1.0 / (RRF_K + ranks), 0.0)


def _unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True), np.float32)


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    places = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return list(places), np.array([places[name] for name in names], np.int64)
