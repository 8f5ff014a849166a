"""The statements of moving a knowledge base to another embedding."""

from stores.postgres import knowledge_rows as rows

KNOWN = """
SELECT id FROM knowledge_bases WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s FOR NO KEY UPDATE
"""
SPACE = """
SELECT embedding, dimension, image_model FROM reindexings
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s
"""
BEGIN = """
INSERT INTO reindexings (organisation_id, knowledge_base_id, embedding, dimension, image_model)
VALUES (%(organisation)s, %(knowledge_base)s, %(embedding)s, %(dimension)s, %(image_model)s)
"""
FORGET = tuple(
    f"DELETE FROM {table} WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s"
    for table in ("next_chunk_vectors", "next_documents", "reindexings")
)

_HERE = "c.organisation_id = %(organisation)s AND c.knowledge_base_id = %(knowledge_base)s"
_UNMOVED_CHUNKS = f"""
FROM chunks c
WHERE {_HERE} AND NOT EXISTS (
    SELECT FROM next_chunk_vectors n WHERE n.organisation_id = c.organisation_id AND n.chunk_id = c.id
)
"""
_UNMOVED_DOCUMENTS = """
FROM documents d
WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s AND d.indexed_revision > 0
  AND NOT EXISTS (
    SELECT FROM next_documents n
    WHERE n.organisation_id = d.organisation_id AND n.document_id = d.id AND n.revision = d.indexed_revision
  )
"""
EXTENT = f"""
SELECT (SELECT count(*) FROM chunks c WHERE {_HERE})
       + (SELECT count(*) FROM documents d WHERE d.organisation_id = %(organisation)s
          AND d.knowledge_base_id = %(knowledge_base)s AND d.indexed_revision > 0) AS total,
       (SELECT count(*) {_UNMOVED_CHUNKS}) + (SELECT count(*) {_UNMOVED_DOCUMENTS}) AS left_over
"""
CHUNKS_LEFT = f"SELECT c.id {_UNMOVED_CHUNKS} ORDER BY c.id"
DOCUMENTS_LEFT = f"""
SELECT {rows.DOCUMENT_COLUMNS}, indexed_revision {_UNMOVED_DOCUMENTS} ORDER BY d.id LIMIT %(limit)s
"""
_CHUNK = """
SELECT c.id, c.document_id, c.ordinal, d.title, c.heading, c.content, c.start_offset, c.end_offset, c.page
"""
CHUNKS = f"""
{_CHUNK}
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (id, position)
JOIN chunks c ON c.organisation_id = %(organisation)s AND c.id = wanted.id
JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
ORDER BY wanted.position
"""
DOCUMENT_CHUNKS = f"""
{_CHUNK}
FROM chunks c JOIN documents d ON d.organisation_id = c.organisation_id AND d.id = c.document_id
WHERE c.organisation_id = %(organisation)s AND c.document_id = %(document)s
ORDER BY c.ordinal
"""
# Chunks are locked against a deletion until their vectors are stored; those that are gone, or going, are left out.
KEEP_VECTORS = """
WITH present AS MATERIALIZED (
    SELECT c.id, new.embedding
    FROM unnest(%(ids)s::uuid[], %(embeddings)b::halfvec[]) AS new (id, embedding)
    JOIN chunks c ON c.organisation_id = %(organisation)s AND c.id = new.id
    FOR KEY SHARE OF c SKIP LOCKED
)
INSERT INTO next_chunk_vectors (organisation_id, knowledge_base_id, chunk_id, embedding)
SELECT %(organisation)s, %(knowledge_base)s, id, embedding FROM present
ON CONFLICT (organisation_id, chunk_id) DO UPDATE SET embedding = EXCLUDED.embedding
"""
CURRENT = """
SELECT id FROM documents
WHERE organisation_id = %(organisation)s AND id = %(document)s AND indexed_revision = %(revision)s FOR NO KEY UPDATE
"""
KEEP_DOCUMENT = """
INSERT INTO next_documents (organisation_id, knowledge_base_id, document_id, revision, summary_embedding)
VALUES (%(organisation)s, %(knowledge_base)s, %(document)s, %(revision)s, %(summary)s)
ON CONFLICT (organisation_id, document_id)
    DO UPDATE SET revision = EXCLUDED.revision, summary_embedding = EXCLUDED.summary_embedding
"""
DROP_IMAGES = """
DELETE FROM chunk_images i USING chunks c
WHERE i.organisation_id = %(organisation)s AND i.model = %(image_model)s AND c.organisation_id = i.organisation_id
  AND c.id = i.chunk_id AND c.document_id = %(document)s
"""
KEEP_IMAGES = """
INSERT INTO chunk_images (organisation_id, knowledge_base_id, model, chunk_id, embedding, number)
SELECT %(organisation)s, %(knowledge_base)s, %(image_model)s, new.*
FROM unnest(%(chunks)s::uuid[], %(embeddings)b::halfvec[]) WITH ORDINALITY AS new
ON CONFLICT (organisation_id, chunk_id, model, number) DO NOTHING
"""

ANY_LEFT = f"SELECT EXISTS (SELECT {_UNMOVED_CHUNKS}) OR EXISTS (SELECT {_UNMOVED_DOCUMENTS}) AS left_over"
# Documents before their chunks, as whoever deletes one locks them.
LOCK_DOCUMENTS = """
SELECT id FROM documents
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s ORDER BY id FOR NO KEY UPDATE
"""
SWITCH = (
    """
    UPDATE chunks c SET embedding = n.embedding FROM next_chunk_vectors n
    WHERE c.organisation_id = %(organisation)s AND c.knowledge_base_id = %(knowledge_base)s
      AND n.organisation_id = c.organisation_id AND n.knowledge_base_id = c.knowledge_base_id AND n.chunk_id = c.id
    """,
    """
    UPDATE documents d SET summary_embedding = n.summary_embedding FROM next_documents n
    WHERE d.organisation_id = %(organisation)s AND d.knowledge_base_id = %(knowledge_base)s
      AND n.organisation_id = d.organisation_id AND n.document_id = d.id
    """,
    """
    DELETE FROM chunk_images
    WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND model <> %(image_model)s
    """,
    """
    UPDATE knowledge_bases SET embedding = %(embedding)s, dimension = %(dimension)s
    WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s
    """,
    *FORGET,
)
