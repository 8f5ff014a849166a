"""Knowledge bases of any size in PostgreSQL, from the vectors of real texts: each chunk's is one of them, slightly
perturbed. Rows go in by COPY, past the policies, so the connection is a superuser's."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import UUID, uuid4

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import HalfVector, register_vector
from psycopg.rows import TupleRow

from bench.postings import Words
from tributary.models.protocols import Vectors
from tributary.settings import E5

#: The length of the noise, as a share of the vector's: the cosine to the real vector is about .96.
NOISE = 0.3
PER_DOCUMENT = 10
#: Vectors made at a time.
BLOCK = 20_000

_DOCUMENT_COLUMNS = {
    "organisation_id": "uuid",
    "id": "uuid",
    "knowledge_base_id": "uuid",
    "filename": "text",
    "title": "text",
    "content_type": "text",
    "size": "int8",
    "sha256": "text",
    "storage_key": "text",
    "status": "text",
    "stage": "text",
    "importance": "float4",
    "chunk_count": "int4",
    "term_count": "int8",
}
_CHUNK_COLUMNS = {
    "organisation_id": "uuid",
    "id": "uuid",
    "knowledge_base_id": "uuid",
    "document_id": "uuid",
    "ordinal": "int4",
    "content": "text",
    "start_offset": "int4",
    "end_offset": "int4",
    "term_count": "int4",
    "embedding": "halfvec",
}
_POSTING_COLUMNS = {
    "organisation_id": "uuid",
    "knowledge_base_id": "uuid",
    "document_id": "uuid",
    "frequency": "int4",
    "document_terms": "int4",
    "term": "text",
    "postings": "int8[]",
}

Connection = psycopg.Connection[TupleRow]


@dataclass(slots=True)
class Nearest:
    """The exact answer, kept while the vectors go by: the best chunks of each question by cosine."""

    questions: Vectors
    depth: int
    _cosines: NDArray[np.float32] | None = None
    _rows: NDArray[np.int64] | None = None

    def see(self, vectors: Vectors, first: int) -> None:
        cosines = self.questions @ vectors.T
        rows = np.broadcast_to(np.arange(first, first + len(vectors)), cosines.shape)
        if self._cosines is not None and self._rows is not None:
            cosines, rows = np.hstack((self._cosines, cosines)), np.hstack((self._rows, rows))
        best = np.argsort(-cosines, axis=1)[:, : self.depth]
        self._cosines = np.take_along_axis(cosines, best, 1)
        self._rows = np.take_along_axis(rows, best, 1)

    def answer(self) -> list[set[int]]:
        """The row numbers of each question's best."""
        assert self._rows is not None
        return [set(map(int, rows)) for rows in self._rows]


@dataclass(frozen=True, slots=True)
class Base:
    """A filled knowledge base. Chunk n has the id `first + n`."""

    organisation_id: UUID
    id: UUID
    size: int
    dimension: int
    first: int

    def row(self, chunk_id: UUID) -> int:
        return chunk_id.int - self.first


def perturbed(real: Vectors, count: int, random: np.random.Generator) -> Vectors:
    """Unit vectors as PostgreSQL keeps them, in half precision."""
    rows = real[random.integers(0, len(real), count)]
    noise = random.standard_normal(rows.shape, np.float32) * np.float32(NOISE / np.sqrt(rows.shape[1]))
    return unit((rows + noise).astype(np.float16).astype(np.float32))


def unit(vectors: Vectors) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def widened(vectors: Vectors, dimension: int) -> Vectors:
    """The same directions in more dimensions, by a fixed random projection."""
    projection = np.random.default_rng(1).standard_normal((vectors.shape[1], dimension), np.float32)
    return unit(vectors @ projection)


def fill(
    connection: Connection, organisation_id: UUID, real: Vectors, size: int, nearest: Nearest, words: Words | None
) -> Base:
    """A knowledge base of `size` chunks; what is nearest to the questions is seen on the way."""
    register_vector(connection)
    base = Base(organisation_id, uuid4(), size, real.shape[1], uuid4().int >> 24 << 24)
    connection.execute(
        "INSERT INTO knowledge_bases (organisation_id, id, name, embedding, dimension) VALUES (%s, %s, %s, %s, %s)",
        (organisation_id, base.id, f"{size} x {base.dimension}", E5, base.dimension),
    )
    documents = [uuid4() for _ in range(-(-size // PER_DOCUMENT))]
    lengths = _write_postings(connection, base, documents, words)
    _write_documents(connection, base, documents, lengths)
    random = np.random.default_rng(size)
    for first in range(0, size, BLOCK):
        vectors = perturbed(real, min(BLOCK, size - first), random)
        nearest.see(vectors, first)
        _write_chunks(connection, base, documents, vectors, first)
    connection.commit()
    return base


def _write_documents(connection: Connection, base: Base, documents: Sequence[UUID], lengths: Sequence[int]) -> None:
    with _copy(connection, "documents", _DOCUMENT_COLUMNS) as copy:
        for number, document in enumerate(documents):
            chunks = min(PER_DOCUMENT, base.size - number * PER_DOCUMENT)
            kinds = ("a.md", "A", "text/markdown", 1, "", "", "ready", "ready", 0.5)
            copy.write_row((base.organisation_id, document, base.id, *kinds, chunks, lengths[number]))


def _write_chunks(connection: Connection, base: Base, documents: Sequence[UUID], vectors: Vectors, first: int) -> None:
    text = "A passage of about a hundred words. " * 20
    with _copy(connection, "chunks", _CHUNK_COLUMNS) as copy:
        for row, vector in enumerate(vectors, first):
            document = documents[row // PER_DOCUMENT]
            place = (base.organisation_id, UUID(int=base.first + row), base.id, document, row % PER_DOCUMENT)
            copy.write_row((*place, text, 0, len(text), 100, HalfVector(vector)))


def _write_postings(connection: Connection, base: Base, documents: Sequence[UUID], words: Words | None) -> list[int]:
    """The length of each document in terms."""
    if words is None:
        return [100 * PER_DOCUMENT] * len(documents)
    lengths = []
    with _copy(connection, "chunk_postings", _POSTING_COLUMNS) as copy:
        for document, rows in zip(documents, words.documents(len(documents), PER_DOCUMENT), strict=True):
            lengths.append(rows.length)
            for term, postings, frequency in rows.postings:
                place = (base.organisation_id, base.id, document)
                copy.write_row((*place, frequency, rows.length, term, postings))
    return lengths


@contextmanager
def _copy(connection: Connection, table: str, columns: dict[str, str]) -> Iterator[psycopg.Copy]:
    """A binary COPY into some columns of a table."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.set_types(list(columns.values()))
        yield copy
