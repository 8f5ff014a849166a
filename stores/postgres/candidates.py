"""The candidates of a search, with the raw terms of each: the nearest, the wordiest, and those that are named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from psycopg.rows import DictRow

from stores.postgres import search_sql as sql
from stores.postgres.database import Connection
from stores.postgres.packed_postings import Collection, LexicalScores, Word, ideal, score_postings, size_of
from stores.postgres.places import Places, documents_of, each_once, ids_as_text, ordinals_as_text, received
from stores.postgres.statements import Rows, sent
from stores.scoring import Candidates, Scale, scale_of
from stores.vectors import require_same_space
from tributary.threads import run

#: Postings that a question reads before it has candidates. Words that were counted ahead wait beyond it.
BUDGET = 10_000
#: Bytes of postings, about 4,000 of them, that are scored where they are: it takes less than a millisecond. More are
#: scored in a thread.
FEW = 100_000


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
        [overview], rare = await self._ask(sql.OVERVIEW, sql.RARE, **self._words())
        require_same_space(embedding, overview["embedding"])
        question = weigh(self._parameters["weights"], overview, rare)
        rows = list(rare)
        if question.read_ahead:
            [read] = await self._ask(sql.POSTINGS, **self._words(question.read_ahead))
            rows += read
        lexical = await _scored(rows, question)
        wordy = lexical.top(self._parameters["pool"] * (2 if question.deferred else 1))
        places = each_once(wordy, received(overview["places"]))
        exact = await self._completed(lexical, places, question)
        # Of frequent words only what the candidates say of them is read.
        best = float(exact.of(places).max(initial=0.0)) if question.deferred else lexical.best
        [[row]] = await self._ask(
            sql.CANDIDATES, documents=ids_as_text(documents_of(places)), ordinals=ordinals_as_text(places)
        )
        candidates = _candidates(row, exact)
        complete = ideal(list(question.words.values()), question.collection)
        return Found(candidates, scale_of(candidates, best=best, ideal=complete), question, lexical)

    async def given(self, chunk_ids: Sequence[UUID], found: Found) -> Candidates:
        """More chunks, those of them that are there, measured as the candidates that were found."""
        given = ids_as_text(b"".join(each.bytes for each in chunk_ids))
        [[row]] = await self._ask(sql.GIVEN, given=given)
        return _candidates(row, await self._completed(found.lexical, received(row["places"]), found.question))

    async def _completed(self, lexical: LexicalScores, places: Places, question: Question) -> LexicalScores:
        """Those of the documents at hand with the words that were deferred."""
        if not question.deferred or not len(places):
            return lexical
        documents = ids_as_text(documents_of(places))
        [read] = await self._ask(sql.LOOKED_UP, **self._words(), documents=documents)
        return await _scored(read, question)

    def _words(self, numbers: Sequence[int] | None = None) -> dict[str, str]:
        """The parameters for these words, or for all."""
        terms = self._parameters["terms"]
        numbers = range(1, len(terms) + 1) if numbers is None else numbers
        return {"terms": "\n".join(terms[each - 1] for each in numbers), "numbers": " ".join(map(str, numbers))}

    async def _ask(self, *statements: str, **more: Any) -> list[Rows]:
        asked = [(each, {**self._parameters, **more}) for each in statements]
        return await sent(self._connection, self._organisation_id, asked, binary=True)


def weigh(weights: Sequence[float], overview: DictRow, rare: Rows) -> Question:
    """What each word stands in: as it was counted ahead, or as it was read."""
    documents, chunks, terms = (overview[name] or 0.0 for name in ("documents", "chunks", "terms"))
    collection = Collection(documents, max(chunks, 1.0), max(terms, 1.0))
    ahead_of_time = np.frombuffer(overview["counted"] or b"", ">i8").reshape(-1, 3).tolist()
    counted = {number: (in_documents, in_chunks) for number, in_documents, in_chunks in ahead_of_time}
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
    many = sum(len(row["postings"]) for row in rows) > FEW
    return await run(score_postings, rows, question.words, question.collection, aside=many)


def _candidates(row: DictRow, lexical: LexicalScores) -> Candidates:
    importance, cosines, summaries = (
        np.frombuffer(row[name] or b"", ">f8").astype(np.float64) for name in ("importance", "cosines", "summaries")
    )
    places = received(row["places"])
    return Candidates(
        chunks=row["chunks"] or b"",
        documents=documents_of(places),
        importance=importance,
        cosines=cosines,
        lexical=lexical.of(places),
        summaries=summaries,
    )
