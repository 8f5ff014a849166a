"""Pages of documents as pictures, drawn in the sandbox when somebody looks at them."""

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from nodes.ingest.pictures import is_image
from stores.protocols.blobs import BlobStore
from stores.protocols.knowledge import KnowledgeReader
from tributary.domain.attachments import FileType
from tributary.domain.errors import InvalidRequest, NotFound
from tributary.domain.knowledge import Document
from tributary.files.sandbox import Sandbox
from tributary.ingestion import inside
from tributary.ingestion.fetching import fetched

#: Seconds for drawing a page; the slowest known here takes two.
DRAW_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class PageView:
    """Which page of which document, how wide in pixels, and which characters of the document's text to mark."""

    number: int
    width: int
    start: int | None = None
    end: int | None = None


class PageImages:
    """Draws pages of PDFs and of documents that are pictures."""

    def __init__(self, *, knowledge: KnowledgeReader, blobs: BlobStore, sandbox: Sandbox, folder: Path) -> None:
        self._knowledge = knowledge
        self._blobs = blobs
        self._sandbox = sandbox
        self._folder = folder

    async def document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> Document:
        """A document whose pages can be drawn. Raises `NotFound` for others."""
        document = await self._knowledge.document(organisation_id, knowledge_base_id, document_id)
        if document.content_type != FileType.PDF and not is_image(document.content_type):
            raise NotFound("A picture of a page of document", document_id)
        return document

    async def png(self, document: Document, view: PageView) -> bytes:
        """The page as a PNG.

        Raises:
            NotFound: there is no such page, or the file is not where it was stored.
            Conflict: a passage is to be marked, and the document's text is not there yet, or is of an older file.
            InvalidRequest: the passage does not stand on this page.
            DamagedFile: the file can't be drawn.
        """
        passage = await self._passage(document, view)
        async with fetched(self._blobs, document, self._folder) as path:
            return await self._sandbox.run(
                inside.draw, path, document.content_type, view.number, view.width, passage, timeout=DRAW_SECONDS
            )

    async def _passage(self, document: Document, view: PageView) -> tuple[str, int, int] | None:
        """The page's text, and the part of it to mark."""
        if view.start is None or view.end is None or is_image(document.content_type):
            return None
        parsed = await self._knowledge.document_text(document.organisation_id, document.knowledge_base_id, document.id)
        page = next((each for each in parsed.pages if each.number == view.number), None)
        if page is None:
            raise NotFound("page", view.number)
        start, end = max(view.start, page.start), min(view.end, page.end)
        if start >= end:
            raise InvalidRequest(
                f"start and end mark nothing on page {view.number}, which has characters {page.start} to {page.end}"
            )
        return parsed.text[page.start : page.end], start - page.start, end - page.start
