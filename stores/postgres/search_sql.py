"""The statements of search: words and vectors of one knowledge base, in one round trip.

`_LEXICAL` scores every chunk that holds a word of the question, `_FOUND` says which chunks are candidates: the best of
either side, and those that are given. `_TERMS_OF_CANDIDATES` fills both raw terms of each.
"""

# df, lengths and totals are counted where they are used, so no statistic can grow stale. All tables are met by
# equality on uuids and texts: under row-level security only leakproof operators reach an index. Windows stand where
# joins could, and OFFSET 0 keeps look-ups by key what they are: right after an upload PostgreSQL has no statistics,
# and would read all postings of the knowledge base, or join thousands of rows in a loop.
_LEXICAL = """
WITH question AS MATERIALIZED (
    SELECT term, weight FROM unnest(%(terms)s::text[], %(weights)s::float8[]) AS asked (term, weight)
),
collection AS MATERIALIZED (
    SELECT count(*) FILTER (WHERE chunk_count > 0)::float8 AS documents,
           greatest(sum(chunk_count), 1)::float8 AS chunks,
           greatest(sum(term_count), 1)::float8 AS terms
    FROM documents
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
),
matches AS MATERIALIZED (
    SELECT question.term, question.weight, p.*,
           sum(cardinality(p.postings)) OVER of_term AS in_chunks, count(*) OVER of_term AS in_documents
    FROM question
    CROSS JOIN LATERAL (
        SELECT document_id, frequency::float8, document_terms, postings FROM chunk_postings
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = question.term
        OFFSET 0
    ) p
    WINDOW of_term AS (PARTITION BY question.term)
),
-- What each term says in each document: by its rarity among chunks, and by its rarity among documents, which the
-- document's own score sums up.
said AS (
    SELECT document_id, postings, weight * ln(1 + (chunks - in_chunks + 0.5) / (in_chunks + 0.5)) AS rarity,
           sum(weight * ln(1 + (documents - in_documents + 0.5) / (in_documents + 0.5))
               * frequency * (%(k1)s::float8 + 1)
               / (frequency + %(k1)s::float8
                  * (1 - %(b)s::float8 + %(b)s::float8 * document_terms * documents / terms)))
               OVER (PARTITION BY document_id) AS document_score
    FROM matches CROSS JOIN collection
),
lexical AS MATERIALIZED (
    SELECT document_id, (posting >> 32)::integer AS ordinal,
           sum(rarity * (posting >> 16 & 65535)::float8 * (%(k1)s::float8 + 1)
               / ((posting >> 16 & 65535)::float8 + %(k1)s::float8
                  * (1 - %(b)s::float8 + %(b)s::float8 * (posting & 65535)::float8 * chunks / terms)))
           + %(document_share)s::float8 * max(document_score) AS score
    FROM (SELECT document_id, rarity, document_score, unnest(postings) AS posting FROM said) spread
    CROSS JOIN collection
    GROUP BY document_id, ordinal
),
-- The best score there is, and that of a text with every word; a word that nothing holds says most.
scale AS MATERIALIZED (
    SELECT (SELECT coalesce(max(score), 0) FROM lexical) AS best,
           coalesce(sum(weight * (ln(1 + (chunks - in_chunks + 0.5) / (in_chunks + 0.5))
                        + %(document_share)s::float8
                        * ln(1 + (documents - in_documents + 0.5) / (in_documents + 0.5)))), 0)
               * (%(k1)s::float8 + 1) AS ideal
    FROM (
        SELECT term, max(weight) AS weight, max(in_chunks)::float8 AS in_chunks,
               max(in_documents)::float8 AS in_documents
        FROM (SELECT term, weight, in_chunks, in_documents FROM matches
              UNION ALL SELECT term, weight, 0, 0 FROM question) counted
        GROUP BY term
    ) words
    CROSS JOIN collection
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
wordiest AS MATERIALIZED (
    SELECT document_id, ordinal, score FROM lexical ORDER BY score DESC, document_id, ordinal LIMIT %(pool)s
),
-- Both sides in one pass over the lexical scores: a join of the two could be planned as a nested loop.
candidates AS MATERIALIZED (
    SELECT document_id, ordinal, max(score) AS score
    FROM (
        SELECT document_id, ordinal, score, false AS wanted FROM lexical
        UNION ALL SELECT document_id, ordinal, score, true FROM wordiest
        UNION ALL SELECT document_id, ordinal, 0, true FROM nearest
        UNION ALL SELECT document_id, ordinal, 0, true FROM chunks
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = ANY(%(given)s)
    ) sides
    GROUP BY document_id, ordinal
    HAVING bool_or(wanted)
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

SEARCH = f"{_LEXICAL}{_FOUND}{_TERMS_OF_CANDIDATES}"

SIMILAR_IMAGES = """
SELECT chunk_id, max(cosine) AS cosine
FROM nearest_images(%(organisation)s, %(knowledge_base)s, %(model)s, %(vectors)s::halfvec[], %(limit)s)
GROUP BY chunk_id
ORDER BY cosine DESC, chunk_id
LIMIT %(limit)s
"""
