"""Knowledge bases, documents and chunks on PostgreSQL: the reader and the writer in one."""

import asyncio
from collections.abc import Mapping, Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from stores.postgres.database import Database
from stores.postgres.document_index import DocumentKey, build_index, replace_index
from stores.postgres.graph_sums import forget_document
from stores.postgres.knowledge_reading import PostgresKnowledgeReader
from stores.postgres.knowledge_writing import PostgresCatalogueWriter
from stores.postgres.statements import pipelined, query
from stores.postgres.vector_values import half_vector
from stores.protocols.knowledge import ImageVectors
from stores.vectors import require_directions, require_embedding, require_vectors
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.models.protocols import Vectors

# Also locked by whoever moves the knowledge base to another embedding, and before the document, as there.
_LOCKED_SPACE = """
SELECT embedding FROM knowledge_bases
WHERE organisation_id = %(organisation)s AND id = %(knowledge_base)s FOR SHARE
"""
_DOCUMENT_TO_WRITE = """
SELECT d.knowledge_base_id, k.dimension, k.embedding
FROM documents d
JOIN knowledge_bases k ON k.organisation_id = d.organisation_id AND k.id = d.knowledge_base_id
WHERE d.organisation_id = %(organisation)s AND d.id = %(document)s AND d.revision = %(revision)s
"""
_LOCKED_DOCUMENT = f"{_DOCUMENT_TO_WRITE} FOR UPDATE OF d"
_WRITE_TEXT = """
INSERT INTO document_texts (organisation_id, document_id, content, pages)
VALUES (%(organisation)s, %(document)s, %(content)s, %(pages)s)
ON CONFLICT (organisation_id, document_id) DO UPDATE SET content = EXCLUDED.content, pages = EXCLUDED.pages
"""
_WRITE_SUMMARY = """
UPDATE documents SET summary = %(summary)s, topics = %(topics)s, type = %(type)s,
                     summary_embedding = %(summary_vector)s, indexed_revision = revision,
                     chunk_count = %(chunk_count)s, term_count = %(term_count)s, updated_at = now()
WHERE organisation_id = %(organisation)s AND id = %(document)s
"""


class PostgresKnowledge(PostgresKnowledgeReader, PostgresCatalogueWriter):
    """`KnowledgeReader` and `KnowledgeWriter` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        PostgresKnowledgeReader.__init__(self, database)
        PostgresCatalogueWriter.__init__(self, database)

    async def write_document(
        self,
        organisation_id: UUID,
        document_id: UUID,
        revision: int,
        *,
        parsed: ParsedDocument,
        summary: str,
        topics: Sequence[str],
        document_type: str,
        summary_vector: Vectors | None,
        chunks: Sequence[ChunkDraft],
        vectors: Vectors,
        images: Sequence[ImageVectors] = (),
        embedding: str | None = None,
    ) -> Mapping[int, UUID] | None:
        parameters = {"organisation": organisation_id, "document": document_id, "revision": revision}
        found = await query(self._database, organisation_id, _DOCUMENT_TO_WRITE, parameters)
        if not found:
            return None
        target = found[0]
        require_embedding(embedding, target["embedding"])
        _require_space(target["dimension"], chunks, vectors, summary_vector, images)
        key = DocumentKey(organisation_id, target["knowledge_base_id"], document_id)
        # Built before the row is locked: a lock is held for the writing alone.
        index = await asyncio.to_thread(build_index, parsed.title, chunks, vectors, images)
        parameters |= {
            "content": parsed.text,
            "pages": Jsonb([(page.number, page.start, page.end) for page in parsed.pages]),
            "summary": summary,
            "topics": list(topics),
            "type": document_type,
            "summary_vector": half_vector(summary_vector) if summary_vector is not None else None,
            "chunk_count": len(chunks),
            "term_count": sum(index.lengths),
        }
        async with self._database.organisation(organisation_id) as connection:
            locks = (_LOCKED_SPACE, key.parameters()), (_LOCKED_DOCUMENT, parameters)
            bases, documents = await pipelined(connection, organisation_id, locks)
            require_embedding(target["embedding"], bases[0]["embedding"] if bases else None)
            if not documents:
                return None
            # The former content's facts go with it; those of the new one are written by the graph's own store.
            await forget_document(connection, organisation_id, key.knowledge_base_id, document_id)
            async with connection.pipeline():
                await replace_index(connection, key, index)
                await connection.execute(_WRITE_TEXT, parameters)
                await connection.execute(_WRITE_SUMMARY, parameters)
        return index.chunk_ids


def _require_space(
    dimension: int,
    chunks: Sequence[ChunkDraft],
    vectors: Vectors,
    summary_vector: Vectors | None,
    images: Sequence[ImageVectors],
) -> None:
    require_vectors(vectors, count=len(chunks), dimension=dimension)
    if summary_vector is not None:
        require_vectors(summary_vector[None, :], count=1, dimension=dimension)
    for image in images:
        require_directions(image.vectors)
