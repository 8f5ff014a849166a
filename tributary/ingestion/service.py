"""The life of a document, as routes and commands call it."""

import asyncio
import hashlib
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphWriter
from stores.protocols.knowledge import KnowledgeReader, KnowledgeWriter
from stores.protocols.queue import IngestQueue
from stores.protocols.staging import Staging
from tributary.domain.errors import DependencyError, DependencyUnavailable, InvalidRequest
from tributary.domain.ids import new_id
from tributary.domain.knowledge import DEFAULT_IMPORTANCE, Document, DocumentStatus, Stage
from tributary.files.sandbox import Sandbox
from tributary.ingestion import inside
from tributary.ingestion.departures import Departures
from tributary.ingestion.following import Following

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: Seconds for finding out the type of a file.
LOOK_SECONDS = 20.0


class Documents:
    """Takes documents in, replaces and removes them, and tells how they are doing."""

    def __init__(
        self,
        *,
        knowledge: KnowledgeReader,
        writer: KnowledgeWriter,
        graph: GraphWriter,
        blobs: BlobStore,
        staging: Staging,
        queue: IngestQueue,
        sandbox: Sandbox,
        following: Following,
        departures: Departures,
    ) -> None:
        self._knowledge = knowledge
        self._writer = writer
        self._graph = graph
        self._blobs = blobs
        self._staging = staging
        self._queue = queue
        self._sandbox = sandbox
        self._following = following
        self._departures = departures

    async def add(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        filename: str,
        path: Path,
        title: str | None = None,
        importance: float | None = None,
    ) -> Document:
        """Takes in the file under `path`, which stays the caller's, and queues it. `filename` is shown as it is.

        Raises:
            NotFound: an unknown knowledge base.
            UnsupportedType, EmptyFile: decided from the bytes.
            InvalidRequest: an importance outside [0, 1].
        Whatever is raised, nothing of the document is left behind.
        """
        if importance is not None and not 0.0 <= importance <= 1.0:
            raise InvalidRequest("importance lies from 0 to 1")
        await self._knowledge.knowledge_bases(organisation_id, [knowledge_base_id])
        document = await self._describe(organisation_id, knowledge_base_id, filename, path, title, importance)
        return await _to_the_end(self._take_in(document, path))

    async def replace(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        filename: str,
        path: Path,
        title: str | None = None,
    ) -> Document:
        """Puts the file under `path` in the place of the document's, and queues it. What was searchable stays so until
        the new text is indexed. Raises as `add` does, and then the document is as it was."""
        await self._knowledge.document(organisation_id, knowledge_base_id, document_id)
        new = await self._describe(organisation_id, knowledge_base_id, filename, path, title, None)
        return await _to_the_end(self._put_in_place(document_id, new, path))

    async def reingest(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> Document:
        """Queues the document again, with the file that it has."""
        document, _ = await self._writer.renew_document(
            organisation_id, knowledge_base_id, document_id, replacement=None
        )
        await self._begin_again(document)
        return document

    async def delete(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        """Removes the document with all that only it supports. A worker that is at it finds out and ends.

        Raises:
            NotFound: unknown.
        """
        await _to_the_end(self._remove(organisation_id, knowledge_base_id, document_id))

    def progress(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> AsyncIterator[Document]:
        """The document at once and after each change, up to and with the state in which it is ready or has failed.

        Raises:
            NotFound: unknown, or deleted meanwhile.
        """
        return self._following.follow(organisation_id, knowledge_base_id, document_id)

    async def _describe(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        filename: str,
        path: Path,
        title: str | None,
        importance: float | None,
    ) -> Document:
        content_type, named = await self._sandbox.run(inside.look, path, filename, timeout=LOOK_SECONDS)
        size, sha256 = await asyncio.to_thread(_measure, path)
        now = datetime.now(UTC)
        document_id = new_id()
        return Document(
            id=document_id,
            organisation_id=organisation_id,
            knowledge_base_id=knowledge_base_id,
            filename=filename,
            title=(title or "").strip() or named,
            content_type=content_type,
            size=size,
            sha256=sha256,
            storage_key=f"documents/{organisation_id}/{document_id}",
            status=DocumentStatus.QUEUED,
            stage=Stage.QUEUED,
            progress=0.0,
            importance=DEFAULT_IMPORTANCE if importance is None else importance,
            created_at=now,
            updated_at=now,
        )

    async def _take_in(self, document: Document, path: Path) -> Document:
        async with self._stored(document.storage_key, path):
            await self._writer.add_document(document)
        await self._enqueue(document)
        return document

    async def _put_in_place(self, document_id: UUID, new: Document, path: Path) -> Document:
        async with self._stored(new.storage_key, path):
            document, superseded = await self._writer.renew_document(
                new.organisation_id, new.knowledge_base_id, document_id, replacement=new
            )
        await self._begin_again(document)
        if superseded is not None:
            await self._blobs.delete([superseded])
        return document

    async def _remove(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        document = await self._knowledge.document(organisation_id, knowledge_base_id, document_id)
        storage_key = await self._writer.delete_document(organisation_id, knowledge_base_id, document_id)
        # What a worker wrote until now goes too, and later it finds no document to write for.
        await self._remove_facts(organisation_id, knowledge_base_id, document_id)
        await self._departures.document(document_id)
        await self._queue.withdraw(organisation_id, document_id, document.revision)
        await self._staging.clear(document_id)
        await self._blobs.delete([storage_key])
        await self._following.tell(document_id)

    async def _remove_facts(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        """Facts without chunks are not found any more; where their store is away, upkeep removes them later."""
        try:
            await self._graph.remove_document(organisation_id, knowledge_base_id, document_id)
        except DependencyError as error:
            logger.warning("the facts of document %s are removed later: %s", document_id, error.detail)

    @asynccontextmanager
    async def _stored(self, key: str, path: Path) -> AsyncIterator[None]:
        """The file as a blob, which goes again when the block does not come to its end."""
        await self._blobs.put_file(key, path)
        kept = False
        try:
            yield
            kept = True
        finally:
            if not kept:
                await self._blobs.delete([key])

    async def _begin_again(self, document: Document) -> None:
        await self._departures.revision(document.id, document.revision - 1)
        await self._enqueue(document)
        await self._following.tell(document.id)

    async def _enqueue(self, document: Document) -> None:
        """The row is what counts: a document that can't be queued at this moment is found by the workers' upkeep."""
        try:
            await self._queue.enqueue(
                document.organisation_id, document.knowledge_base_id, document.id, document.revision
            )
        except DependencyUnavailable as error:
            logger.warning("document %s waits to be queued: %s", document.id, error.detail)


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Goes on with what was begun although the caller is gone: row, file and task belong together."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def _measure(path: Path) -> tuple[int, str]:
    """Size in bytes and SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return file.tell(), digest.hexdigest()
