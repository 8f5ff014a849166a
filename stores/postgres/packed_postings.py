"""Postings as PostgreSQL sends them, a row a word, and what BM25 makes of them.

A question's words stand in thousands of passages. Counted one by one in SQL they took longer than all the rest of a
turn; as arrays they come in the forms that PostgreSQL's own `_send` functions write, put one behind the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stores.postgres.places import PLACE, Places
from stores.scoring import BM25_B, BM25_K1, DOCUMENT_SHARE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: The columns of a word's row, over rows of `chunk_postings`: documents (16 bytes each), how often the word stands in
#: them and how many terms they have (4 bytes each), how many postings follow, and the postings (see `_unpacked`).
PACKED = """
string_agg(uuid_send(document_id), '') AS documents, string_agg(int4send(frequency), '') AS frequencies,
string_agg(int4send(document_terms), '') AS document_terms, string_agg(int4send(cardinality(postings)), '') AS counts,
string_agg(array_send(postings), '') AS postings
"""
#: Words of four bytes before the first value of an array that is sent (dimensions, flags, type, length, lower bound),
#: and of each value (its length, then eight bytes of it).
_HEADER, _VALUE = 5, 3
_LOWER = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Collection:
    """How much there is: documents, chunks, and terms in all."""

    documents: float
    chunks: float
    terms: float


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its weight, and in how much of the collection it stands."""

    weight: float
    in_documents: int
    in_chunks: int

    def among_chunks(self, collection: Collection) -> float:
        return self.weight * _rarity(collection.chunks, self.in_chunks)

    def among_documents(self, collection: Collection) -> float:
        return self.weight * _rarity(collection.documents, self.in_documents)


def _rarity(all_of_them: float, of_them: int) -> float:
    return float(np.log(1 + (max(all_of_them - of_them, 0) + 0.5) / (of_them + 0.5)))


def ideal(words: Sequence[Word], collection: Collection) -> float:
    """The score of a text with every word."""
    shares = (word.among_chunks(collection) + DOCUMENT_SHARE * word.among_documents(collection) for word in words)
    return (BM25_K1 + 1) * sum(shares)


def size_of(row: Mapping[str, Any]) -> tuple[int, int]:
    """Documents and chunks that a word stands in, of its row. A long document has several rows of postings, of which
    the first alone has a frequency."""
    frequencies, counts = (np.frombuffer(row[name], ">i4") for name in ("frequencies", "counts"))
    return int(np.count_nonzero(frequencies)), int(counts.sum())


@dataclass(frozen=True, slots=True)
class LexicalScores:
    """A score for each chunk that holds a word. `first` and `last` are the halves of the documents' ids, in order;
    `keys` are the chunks in order, the place of the document among these in the upper half and the ordinal below."""

    first: NDArray[np.uint64]
    last: NDArray[np.uint64]
    keys: Integers
    scores: Floats

    @property
    def best(self) -> float:
        return float(self.scores.max()) if len(self.scores) else 0.0

    def top(self, count: int) -> Places:
        """The best chunks, equal ones in order of document and ordinal."""
        order = np.argsort(-self.scores, kind="stable")[:count]
        keys = self.keys[order]
        places = np.empty(len(keys), PLACE)
        documents, places["ordinal"] = keys >> 32, keys & _LOWER
        places["first"], places["last"] = self.first[documents], self.last[documents]
        return places

    def of(self, places: Places) -> Floats:
        """The scores of some chunks; nought for those that hold no word."""
        if not len(self.keys):
            return np.zeros(len(places))
        keys = (self._documents(places) << 32) | places["ordinal"]
        found = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[found] == keys, self.scores[found], 0.0)

    def _documents(self, places: Places) -> Integers:
        """Where theirs stand among the documents; behind all of them for one that holds no word."""
        first, last = places["first"].astype(np.uint64), places["last"].astype(np.uint64)
        end = len(self.first)
        at = np.searchsorted(self.first, first)
        # Ids that share their first half stand in order of the other.
        while (behind := (at < end) & _at(self.first, at, first) & (self.last[np.minimum(at, end - 1)] < last)).any():
            at[behind] += 1
        return np.where((at < end) & _at(self.first, at, first) & _at(self.last, at, last), at, end).astype(np.int64)


