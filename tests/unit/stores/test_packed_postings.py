"""BM25 over postings as PostgreSQL sends them, beside the formula written out."""

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from stores.postgres.packed_postings import Collection, LexicalScores, Word, ideal, score_postings, size_of
from stores.postgres.places import Places, documents_of, each_once, ids_as_text, ordinals_as_text, received
from stores.scoring import BM25_B, BM25_K1, DOCUMENT_SHARE

COLLECTION = Collection(documents=3, chunks=5, terms=60)
#: The first two share the upper half of their ids.
A, B, C = UUID(int=(7 << 64) | 1), UUID(int=(7 << 64) | 2), UUID(int=9 << 64)
#: By document: its terms, and its postings as (ordinal, frequency, length).
Said = Mapping[UUID, tuple[int, Sequence[tuple[int, int, int]]]]


def row(number: int, said: Said, part: int = 128) -> dict[str, Any]:
    """As the statement's `PACKED` columns come, with postings in rows of `part`."""
    packed: dict[str, Any] = dict.fromkeys(("documents", "frequencies", "document_terms", "counts", "postings"), b"")
    for document, (terms, postings) in said.items():
        for first in range(0, len(postings), part):
            values = postings[first : first + part]
            packed["documents"] += document.bytes
            packed["frequencies"] += struct.pack(">i", 0 if first else sum(each[1] for each in postings))
            packed["document_terms"] += struct.pack(">i", terms)
            packed["counts"] += struct.pack(">i", len(values))
            packed["postings"] += struct.pack(">iiiii", 1, 0, 20, len(values), 1)
            for ordinal, frequency, length in values:
                packed["postings"] += struct.pack(">iq", 8, (ordinal << 32) | (frequency << 16) | length)
    return packed | {"number": number}


def column(places: Sequence[tuple[UUID, int]]) -> Places:
    return received(b"".join(document.bytes + struct.pack(">i", ordinal) for document, ordinal in places))


def saturated(frequency: float, relative: float) -> float:
    return frequency * (BM25_K1 + 1) / (frequency + BM25_K1 * (1 - BM25_B + BM25_B * relative))


PUMP: Said = {A: (20, [(0, 2, 12), (1, 1, 8)]), C: (25, [(3, 1, 12)])}
VALVE: Said = {B: (15, [(0, 4, 15)]), A: (20, [(1, 3, 8)])}
WORDS = {1: Word(1.0, 2, 3), 2: Word(0.25, 2, 2)}


@pytest.fixture
def scores() -> LexicalScores:
    return score_postings([row(1, PUMP), row(2, VALVE)], WORDS, COLLECTION)


def expected(document: UUID, ordinal: int) -> float:
    score = 0.0
    for word, said in ((WORDS[1], PUMP), (WORDS[2], VALVE)):
        terms, postings = said.get(document, (0, []))
        chunks = math.log(1 + (COLLECTION.chunks - word.in_chunks + 0.5) / (word.in_chunks + 0.5)) * word.weight
        documents = math.log(1 + (COLLECTION.documents - word.in_documents + 0.5) / (word.in_documents + 0.5))
        for at, frequency, length in postings:
            if at == ordinal:
                score += chunks * saturated(frequency, length * COLLECTION.chunks / COLLECTION.terms)
        if postings:
            relative = terms * COLLECTION.documents / COLLECTION.terms
            frequency = sum(each[1] for each in postings)
            score += DOCUMENT_SHARE * word.weight * documents * saturated(frequency, relative)
    return score


def test_each_chunk_has_its_own_score_and_a_share_of_its_documents(scores: LexicalScores) -> None:
    places = [(A, 0), (A, 1), (B, 0), (C, 3)]
    assert scores.of(column(places)).tolist() == pytest.approx([expected(*place) for place in places])


def test_the_best_come_first(scores: LexicalScores) -> None:
    places = [(A, 0), (A, 1), (B, 0), (C, 3)]
    best = sorted(places, key=lambda place: -expected(*place))
    assert scores.top(3).tolist() == column(best[:3]).tolist()
    assert scores.best == pytest.approx(expected(*best[0]))


def test_what_holds_no_word_scores_nothing(scores: LexicalScores) -> None:
    unknown = [UUID(int=0), UUID(int=(7 << 64) | 3), UUID(int=2**128 - 1)]
    assert scores.of(column([(A, 7), (C, 0), *((each, 0) for each in unknown)])).tolist() == [0.0] * 5


def test_equal_ones_come_in_order_of_document_and_ordinal() -> None:
    alike: Said = {document: (8, [(1, 1, 4), (0, 1, 4)]) for document in (C, B, A)}
    scores = score_postings([row(1, alike)], WORDS, COLLECTION)
    in_order = column([(document, ordinal) for document in (A, B, C) for ordinal in (0, 1)])
    assert scores.top(6).tolist() == in_order.tolist()


def test_a_long_document_in_many_rows_scores_as_in_one() -> None:
    long: Said = {A: (900, [(ordinal, 1, 3) for ordinal in range(300)])}
    whole, parts = row(1, long, part=1000), row(1, long)
    assert size_of(parts) == size_of(whole) == (1, 300)
    places = column([(A, ordinal) for ordinal in range(300)])
    in_parts = score_postings([parts], WORDS, COLLECTION).of(places)
    np.testing.assert_allclose(in_parts, score_postings([whole], WORDS, COLLECTION).of(places))


def test_without_postings_there_is_nothing() -> None:
    none = score_postings([], WORDS, COLLECTION)
    assert (none.best, len(none.top(3)), none.of(column([(A, 0)])).tolist()) == (0.0, 0, [0.0])


def test_places_keep_the_order_of_their_first_appearance() -> None:
    both = each_once(column([(C, 2), (A, 0)]), column([(A, 0), (B, 300), (C, 2)]))
    assert both.tolist() == column([(C, 2), (A, 0), (B, 300)]).tolist()
    assert documents_of(both) == C.bytes + A.bytes + B.bytes
    assert ids_as_text(documents_of(both)).split() == [C.hex, A.hex, B.hex]
    assert ordinals_as_text(both) == "2 0 300"


def test_no_rows_are_no_places() -> None:
    none = each_once(received(None), received(b""))
    assert (len(none), documents_of(none), ids_as_text(b""), ordinals_as_text(none)) == (0, b"", "", "")


def test_no_text_scores_more_than_the_ideal(scores: LexicalScores) -> None:
    assert scores.best < ideal(list(WORDS.values()), COLLECTION)
