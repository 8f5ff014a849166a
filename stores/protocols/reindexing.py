"""Moving a knowledge base to another embedding, or embedding it anew, while it is searched."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from tributary.domain.knowledge import Document
from tributary.models.protocols import Vectors


@dataclass(frozen=True, slots=True)
class Space:
    """Where a knowledge base is moved to: the embedding of its texts with its dimension, and that of its pictures."""

    embedding: str
    dimension: int
    image_model: str


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """A chunk as it is embedded, with its place in the document. `title` is the document's."""

    id: UUID
    document_id: UUID
    ordinal: int
    title: str
    heading: str
    text: str
    start: int
    end: int
    page: int | None


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A searchable document with its summary. `revision` is the one that its chunks were made from."""

    document: Document
    revision: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What of a document goes along with its chunks: the vector of its summary (None: it has none), and those of its
    pictures (None: they stay as they are), row i for the chunk `image_chunks[i]`."""

    document_id: UUID
    revision: int
    summary: Vectors | None
    images: Vectors | None = None
    image_chunks: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Extent:
    """Chunks and documents that are moved, of all that are searchable."""

    done: int
    total: int


class ReindexStore(Protocol):
    """What was embedded for a new space is kept aside, and searched by nobody, until all of it takes the place of what
    there was in one transaction. Documents that come, change or go meanwhile are what `chunks_left` and
    `documents_left` find next."""

    def hold(self, organisation_id: UUID, knowledge_base_id: UUID) -> AbstractAsyncContextManager[None]:
        """Keeps others from moving the same knowledge base. A process that dies lets go at once.

        Raises:
            Conflict: somebody does.
        """
        ...

    async def begin(self, organisation_id: UUID, knowledge_base_id: UUID, space: Space) -> Extent:
        """Begins, or goes on where an earlier move to the same space ended; what was kept for another one goes.

        Raises:
            NotFound: an unknown knowledge base.
        """
        ...

    async def chunks_left(self, organisation_id: UUID, knowledge_base_id: UUID) -> Sequence[UUID]:
        """The searchable chunks without a new vector, by id."""
        ...

    async def chunks(self, organisation_id: UUID, ids: Sequence[UUID]) -> Sequence[StoredChunk]:
        """Those that still exist, in one round trip."""
        ...

    async def document_chunks(self, organisation_id: UUID, document_id: UUID) -> Sequence[StoredChunk]:
        """All of a document, by ordinal."""
        ...

    async def keep_vectors(
        self, organisation_id: UUID, knowledge_base_id: UUID, ids: Sequence[UUID], vectors: Vectors
    ) -> None:
        """New vectors of chunks; those that are gone are left out.

        Raises:
            Conflict: vectors that are not of the new dimension, not finite or zero.
        """
        ...

    async def documents_left(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, limit: int
    ) -> Sequence[StoredSummary]:
        """Searchable documents without new vectors of summary and pictures, by id."""
        ...

    async def keep_documents(self, organisation_id: UUID, knowledge_base_id: UUID, moved: Sequence[Moved]) -> None:
        """What was made of documents; of those that changed meanwhile nothing is kept. Raises as `keep_vectors`."""
        ...

    async def switch(self, organisation_id: UUID, knowledge_base_id: UUID) -> bool:
        """Puts all new vectors in the place of the old ones: one transaction. False, with nothing changed, where a
        chunk or a document has none yet."""
        ...

    async def discard(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """Gives a move up: what was kept for it goes. Without one it is no error.

        Raises:
            NotFound: an unknown knowledge base.
        """
        ...