def _at(values: NDArray[np.uint64], places: Integers, wanted: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.asarray(values[np.minimum(places, len(values) - 1)] == wanted)


def score_postings(
    rows: Sequence[Mapping[str, Any]], words: Mapping[int, Word], collection: Collection
) -> LexicalScores:
    """BM25 of every chunk in the rows, and a share of its document's. A row has the `number` of its word."""
    if not rows:
        none = np.empty(0, np.uint64)
        return LexicalScores(none, none, none.astype(np.int64), none.astype(np.float64))
    documents, frequencies, terms, sent, postings = (
        b"".join(row[name] for row in rows)
        for name in ("documents", "frequencies", "document_terms", "counts", "postings")
    )
    parts = [len(row["counts"]) // 4 for row in rows]
    asked = [words[row["number"]] for row in rows]
    first, last, document = _numbered(np.frombuffer(documents, ">u8").reshape(-1, 2))
    weight = np.repeat([word.among_documents(collection) for word in asked], parts)
    relative = np.frombuffer(terms, ">i4") * (collection.documents / collection.terms)
    said = _saturated(weight, np.frombuffer(frequencies, ">i4"), relative)
    by_document = np.bincount(document, said, minlength=len(first))
    counts = np.frombuffer(sent, ">i4").astype(np.int64)
    ordinal, frequency, length = _unpacked(postings, counts)
    weight = np.repeat(np.repeat([word.among_chunks(collection) for word in asked], parts), counts)
    said = _saturated(weight, frequency, length * (collection.chunks / collection.terms))
    keys = (np.repeat(document, counts) << 32) | ordinal
    # Each word's postings come in order: runs that only have to be merged.
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    begins, chunk = _distinct(order, keys[1:] != keys[:-1])
    keys = keys[begins]
    scores = np.bincount(chunk, said, minlength=len(keys)) + DOCUMENT_SHARE * by_document[keys >> 32]
    return LexicalScores(first, last, keys, scores)


def _saturated(weight: Floats, frequency: NDArray[Any], relative_length: NDArray[Any]) -> Floats:
    said = weight * frequency * (BM25_K1 + 1) / (frequency + BM25_K1 * (1 - BM25_B + BM25_B * relative_length))
    return np.asarray(said, np.float64)


def _numbered(ids: NDArray[Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint64], Integers]:
    """The distinct ids in order, as two halves, and of each id its place among them."""
    first, last = ids[:, 0].astype(np.uint64), ids[:, 1].astype(np.uint64)
    order = np.lexsort((last, first))
    first, last = first[order], last[order]
    begins, places = _distinct(order, (first[1:] != first[:-1]) | (last[1:] != last[:-1]))
    return first[begins], last[begins], places


def _distinct(order: Integers, differs: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Integers]:
    """Of values in this order, and whether each differs from the one before: which are the first of their kind, and of
    each as it came the place of its kind."""
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = differs
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(begins) - 1
    return begins, places


def _unpacked(sent: bytes, counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Ordinal, frequency and length of each posting, from arrays of `counts` values. The upper half of a posting is
    the chunk's ordinal, its lower one has frequency and length in sixteen bits each."""
    halves = np.frombuffer(sent, ">u4")
    begins = np.concatenate(([0], np.cumsum(_HEADER + _VALUE * counts)[:-1])) + _HEADER
    within = np.arange(counts.sum()) - np.repeat(np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    at = np.repeat(begins, counts) + _VALUE * within + 1
    upper, lower = halves[at].astype(np.int64), halves[at + 1].astype(np.int64)
    return upper, lower >> 16, lower & 0xFFFF
