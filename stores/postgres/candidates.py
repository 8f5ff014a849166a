"""The candidates of a search, with the raw terms of each: the nearest, the wordiest, and those that are named."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.rows import DictRow

from stores.postgres import search_sql as sql
from stores.postgres.database import Connection
from stores.postgres.packed_postings import Collection, LexicalScores, Place, Word, ideal, score_postings, size_of
from stores.postgres.statements import Rows, sent
from stores.scoring import Candidates, Scale, scale_of
from stores.vectors import require_same_space

_EMBEDDING = """
SELECT embedding FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""
#: Postings that a question reads before it has candidates. Words that were counted ahead wait beyond it.
BUDGET = 10_000


@dataclass(frozen=True, slots=True)
class Question:
    """A question's words as the knowledge base knows them. Frequent ones say little: they are read while the postings
    stay within the budget, the rarest first; the others are `deferred` until there are candidates."""

    words: Mapping[int, Word]
    collection: Collection
    read_ahead: Sequence[int]
    deferred: Sequence[int]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The candidates of a question, and what more of them can be measured by."""

    candidates: Candidates
    scale: Scale
    question: Question
    lexical: LexicalScores


class Asking:
    """One question in one transaction that is one pipeline. `parameters`: knowledge_base, terms with their weights,
    vector, and pool, the candidates of each side."""

    def __init__(self, connection: Connection, organisation_id: UUID, parameters: Mapping[str, Any]) -> None:
        self._connection = connection
        self._organisation_id = organisation_id
        self._parameters = parameters

    async def find(self, *, embedding: str) -> Found:
        """Raises `InvalidRequest` where the knowledge base's vectors are of another space than `embedding`."""
        terms = self._parameters["terms"]
        embeddings, totals, frequent, rare, near = await self._ask(
            _EMBEDDING, sql.TOTALS, sql.FREQUENT, sql.RARE, sql.NEAREST, numbers=list(range(1, len(terms) + 1))
        )
        require_same_space(embedding, embeddings[0]["embedding"] if embeddings else None)
        question = weigh(self._parameters["weights"], totals, frequent, rare)
        rows = list(rare)
        if question.read_ahead:
            [read] = await self._ask(sql.POSTINGS, **_named(terms, question.read_ahead))
            rows += read
        lexical = await _scored(rows, question)
        wordy = lexical.top(self._parameters["pool"] * (2 if question.deferred else 1))
        places = list(dict.fromkeys([*wordy, *_places(near)]))
        scores = await self._scores(places, question, lexical)
        # Of frequent words only what the candidates say of them is read.
        best = max(scores, default=0.0) if question.deferred else lexical.best
        candidates = await self._measured(
            sql.CANDIDATES,
            dict(zip(places, scores, strict=True)),
            documents=_text(document for document, _ in places),
            ordinals=_text(ordinal for _, ordinal in places),
        )
        complete = ideal(list(question.words.values()), question.collection)
        return Found(candidates, scale_of(candidates, best=best, ideal=complete), question, lexical)

    async def given(self, chunk_ids: Sequence[UUID], found: Found) -> Candidates:
        """More chunks, those of them that are there, measured as the candidates that were found."""
        [[row]] = await self._ask(sql.GIVEN, given=_text(chunk_ids))
        places = list(_places([row]))
        scores = await self._scores(places, found.question, found.lexical)
        return _candidates(row, dict(zip(places, scores, strict=True)))

    async def _scores(self, places: Sequence[Place], question: Question, lexical: LexicalScores) -> Sequence[float]:
        if not question.deferred or not places:
            return lexical.of(places)
        terms = self._parameters["terms"]
        documents = list({document for document, _ in places})
        named = _named(terms, list(range(1, len(terms) + 1)))
        [read] = await self._ask(sql.LOOKED_UP, **named, documents=documents)
        return (await _scored(read, question)).of(places)

    async def _measured(self, statement: str, scores: Mapping[Place, float], **wanted: str) -> Candidates:
        [[row]] = await self._ask(statement, **wanted)
        return _candidates(row, scores)

    async def _ask(self, *statements: str, **more: Any) -> list[Rows]:
        asked = [(each, {**self._parameters, **more}) for each in statements]
        return await sent(self._connection, self._organisation_id, asked, binary=True)


def weigh(weights: Sequence[float], totals: Rows, frequent: Rows, rare: Rows) -> Question:
    """What each word stands in: as it was counted ahead, or as it was read."""
    [total] = totals
    # Sums come as decimals.
    documents, chunks, terms = (float(total[name] or 0) for name in ("documents", "chunks", "terms"))
    collection = Collection(documents, max(chunks, 1.0), max(terms, 1.0))
    counted = {row["number"]: (row["documents"], row["chunks"]) for row in frequent}
    read = {row["number"]: size_of(row) for row in rare}
    words = {
        number: Word(weight, *(counted.get(number) or read.get(number) or (0, 0)))
        for number, weight in enumerate(weights, 1)
    }
    before = sum(word.in_chunks for number, word in words.items() if number not in counted)
    ahead: list[int] = []
    deferred: list[int] = []
    for number in sorted(counted, key=lambda each: (words[each].in_chunks, each)):
        (deferred if before >= BUDGET else ahead).append(number)
        before += words[number].in_chunks
    return Question(words, collection, ahead, deferred)


async def _scored(rows: Rows, question: Question) -> LexicalScores:
    return await asyncio.to_thread(score_postings, rows, question.words, question.collection)


def _named(terms: Sequence[str], numbers: Sequence[int]) -> dict[str, Any]:
    return {"terms": [terms[number - 1] for number in numbers], "numbers": list(numbers)}


def _places(rows: Rows) -> Iterator[Place]:
    """Of a packed row."""
    for row in rows:
        documents, ordinals = row["documents"] or b"", np.frombuffer(row["ordinals"] or b"", ">i4").tolist()
        for place, ordinal in enumerate(ordinals):
            yield UUID(bytes=documents[16 * place : 16 * place + 16]), ordinal


def _candidates(row: DictRow, scores: Mapping[Place, float]) -> Candidates:
    importance, cosines, summaries = (
        np.frombuffer(row[name] or b"", ">f8").astype(np.float64) for name in ("importance", "cosines", "summaries")
    )
    return Candidates(
        chunks=row["chunks"] or b"",
        documents=row["documents"] or b"",
        importance=importance,
        cosines=cosines,
        lexical=np.array([scores[place] for place in _places([row])], np.float64),
        summaries=summaries,
    )


def _text(each: Iterable[object]) -> str:
    """A list as the statements take it."""
    return " ".join(map(str, each))
