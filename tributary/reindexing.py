"""Embedding a knowledge base anew, in another space or in its own, while it is searched by the vectors that it has."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeVar
from uuid import UUID

import numpy as np

from nodes.ingest.window import embedding_text
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.reindexing import Extent, Moved, ReindexStore, Space, StoredChunk, StoredSummary
from tributary.domain.errors import DamagedFile, EmptyFile, FileTooLarge, NotFound, UnsupportedType
from tributary.domain.knowledge import ChunkDraft, Document, KnowledgeBase
from tributary.models.names import image_embedding_of
from tributary.models.protocols import ImageSpaces, TextEmbedder, Vectors
from tributary.models.retry import RetryPolicy, retrying

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: Chunks of one step: little is lost when it is cut off, and a remote embedder has enough for its calls side by side.
CHUNKS = 128
DOCUMENTS = 32
#: What is wrong with the file of a document, or with a picture in it.
_UNREADABLE = (NotFound, DamagedFile, EmptyFile, FileTooLarge, UnsupportedType)
#: An outage of the provider is waited for: nobody stands by, and all that is embedded is kept.
PATIENCE = RetryPolicy(attempts=10, first_delay=2.0, longest_delay=60.0, patience=600.0)
PATIENT_SECONDS = 3_600.0


class Embedders(Protocol):
    """The text embedders by name, and the dimensions of their spaces."""

    def embedder(self, name: str) -> TextEmbedder: ...

    async def dimension(self, name: str) -> int: ...


class DocumentPictures(Protocol):
    async def pictures_of(self, document: Document, chunks: Sequence[StoredChunk]) -> Sequence[tuple[UUID, bytes]]:
        """The pictures in a document, each with the chunk that it stands beside."""
        ...


class Metering(Protocol):
    def __call__(self, organisation_id: UUID, knowledge_base_id: UUID, /) -> AbstractAsyncContextManager[None]: ...


class Reindexing:
    """What `tributary reindex` does. Chunks keep their ids, their words, and what the graph and citations say of them:
    only vectors change."""

    def __init__(
        self,
        *,
        knowledge: KnowledgeReader,
        store: ReindexStore,
        embedders: Embedders,
        images: ImageSpaces,
        pictures: DocumentPictures,
        metered: Metering,
    ) -> None:
        self._knowledge = knowledge
        self._store = store
        self._embedders = embedders
        self._images = images
        self._pictures = pictures
        self._metered = metered

    async def run(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        embedding: str | None = None,
        tell: Callable[[Extent], None] = lambda _: None,
    ) -> KnowledgeBase:
        """Moves the knowledge base to `embedding`, by default its own, and returns it as it is then. Cut off, it leaves
        the knowledge base as it was, and the next run to the same embedding goes on from there.

        Raises:
            NotFound: an unknown knowledge base.
            InvalidRequest: no embedding of that name.
            Conflict: it is being reindexed already.
            ProviderError, ProviderTimeout, BudgetExceeded: the embedder does not work, or may not.
        """
        [base] = await self._knowledge.knowledge_bases(organisation_id, [knowledge_base_id])
        name = embedding or base.embedding
        dimension = await self._embedders.dimension(name)
        space = Space(name, dimension, image_embedding_of(name))
        place = organisation_id, base.id
        async with self._store.hold(*place), self._metered(*place):
            embedder = await asyncio.to_thread(self._embedders.embedder, name)
            moves_pictures = space.image_model != image_embedding_of(base.embedding)
            work = _Move(self._store, place, embedder, tell, self._images_of(name) if moves_pictures else None)
            await work.begin(space)
            while not await self._store.switch(*place):
                await work.go_on(space)
        logger.info("knowledge base %s is embedded by %s", base.id, name)
        [moved] = await self._knowledge.knowledge_bases(organisation_id, [knowledge_base_id])
        return moved

    async def discard(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """Gives up what an earlier run has embedded.

        Raises:
            NotFound: an unknown knowledge base.
            Conflict: it is being reindexed.
        """
        await self._knowledge.knowledge_bases(organisation_id, [knowledge_base_id])
        async with self._store.hold(organisation_id, knowledge_base_id):
            await self._store.discard(organisation_id, knowledge_base_id)

    def _images_of(self, embedding: str) -> "_PictureVectors":
        return _PictureVectors(self._store, self._pictures, self._images, embedding)


@dataclass(frozen=True, slots=True)
class _PictureVectors:
    """The pictures of documents, embedded in the new space."""

    store: ReindexStore
    pictures: DocumentPictures
    images: ImageSpaces
    embedding: str

    async def of(self, found: StoredSummary) -> tuple[Vectors, tuple[UUID, ...]]:
        document = found.document
        embedder = self.images.image_embedder(self.embedding)
        # Of one that waits to be ingested again the file is not the one that its chunks were made from.
        known = document.revision == found.revision
        chunks = await self.store.document_chunks(document.organisation_id, document.id) if known else ()
        try:
            pictures = await self.pictures.pictures_of(document, chunks) if chunks else ()
            vectors = await _patiently(lambda: embedder.embed_images([data for _, data in pictures]), embedder.name)
        except _UNREADABLE as error:
            # One file that is lost or broken keeps no knowledge base where it is.
            logger.warning("the pictures of document %s are left out: %s", document.id, error.detail)
            return np.empty((0, embedder.dimension), np.float32), ()
        return vectors, tuple(chunk_id for chunk_id, _ in pictures)


@dataclass(slots=True)
class _Move:
    store: ReindexStore
    place: tuple[UUID, UUID]
    embedder: TextEmbedder
    tell: Callable[[Extent], None]
    images: _PictureVectors | None
    extent: Extent = field(default_factory=lambda: Extent(0, 0))

    async def begin(self, space: Space) -> None:
        self._advance(await self.store.begin(*self.place, space))

    async def go_on(self, space: Space) -> None:
        """All that has no new vector at this moment."""
        await self.begin(space)
        for ids in _slices(await self.store.chunks_left(*self.place), CHUNKS):
            await self._move_chunks(ids)
        while found := await self.store.documents_left(*self.place, limit=DOCUMENTS):
            await self._move_documents(found)

    async def _move_chunks(self, ids: Sequence[UUID]) -> None:
        chunks = await self.store.chunks(self.place[0], ids)
        texts = [embedding_text(_draft(chunk), chunk.title) for chunk in chunks]
        if texts:
            vectors = await _patiently(lambda: embed_whole(self.embedder, texts), self.embedder.name)
            await self.store.keep_vectors(*self.place, [chunk.id for chunk in chunks], vectors)
        self._advance(Extent(self.extent.done + len(ids), self.extent.total))

    async def _move_documents(self, found: Sequence[StoredSummary]) -> None:
        told = [each for each in found if each.document.summary.strip()]
        texts = [f"{each.document.title}\n\n{each.document.summary}" for each in told]
        rows: dict[UUID, Vectors] = {}
        if texts:
            vectors = await _patiently(lambda: embed_whole(self.embedder, texts), self.embedder.name)
            rows = {each.document.id: row for each, row in zip(told, vectors, strict=True)}
        await self.store.keep_documents(*self.place, [await self._moved(each, rows) for each in found])
        self._advance(Extent(self.extent.done + len(found), self.extent.total))

    async def _moved(self, found: StoredSummary, rows: dict[UUID, Vectors]) -> Moved:
        summary = rows.get(found.document.id)
        if self.images is None:
            return Moved(found.document.id, found.revision, summary)
        vectors, chunks = await self.images.of(found)
        return Moved(found.document.id, found.revision, summary, vectors, chunks)

    def _advance(self, extent: Extent) -> None:
        self.extent = Extent(min(extent.done, extent.total), extent.total)
        self.tell(self.extent)


async def embed_whole(embedder: TextEmbedder, texts: Sequence[str]) -> Vectors:
    """One row a text, of unit length. Texts were split for another embedder's window: one that is over this one's is
    embedded in pieces, and its vector is the direction of their mean."""
    pieces, owners = await asyncio.to_thread(_pieces, embedder, texts)
    rows = await embedder.embed_documents(pieces)
    if len(pieces) == len(texts):
        return rows
    sums = np.zeros((len(texts), rows.shape[1]), np.float32)
    np.add.at(sums, owners, rows)
    units: Vectors = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return units


def _pieces(embedder: TextEmbedder, texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """The texts in pieces that fit, and whose each piece is."""
    pieces: list[str] = []
    owners: list[int] = []
    for owner, (text, tokens) in enumerate(zip(texts, embedder.count_tokens(texts), strict=True)):
        cut = [text] if tokens <= embedder.max_tokens else list(_fitting(embedder, text))
        pieces += cut
        owners += [owner] * len(cut)
    return pieces, owners


def _fitting(embedder: TextEmbedder, text: str) -> Iterator[str]:
    """Halves, and halves of these, at white space where there is any near the middle."""
    if len(text) < 2 or embedder.count_tokens([text])[0] <= embedder.max_tokens:
        if text.strip():
            yield text
        return
    middle = len(text) // 2
    space = text.rfind(" ", middle // 2, middle)
    cut = space + 1 if space > 0 else middle
    yield from _fitting(embedder, text[:cut])
    yield from _fitting(embedder, text[cut:])


async def _patiently(call: Callable[[], Awaitable[Vectors]], name: str) -> Vectors:
    return await retrying(call, name=name, policy=PATIENCE, within=PATIENT_SECONDS)


def _draft(chunk: StoredChunk) -> ChunkDraft:
    return ChunkDraft(chunk.ordinal, chunk.text, chunk.start, chunk.end, chunk.page, chunk.heading)


def _slices(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
