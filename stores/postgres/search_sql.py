"""The statements of search: words and vectors of one knowledge base, in one round trip.

`_WORDS` reads what there is of the question's words and `_bm25` scores every chunk that holds one; `_FOUND` says which
chunks are candidates: the best of either side, and those that are given; `_LOOKED_UP` completes their scores where
words were left out. `_TERMS_OF_CANDIDATES` fills both raw terms of each.
"""

# All tables are met by equality on uuids and texts: under row-level security only leakproof operators reach an index.
# Windows and arrays stand where joins could, and OFFSET 0 keeps look-ups by key what they are: right after an upload
# PostgreSQL has no statistics, and would read all postings of the knowledge base, or join thousands of rows in a loop.
#
# What is frequent in a large knowledge base was counted by upkeep (r0014); all other words are counted as they are
# read, and so are the totals of a knowledge base that is not large.
_WORDS = """
WITH question AS MATERIALIZED (
    SELECT asked.term, asked.weight, asked.number, f.documents AS in_documents, f.chunks AS in_chunks
    FROM unnest(%(terms)s::text[], %(weights)s::float8[]) WITH ORDINALITY AS asked (term, weight, number)
    LEFT JOIN LATERAL (
        SELECT documents, chunks FROM frequent_terms
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = asked.term
        OFFSET 0
    ) f ON true
),
collection AS MATERIALIZED (
    SELECT documents::float8, greatest(chunks, 1)::float8 AS chunks, greatest(terms, 1)::float8 AS terms
    FROM word_totals
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
    UNION ALL
    SELECT count(*) FILTER (WHERE chunk_count > 0), greatest(sum(chunk_count), 1), greatest(sum(term_count), 1)
    FROM documents
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND NOT EXISTS (
        SELECT FROM word_totals
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
    )
    HAVING NOT EXISTS (
        SELECT FROM word_totals
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
    )
),
rare AS MATERIALIZED (
    SELECT question.number, p.*
    FROM question
    CROSS JOIN LATERAL (
        SELECT document_id, frequency::float8, document_terms, postings FROM chunk_postings
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = question.term
          AND question.in_documents IS NULL
        OFFSET 0
    ) p
),
-- What each word weighs among chunks and among documents. Frequent ones say little: they are read while the postings
-- stay within the budget, the rarest first; the others are deferred until there are candidates.
words AS MATERIALIZED (
    SELECT number, term, frequent,
           frequent AND sum(in_chunks) OVER (ORDER BY frequent, in_chunks, number) - in_chunks >= %(budget)s
               AS deferred,
           weight * ln(1 + (greatest(chunks - in_chunks, 0) + 0.5) / (in_chunks + 0.5)) AS among_chunks,
           weight * ln(1 + (greatest(documents - in_documents, 0) + 0.5) / (in_documents + 0.5)) AS among_documents
    FROM (
        SELECT number, max(term) AS term, max(weight) AS weight, bool_or(frequent) AS frequent,
               sum(in_documents)::float8 AS in_documents, sum(in_chunks)::float8 AS in_chunks
        FROM (
            SELECT number, term, weight, in_documents IS NOT NULL AS frequent,
                   coalesce(in_documents, 0) AS in_documents, coalesce(in_chunks, 0) AS in_chunks FROM question
            UNION ALL
            SELECT number, NULL, NULL, false, (frequency > 0)::integer, cardinality(postings) FROM rare
        ) counted
        GROUP BY number
    ) counts
    CROSS JOIN collection
),
weighed AS MATERIALIZED (
    SELECT array_agg(among_chunks ORDER BY number) AS among_chunks,
           array_agg(among_documents ORDER BY number) AS among_documents,
           bool_or(deferred) AS deferring,
           coalesce(sum(among_chunks + %(document_share)s::float8 * among_documents), 0)
               * (%(k1)s::float8 + 1) AS ideal
    FROM words
),
matched AS MATERIALIZED (
    SELECT number, document_id, frequency, document_terms, postings FROM rare
    UNION ALL
    SELECT words.number, p.*
    FROM words
    CROSS JOIN LATERAL (
        SELECT document_id, frequency::float8, document_terms, postings FROM chunk_postings
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = words.term
          AND words.frequent AND NOT words.deferred
        OFFSET 0
    ) p
),
"""


def _bm25(name: str, rows: str) -> str:
    """The lexical score of every chunk in some rows of postings: its own BM25, and a share of its document's."""
    return f"""
{name}_said AS (
    SELECT document_id, postings, among_chunks[number] AS rarity,
           sum(among_documents[number] * frequency * (%(k1)s::float8 + 1)
               / (frequency + %(k1)s::float8
                  * (1 - %(b)s::float8 + %(b)s::float8 * document_terms * documents / terms)))
               OVER (PARTITION BY document_id) AS document_score
    FROM {rows} CROSS JOIN weighed CROSS JOIN collection
),
{name} AS MATERIALIZED (
    SELECT document_id, (posting >> 32)::integer AS ordinal,
           sum(rarity * (posting >> 16 & 65535)::float8 * (%(k1)s::float8 + 1)
               / ((posting >> 16 & 65535)::float8 + %(k1)s::float8
                  * (1 - %(b)s::float8 + %(b)s::float8 * (posting & 65535)::float8 * chunks / terms)))
           + %(document_share)s::float8 * max(document_score) AS score
    FROM (SELECT document_id, rarity, document_score, unnest(postings) AS posting FROM {name}_said) spread
    CROSS JOIN collection
    GROUP BY document_id, ordinal
),
"""


