"""The candidates of a search, with the raw terms of each: the nearest, the wordiest, and those that are named."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from stores.postgres import search_sql as sql
from stores.postgres.database import Connection
from stores.postgres.packed_postings import Collection, LexicalScores, Place, Word, ideal, score_postings, size_of
from stores.postgres.statements import Rows, pipelined
from stores.scoring import Candidate, Scale
from stores.vectors import require_same_space

_EMBEDDING = """
SELECT embedding FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
"""
#: Postings that a question reads before it has candidates. Words that were counted ahead wait beyond it.
BUDGET = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    candidates: Sequence[Candidate]
    scale: Scale


@dataclass(frozen=True, slots=True)
class Question:
    """A question's words as the knowledge base knows them. Frequent ones say little: they are read while the postings
    stay within the budget, the rarest first; the others are `deferred` until there are candidates."""

    words: Mapping[int, Word]
    collection: Collection
    read_ahead: Sequence[int]
    deferred: Sequence[int]


async def find_candidates(
    connection: Connection, organisation_id: UUID, parameters: Mapping[str, Any], *, embedding: str
) -> Found:
    """`parameters`: knowledge_base, terms with their weights, vector, pool (candidates of each side), given (ids of
    chunks). Raises `InvalidRequest` where the knowledge base's vectors are of another space than `embedding`."""

    async def ask(*statements: str, **more: Any) -> list[Rows]:
        asked = [(each, {**parameters, **more}) for each in statements]
        return await pipelined(connection, organisation_id, asked, binary=True)

    numbers = list(range(1, len(parameters["terms"]) + 1))
    embeddings, totals, frequent, rare, near, given = await ask(
        _EMBEDDING, sql.TOTALS, sql.FREQUENT, sql.RARE, sql.NEAREST, sql.GIVEN, numbers=numbers
    )
    require_same_space(embedding, embeddings[0]["embedding"] if embeddings else None)
    question = weigh(parameters["weights"], totals, frequent, rare)
    rows = list(rare)
    if question.read_ahead:
        [read] = await ask(sql.POSTINGS, **_named(parameters["terms"], question.read_ahead))
        rows += read
    lexical = await _scored(rows, question)
    pool = parameters["pool"] * (2 if question.deferred else 1)
    scores = lexical.top(pool)
    others = [place for place in dict.fromkeys([*_places(near), *_places(given)]) if place not in scores]
    scores |= zip(others, lexical.of(others), strict=True)
    best = lexical.best
    if question.deferred:
        [read] = await ask(
            sql.LOOKED_UP, **_named(parameters["terms"], numbers), documents=list({document for document, _ in scores})
        )
        places = list(scores)
        scores = dict(zip(places, (await _scored(read, question)).of(places), strict=True))
        best = max(scores.values(), default=0.0)
    [filled] = await ask(
        sql.CANDIDATES, documents=[document for document, _ in scores], ordinals=[ordinal for _, ordinal in scores]
    )
    scale = Scale(best=best, ideal=ideal(list(question.words.values()), question.collection))
    return Found([_candidate(row, scores) for row in filled], scale)


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


def _places(rows: Rows) -> Iterable[Place]:
    return ((row["document_id"], row["ordinal"]) for row in rows)


def _candidate(row: DictRow, scores: Mapping[Place, float]) -> Candidate:
    return Candidate(
        chunk_id=row["chunk_id"],
        document_id=row["document_id"],
        importance=row["importance"],
        cosine=row["cosine"],
        lexical=scores[row["document_id"], row["ordinal"]],
        summary=row["summary"],
    )
