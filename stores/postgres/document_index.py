"""The searchable form of one document in PostgreSQL: chunks with vectors, postings, pictures.

Row-level security shuts COPY out, so rows go in by `INSERT … SELECT` over whole columns: some hundred chunks or some
thousand postings a statement.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from stores.postgres.database import Connection
from stores.postgres.vector_values import half_vector
from stores.postings import DocumentPostings, index_chunks
from stores.protocols.knowledge import ImageVectors
from tributary.domain.ids import new_id
from tributary.domain.knowledge import ChunkDraft
from tributary.models.protocols import Vectors

_REMOVALS = (
    "DELETE FROM chunk_postings WHERE organisation_id = %(organisation)s AND document_id = %(document)s",
    # Its pictures go with a chunk.
    "DELETE FROM chunks WHERE organisation_id = %(organisation)s AND document_id = %(document)s",
)
_ADD_CHUNKS = """
INSERT INTO chunks (organisation_id, knowledge_base_id, document_id, id, ordinal, content, heading, start_offset,
                    end_offset, page, term_count, embedding)
SELECT %(organisation)s, %(knowledge_base)s, %(document)s, new.*
FROM unnest(%(ids)s::uuid[], %(ordinals)s::int[], %(contents)s::text[], %(headings)s::text[], %(starts)s::int[],
            %(ends)s::int[], %(pages)s::int[], %(lengths)s::int[], %(embeddings)b::halfvec[]) AS new
"""
# A term's postings in rows of 128, so that an index can hold them: the first says how often the term stands in the
# document, the others nought.
_ADD_POSTINGS = """
INSERT INTO chunk_postings (organisation_id, knowledge_base_id, document_id, document_terms, term, frequency, postings)
SELECT %(organisation)s, %(knowledge_base)s, %(document)s, %(document_terms)s, each.term,
       CASE WHEN part = 0 THEN (SELECT sum(posting >> 16 & 65535) FROM unnest(each.postings) AS posting) ELSE 0 END,
       each.postings[part * 128 + 1 : part * 128 + 128]
FROM (
    SELECT new.key AS term, new.value::bigint[] AS postings FROM json_each_text(%(postings)s::json) AS new OFFSET 0
) each
CROSS JOIN LATERAL generate_series(0, (cardinality(each.postings) - 1) / 128) AS part
"""
_ADD_IMAGES = """
INSERT INTO chunk_images (organisation_id, knowledge_base_id, model, chunk_id, embedding, number)
SELECT %(organisation)s, %(knowledge_base)s, %(model)s, new.*
FROM unnest(%(chunks)s::uuid[], %(embeddings)b::halfvec[]) WITH ORDINALITY AS new
ON CONFLICT (organisation_id, chunk_id, model, number) DO NOTHING
"""
#: Rows of one statement: so many that a round trip is cheap, so few that encoding them never holds up the loop.
_CHUNKS = 200
_TERMS = 5000


@dataclass(frozen=True, slots=True)
class DocumentKey:
    """Where a document stands."""

    organisation_id: UUID
    knowledge_base_id: UUID
    document_id: UUID

    def parameters(self) -> dict[str, Any]:
        return {
            "organisation": self.organisation_id,
            "knowledge_base": self.knowledge_base_id,
            "document": self.document_id,
        }


@dataclass(frozen=True, slots=True)
class DocumentIndex:
    """What goes into the tables. `chunk_ids` are by ordinal, `postings` are encoded."""

    chunk_ids: Mapping[int, UUID]
    chunks: Sequence[ChunkDraft]
    vectors: Vectors
    lengths: Sequence[int]
    postings: Sequence[str]
    images: Sequence[ImageVectors]


def build_index(
    title: str, chunks: Sequence[ChunkDraft], vectors: Vectors, images: Sequence[ImageVectors]
) -> DocumentIndex:
    """Analyses and encodes: CPU work that belongs in a thread."""
    index = index_chunks(chunks, title)
    return DocumentIndex(
        chunk_ids={chunk.ordinal: new_id() for chunk in chunks},
        chunks=chunks,
        vectors=vectors,
        lengths=index.lengths,
        postings=list(_encoded(index)),
        images=images,
    )


async def replace_index(connection: Connection, key: DocumentKey, index: DocumentIndex) -> None:
    """Puts the index in the place of the document's former one. The caller holds the document's row lock."""
    place = key.parameters()
    for statement in _REMOVALS:
        await connection.execute(statement, place)
    for first in range(0, len(index.chunks), _CHUNKS):
        await connection.execute(_ADD_CHUNKS, place | _chunk_columns(index, slice(first, first + _CHUNKS)))
    for postings in index.postings:
        columns = {"postings": postings, "document_terms": sum(index.lengths)}
        await connection.execute(_ADD_POSTINGS, place | columns)
    for images in index.images:
        await connection.execute(_ADD_IMAGES, place | _image_columns(index, images))


def _chunk_columns(index: DocumentIndex, part: slice) -> dict[str, Any]:
    chunks = index.chunks[part]
    return {
        "ids": [index.chunk_ids[chunk.ordinal] for chunk in chunks],
        "ordinals": [chunk.ordinal for chunk in chunks],
        "contents": [chunk.text for chunk in chunks],
        "headings": [chunk.heading for chunk in chunks],
        "starts": [chunk.start for chunk in chunks],
        "ends": [chunk.end for chunk in chunks],
        "pages": [chunk.page for chunk in chunks],
        "lengths": list(index.lengths[part]),
        "embeddings": [half_vector(vector) for vector in index.vectors[part]],
    }


def _image_columns(index: DocumentIndex, images: ImageVectors) -> dict[str, Any]:
    return {
        "model": images.model,
        "chunks": [index.chunk_ids[ordinal] for ordinal in images.ordinals],
        "embeddings": [half_vector(vector) for vector in images.vectors],
    }


def _encoded(index: DocumentPostings) -> Iterator[str]:
    # Sorted, the rows of a statement enter the index's pages in order.
    ordered = sorted(index.postings.items())
    for first in range(0, len(ordered), _TERMS):
        arrays = {term: "{" + ",".join(map(str, each)) + "}" for term, each in ordered[first : first + _TERMS]}
        yield json.dumps(arrays, ensure_ascii=False)
