"""The statements of search: words and vectors of one knowledge base.

What a question's words weigh and where they stand (`TOTALS`, `FREQUENT`, `RARE`), and what lies near it (`NEAREST`),
is asked in one round trip; what that makes of chunks is `stores/postgres/packed_postings.py`; `CANDIDATES` fills the
raw terms of those that are left.
"""

from stores.postgres.packed_postings import PACKED

# All tables are met by equality on uuids and texts: under row-level security only leakproof operators reach an index.
# OFFSET 0 keeps look-ups by key what they are: right after an upload PostgreSQL has no statistics, and would read all
# postings of the knowledge base, or join thousands of rows in a loop.
#
# What is frequent in a large knowledge base was counted by upkeep (r0014); all other words are counted as they are
# read, and so are the totals of a knowledge base that is not large.
TOTALS = """
SELECT documents, chunks, terms FROM word_totals
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
UNION ALL
SELECT count(*) FILTER (WHERE chunk_count > 0), sum(chunk_count), sum(term_count) FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND NOT EXISTS (
    SELECT FROM word_totals
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
)
HAVING NOT EXISTS (
    SELECT FROM word_totals
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
)
"""
_COUNTED = """
LATERAL (
    SELECT documents, chunks FROM frequent_terms
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = asked.term
    OFFSET 0
) counted
"""
#: The words that were counted ahead, by number.
FREQUENT = f"""
SELECT asked.number, counted.documents, counted.chunks
FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS asked (term, number) CROSS JOIN {_COUNTED}
"""


def _postings(condition: str, joined: str = "") -> str:
    """A row for each word of the question that stands in anything."""
    return f"""
SELECT asked.number, said.*
FROM unnest(%(terms)s::text[], %(numbers)s::integer[]) AS asked (term, number) {joined}
CROSS JOIN LATERAL (
    SELECT {PACKED} FROM (
        SELECT document_id, frequency, document_terms, postings FROM chunk_postings
        WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND term = asked.term
          {condition}
        OFFSET 0
    ) read
) said
WHERE said.documents IS NOT NULL
"""


#: Postings of the words that were not counted ahead, of all that are named, and of these in some documents.
RARE = _postings("AND counted.documents IS NULL", f"LEFT JOIN {_COUNTED} ON true")
POSTINGS = _postings("")
LOOKED_UP = _postings("AND document_id = ANY(%(documents)s::uuid[])")

#: By the knowledge base's own index, where it is large enough to have one, else exactly. A chunk may come twice
#: (r0009).
NEAREST = """
SELECT document_id, ordinal FROM nearest_chunks(%(organisation)s, %(knowledge_base)s, %(vector)s, %(pool)s)
"""
#: Chunks that are named, where they are of this knowledge base.
GIVEN = """
SELECT named.document_id, named.ordinal
FROM unnest(%(given)s::uuid[]) AS given (id)
CROSS JOIN LATERAL (
    SELECT knowledge_base_id, document_id, ordinal FROM chunks
    WHERE organisation_id = %(organisation)s AND id = given.id
    OFFSET 0
) named
WHERE named.knowledge_base_id = %(knowledge_base)s
"""
CANDIDATES = """
SELECT c.id AS chunk_id, c.document_id, wanted.ordinal, d.importance, 1 - (c.embedding <=> %(vector)s) AS cosine,
       1 - (d.summary_embedding <=> %(vector)s) AS summary
FROM unnest(%(documents)s::uuid[], %(ordinals)s::integer[]) AS wanted (document_id, ordinal)
CROSS JOIN LATERAL (
    SELECT id, document_id, embedding FROM chunks
    WHERE organisation_id = %(organisation)s AND document_id = wanted.document_id AND ordinal = wanted.ordinal
    OFFSET 0
) c
CROSS JOIN LATERAL (
    SELECT importance, summary_embedding FROM documents
    WHERE organisation_id = %(organisation)s AND id = wanted.document_id
    OFFSET 0
) d
"""

SIMILAR_IMAGES = """
SELECT chunk_id, max(cosine) AS cosine
FROM nearest_images(%(organisation)s, %(knowledge_base)s, %(model)s, %(vectors)s::halfvec[], %(limit)s)
GROUP BY chunk_id
ORDER BY cosine DESC, chunk_id
LIMIT %(limit)s
"""