# By the knowledge base's own index, where it is large enough to have one; else exactly; a chunk may come twice (r0009).
_NEAREST = """
nearest AS MATERIALIZED (
    SELECT id, document_id, ordinal
    FROM nearest_chunks(%(organisation)s, %(knowledge_base)s, %(vector)s, %(pool)s)
),
"""
_FOUND = f"""
{_NEAREST}
-- More than the pool where words were deferred, which may yet change the order.
wordiest AS MATERIALIZED (
    SELECT document_id, ordinal, score FROM lexical ORDER BY score DESC, document_id, ordinal
    LIMIT (SELECT CASE WHEN deferring THEN 2 ELSE 1 END * %(pool)s::integer FROM weighed)
),
-- Both sides in one pass over the lexical scores: a join of the two could be planned as a nested loop.
found AS MATERIALIZED (
    SELECT document_id, ordinal, max(score) AS score
    FROM (
        SELECT document_id, ordinal, score, false AS wanted FROM lexical
        UNION ALL SELECT document_id, ordinal, score, true FROM wordiest
        UNION ALL SELECT document_id, ordinal, 0, true FROM nearest
        UNION ALL SELECT document_id, ordinal, 0, true
        FROM unnest(%(given)s::uuid[]) AS given (id)
        CROSS JOIN LATERAL (
            SELECT knowledge_base_id, document_id, ordinal FROM chunks
            WHERE organisation_id = %(organisation)s AND id = given.id
            OFFSET 0
        ) named
        WHERE named.knowledge_base_id = %(knowledge_base)s
    ) sides
    GROUP BY document_id, ordinal
    HAVING bool_or(wanted)
),
"""
# Where words were deferred, all words of the documents that were found: looked up by term and document.
_LOOKED_UP = """
looked_up AS MATERIALIZED (
    SELECT words.number, p.*
    FROM words
    CROSS JOIN LATERAL (
        SELECT document_id, frequency::float8, document_terms, postings FROM chunk_postings
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = words.term
          AND (SELECT deferring FROM weighed)
          AND document_id = ANY((SELECT array_agg(DISTINCT document_id) FROM found)::uuid[])
        OFFSET 0
    ) p
),
"""
_CANDIDATES = """
candidates AS MATERIALIZED (
    SELECT document_id, ordinal, max(score) AS score
    FROM (
        SELECT document_id, ordinal, score, false AS wanted FROM settled
        UNION ALL SELECT document_id, ordinal, CASE WHEN deferring THEN 0 ELSE score END, true FROM found, weighed
    ) sides
    GROUP BY document_id, ordinal
    HAVING bool_or(wanted)
),
-- The best score there is, and that of a text with every word; a word that nothing holds says most.
scale AS MATERIALIZED (
    SELECT coalesce(CASE WHEN deferring THEN (SELECT max(score) FROM candidates)
                         ELSE (SELECT max(score) FROM lexical) END, 0) AS best, ideal
    FROM weighed
)
"""
_TERMS_OF_CANDIDATES = """
SELECT c.id AS chunk_id, c.document_id, d.importance, 1 - (c.embedding <=> %(vector)s) AS cosine,
       candidates.score AS lexical, 1 - (d.summary_embedding <=> %(vector)s) AS summary, scale.best, scale.ideal
FROM candidates
CROSS JOIN LATERAL (
    SELECT id, document_id, embedding FROM chunks
    WHERE organisation_id = %(organisation)s AND document_id = candidates.document_id
      AND ordinal = candidates.ordinal
    OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT importance, summary_embedding FROM documents
    WHERE organisation_id = %(organisation)s AND id = candidates.document_id
    OFFSET 0
) d
CROSS JOIN scale
"""

SEARCH = "".join(
    (
        _WORDS,
        _bm25("lexical", "matched"),
        _FOUND,
        _LOOKED_UP,
        _bm25("settled", "looked_up"),
        _CANDIDATES,
        _TERMS_OF_CANDIDATES,
    )
)

SIMILAR_IMAGES = """
SELECT chunk_id, max(cosine) AS cosine
FROM nearest_images(%(organisation)s, %(knowledge_base)s, %(model)s, %(vectors)s::halfvec[], %(limit)s)
GROUP BY chunk_id
ORDER BY cosine DESC, chunk_id
LIMIT %(limit)s
"""
