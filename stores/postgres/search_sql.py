"""The statements of search: words and vectors of one knowledge base, in one round trip.

Read from the bottom: `_TERMS_OF_CANDIDATES` fills both raw terms of each candidate, `_FOUND` and `_GIVEN` say which
chunks are candidates, `_LEXICAL` scores every chunk that holds a word of the question.
"""

# df, lengths and totals are counted where they are used, so no statistic can grow stale. All tables are met by
# equality on uuids and texts: under row-level security only leakproof operators reach an index.
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
    SELECT question.term, p.document_id, p.postings
    FROM question
    JOIN chunk_postings p ON p.organisation_id = %(organisation)s AND p.knowledge_base_id = %(knowledge_base)s
                         AND p.term = question.term
),
-- How much a term says, among chunks and among documents; a term that nothing holds says most.
words AS MATERIALIZED (
    SELECT question.term,
           question.weight * ln(1 + (chunks - coalesce(in_chunks, 0) + 0.5) / (coalesce(in_chunks, 0) + 0.5))
               AS among_chunks,
           question.weight * ln(1 + (documents - coalesce(in_documents, 0) + 0.5) / (coalesce(in_documents, 0) + 0.5))
               AS among_documents
    FROM question
    CROSS JOIN collection
    LEFT JOIN (
        SELECT term, sum(cardinality(postings)) AS in_chunks, count(*) AS in_documents FROM matches GROUP BY term
    ) spread USING (term)
),
chunk_scores AS (
    SELECT document_id, (posting >> 32)::integer AS ordinal,
           sum(among_chunks * (posting >> 16 & 65535) * (%(k1)s + 1)
               / ((posting >> 16 & 65535) + %(k1)s * (1 - %(b)s + %(b)s * (posting & 65535) * chunks / terms)))
               AS score
    FROM (SELECT document_id, among_chunks, unnest(postings) AS posting FROM matches JOIN words USING (term)) spread
    CROSS JOIN collection
    GROUP BY document_id, ordinal
),
document_scores AS (
    SELECT document_id,
           sum(among_documents * frequency * (%(k1)s + 1)
               / (frequency + %(k1)s * (1 - %(b)s + %(b)s * d.term_count * documents / terms))) AS score
    FROM (
        SELECT document_id, among_documents,
               (SELECT sum(posting >> 16 & 65535) FROM unnest(postings) AS posting)::float8 AS frequency
        FROM matches JOIN words USING (term)
    ) spread
    JOIN documents d ON d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s
                    AND d.id = spread.document_id
    CROSS JOIN collection
    GROUP BY document_id
),
lexical AS MATERIALIZED (
    SELECT document_id, ordinal, chunk_scores.score + %(document_share)s * document_scores.score AS score
    FROM chunk_scores JOIN document_scores USING (document_id)
),
scale AS MATERIALIZED (
    SELECT (SELECT coalesce(max(score), 0) FROM lexical) AS best,
           (SELECT coalesce(sum(among_chunks + %(document_share)s * among_documents), 0) FROM words) * (%(k1)s + 1)
               AS ideal
),
"""

# The exact nearest chunks of the knowledge base. An index of its own for a large one replaces this scan only.
_NEAREST = """
nearest AS MATERIALIZED (
    SELECT id, document_id, ordinal
    FROM chunks
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
    ORDER BY embedding <=> %(vector)s
    LIMIT %(pool)s
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
    ) sides
    GROUP BY document_id, ordinal
    HAVING bool_or(wanted)
)
"""
_GIVEN = """
candidates AS MATERIALIZED (
    SELECT document_id, ordinal, max(score) AS score
    FROM (
        SELECT document_id, ordinal, score, false AS wanted FROM lexical
        UNION ALL
        SELECT document_id, ordinal, 0, true FROM chunks
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND id = ANY(%(ids)s)
    ) sides
    GROUP BY document_id, ordinal
    HAVING bool_or(wanted)
)
"""
_TERMS_OF_CANDIDATES = """
SELECT c.id AS chunk_id, c.document_id, d.importance, 1 - (c.embedding <=> %(vector)s) AS cosine,
       candidates.score AS lexical, 1 - (d.summary_embedding <=> %(vector)s) AS summary, scale.best, scale.ideal
FROM candidates
JOIN chunks c ON c.organisation_id = %(organisation)s AND c.document_id = candidates.document_id
             AND c.ordinal = candidates.ordinal
JOIN documents d ON d.organisation_id = %(organisation)s AND d.id = c.document_id
CROSS JOIN scale
"""

SEARCH = f"{_LEXICAL}{_FOUND}{_TERMS_OF_CANDIDATES}"
SCORE = f"{_LEXICAL}{_GIVEN}{_TERMS_OF_CANDIDATES}"

SIMILAR_IMAGES = """
SELECT i.chunk_id, max(1 - (i.embedding <=> probe.embedding)) AS cosine
FROM chunk_images i
CROSS JOIN unnest(%(vectors)s::halfvec[]) AS probe (embedding)
WHERE i.organisation_id = %(organisation)s AND i.knowledge_base_id = %(knowledge_base)s AND i.model = %(model)s
GROUP BY i.chunk_id
ORDER BY cosine DESC, i.chunk_id
LIMIT %(limit)s
"""
