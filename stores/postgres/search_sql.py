"""The statements of search: words and vectors of one knowledge base.

What a question's words weigh and what lies near it (`OVERVIEW`), and where those words stand that were not counted
ahead (`RARE`), is asked in one round trip; what that makes of chunks is `stores/postgres/packed_postings.py`;
`CANDIDATES` fills the raw terms of those that are left.
"""

from stores.postgres.packed_postings import PACKED
from stores.postgres.places import PACKED_PLACES

# All tables are met by equality on uuids and texts: under row-level security only leakproof operators reach an index.
# OFFSET 0 keeps look-ups by key what they are: right after an upload PostgreSQL has no statistics, and would read all
# postings of the knowledge base, or join thousands of rows in a loop.
#
# What is frequent in a large knowledge base was counted by upkeep (r0014); all other words are counted as they are
# read, and so are the totals of a knowledge base that is not large.
_TOTALS = """
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
#: Words with their numbers. No term holds a line break.
_ASKED = r"""
unnest(string_to_array(%(terms)s, E'\n'), string_to_array(%(numbers)s, ' ')::integer[]) AS asked (term, number)
"""
#: One row: the model of the vectors; how much there is in all; the words that were counted ahead, with documents and
#: chunks (8 bytes each); and what lies near, by the knowledge base's own index where it is large enough to have one,
#: else exactly. A chunk may come twice (r0009).
OVERVIEW = f"""
SELECT (
    SELECT embedding FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
) AS embedding, total.documents::float8, total.chunks::float8, total.terms::float8, frequent.counted, near.places
FROM ({_TOTALS}) total CROSS JOIN (
    SELECT string_agg(int8send(asked.number) || int8send(counted.documents) || int8send(counted.chunks), '') AS counted
    FROM {_ASKED} CROSS JOIN {_COUNTED}
) frequent CROSS JOIN (
    SELECT {PACKED_PLACES} AS places FROM nearest_chunks(%(organisation)s, %(knowledge_base)s, %(vector)s, %(pool)s)
) near
"""


def _postings(condition: str, joined: str = "") -> str:
    """A row for each word of the question that stands in anything."""
    return f"""
SELECT asked.number, said.*
FROM {_ASKED} {joined}
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
LOOKED_UP = _postings("AND document_id = ANY(string_to_array(%(documents)s, ' ')::uuid[])")

#: One row, with a column of what each candidate has: its id (16 bytes), its place, and doubles.
_PACKED = f"""
SELECT string_agg(uuid_send(chunk_id), '') AS chunks, {PACKED_PLACES} AS places,
       string_agg(float8send(importance), '') AS importance, string_agg(float8send(cosine), '') AS cosines,
       string_agg(float8send(coalesce(summary, 'NaN')), '') AS summaries
"""
_DOCUMENT = """
CROSS JOIN LATERAL (
    SELECT importance, summary_embedding FROM documents
    WHERE organisation_id = %(organisation)s AND id = c.document_id
    OFFSET 0
) d
"""
_MEASURED = """
c.id AS chunk_id, c.document_id, c.ordinal, d.importance, 1 - (c.embedding <=> %(vector)s) AS cosine,
1 - (d.summary_embedding <=> %(vector)s) AS summary
"""
CANDIDATES = f"""
{_PACKED} FROM (
    SELECT {_MEASURED}
    FROM unnest(string_to_array(%(documents)s, ' ')::uuid[], string_to_array(%(ordinals)s, ' ')::integer[])
         AS wanted (document_id, ordinal)
    CROSS JOIN LATERAL (
        SELECT id, document_id, ordinal, embedding FROM chunks
        WHERE organisation_id = %(organisation)s AND document_id = wanted.document_id AND ordinal = wanted.ordinal
        OFFSET 0
    ) c
    {_DOCUMENT}
) measured
"""
#: The same of chunks that are named, where they are of this knowledge base.
GIVEN = f"""
{_PACKED} FROM (
    SELECT {_MEASURED}
    FROM unnest(string_to_array(%(given)s, ' ')::uuid[]) AS given (id)
    CROSS JOIN LATERAL (
        SELECT id, document_id, ordinal, embedding, knowledge_base_id FROM chunks
        WHERE organisation_id = %(organisation)s AND id = given.id
        OFFSET 0
    ) c
    {_DOCUMENT}
    WHERE c.knowledge_base_id = %(knowledge_base)s
) measured
"""

SIMILAR_IMAGES = """
SELECT chunk_id, max(cosine) AS cosine
FROM nearest_images(%(organisation)s, %(knowledge_base)s, %(model)s, %(vectors)s::halfvec[], %(limit)s)
GROUP BY chunk_id
ORDER BY cosine DESC, chunk_id
LIMIT %(limit)s
"""
