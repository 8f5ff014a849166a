"""Counts of the words that a large knowledge base is full of, so that a search needn't read all that holds them."""

import logging
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.rows import DictRow

from stores.postgres.database import Connection, Database

logger = logging.getLogger(__name__)

#: Chunks from which a knowledge base is counted, and the share of them that is left when it no longer is.
COUNTED_FROM = 20_000
KEPT_FROM = 0.5
#: Documents from which a word is frequent: as many rows, of any rarer word, are read for a question.
FREQUENT = 1_000
#: It is counted again when it has grown or shrunk by this share: rarity is a logarithm.
CHANGED = 0.25
#: One process counts at a time; the number is arbitrary and ours.
COUNTING_LOCK = 7_301_979

_BASES = """
SELECT *, pg_try_advisory_xact_lock(%(lock)s) AS alone FROM worded_bases(%(smallest)s)
"""
_COUNT = """
SELECT term, count(*) FILTER (WHERE frequency > 0) AS documents, sum(cardinality(postings)) AS chunks
FROM chunk_postings
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
GROUP BY term
HAVING count(*) FILTER (WHERE frequency > 0) >= %(frequent)s
"""
_FORGET = """
DELETE FROM word_totals WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
"""
_KEEP_TOTALS = """
INSERT INTO word_totals (organisation_id, knowledge_base_id, documents, chunks, terms)
SELECT %(organisation)s, %(knowledge_base)s, count(*) FILTER (WHERE chunk_count > 0), sum(chunk_count), sum(term_count)
FROM documents WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
HAVING count(*) > 0
"""
_KEEP_TERMS = """
INSERT INTO frequent_terms (organisation_id, knowledge_base_id, term, documents, chunks)
SELECT %(organisation)s, %(knowledge_base)s, counted.*
FROM unnest(%(terms)s::text[], %(documents)s::bigint[], %(chunks)s::bigint[]) AS counted
WHERE EXISTS (
    SELECT FROM word_totals WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
)
"""


class PostgresWordCounts:
    """Safe in any number of processes; what it keeps may lag behind, by a quarter of the knowledge base at most."""

    def __init__(self, database: Database, *, counted_from: int = COUNTED_FROM, frequent: int = FREQUENT) -> None:
        self._database = database
        self._counted_from = counted_from
        self._frequent = frequent

    async def tend(self) -> None:
        """Counts what has grown into it or changed, and forgets the counts of what has shrunk.

        Raises:
            DependencyUnavailable: the database can't be reached.
        """
        smallest = int(self._counted_from * KEPT_FROM)
        # The lock is held, and with it this transaction, until all is counted.
        async with self._database.upkeep() as connection:
            for base in await _all(connection, _BASES, {"smallest": smallest, "lock": COUNTING_LOCK}):
                if base["alone"]:
                    await self._tend_one(base)

    async def _tend_one(self, base: DictRow) -> None:
        place = {"organisation": base["organisation_id"], "knowledge_base": base["knowledge_base_id"]}
        if base["chunks"] < self._counted_from * (KEPT_FROM if base["counted"] else 1):
            if base["counted"]:
                await self._replace(place, [], _FORGET)
        elif not base["counted"] or abs(base["chunks"] - base["counted"]) > CHANGED * base["counted"]:
            async with self._database.organisation(place["organisation"]) as connection:
                counts = await _all(connection, _COUNT, place | {"frequent": self._frequent})
            await self._replace(place, counts, _FORGET, _KEEP_TOTALS, _KEEP_TERMS)
            logger.info("counted %d frequent words of a knowledge base of %d chunks", len(counts), base["chunks"])

    async def _replace(self, place: dict[str, Any], counts: Sequence[DictRow], *statements: str) -> None:
        columns = {f"{name}s" if name == "term" else name: [row[name] for row in counts] for name in _COLUMNS}
        try:
            async with self._database.organisation(place["organisation"]) as connection:
                for statement in statements:
                    await connection.execute(statement, place | columns)
        except psycopg.errors.ForeignKeyViolation:
            logger.info("a knowledge base was deleted while its words were counted")


_COLUMNS = ("term", "documents", "chunks")


async def _all(connection: Connection, statement: str, parameters: dict[str, Any]) -> list[DictRow]:
    return await (await connection.execute(statement, parameters)).fetchall()
