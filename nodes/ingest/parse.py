"""The first step: is there something to do, and what does the file say?"""

from contextlib import suppress
from dataclasses import replace
from typing import Protocol
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.pictures import PICTURES
from nodes.ingest.products import PARSED, SPACE, Bench
from nodes.ingest.state import SUPERSEDED, IngestState, Place, Progress
from stores.protocols.knowledge import KnowledgeReader, KnowledgeWriter
from stores.protocols.staging import Staging
from tributary.domain.errors import NotFound
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import Document, DocumentStatus, KnowledgeBase, ParsedDocument, Stage

_SETTLED = frozenset({DocumentStatus.READY, DocumentStatus.FAILED})


class DocumentParser(Protocol):
    async def parse(self, document: Document) -> ParsedDocument:
        """The text of the document's file, and the pictures in it; its title is the one to go by, the document's own
        or the file's.

        Raises:
            DamagedFile, EmptyFile, FileTooLarge, UnsupportedType: why the file can't be read.
            NotFound: the file is not where it was stored.
        """
        ...


async def parse_document(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    knowledge: KnowledgeReader,
    writer: KnowledgeWriter,
    parser: DocumentParser,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    """Reads the file, unless an earlier try did. What was staged of earlier revisions goes."""
    try:
        document, base = await _look_up(state, caller(runtime), knowledge)
    except NotFound:
        return {"outcome": SUPERSEDED}
    revision = state.get("revision", document.revision)
    place = Place(base.organisation_id, base.id, document.id, revision)
    settled = document.revision != revision or document.status in _SETTLED
    if settled or not await progress(place, Stage.PARSING):
        return {"outcome": SUPERSEDED}
    await staging.clear(document.id, through=revision - 1)
    bench = Bench(staging, place)
    if await bench.find(SPACE) != base.embedding:
        # Chunks are cut for an embedder's window, and vectors are of its space: none of them outlives a change of it.
        await staging.clear(document.id, through=revision)
        await bench.keep(SPACE, base.embedding)
    parsed = await bench.find(PARSED)
    if parsed is None or await bench.find(PICTURES) is None:
        read = await parser.parse(document)
        await bench.keep(PICTURES, read.pictures)
        parsed = await bench.keep(PARSED, replace(read, pictures=()))
        await _settle_title(document, parsed.title, writer)
    return {
        "revision": revision,
        "filename": document.filename,
        "title": parsed.title,
        "contentType": document.content_type,
        "storageKey": document.storage_key,
        "embedding": base.embedding,
    }


async def _look_up(
    state: IngestState, organisation_id: UUID, knowledge: KnowledgeReader
) -> tuple[Document, KnowledgeBase]:
    base_id = parse_id("knowledge base", state["knowledgeBaseId"])
    document_id = parse_id("document", state["documentId"])
    document = await knowledge.document(organisation_id, base_id, document_id)
    [base] = await knowledge.knowledge_bases(organisation_id, [base_id])
    return document, base


async def _settle_title(document: Document, title: str, writer: KnowledgeWriter) -> None:
    """Only when the file was just read: a title that people give later is not taken back."""
    if title == document.title:
        return
    with suppress(NotFound):  # deleted in this very moment, as the next step will find
        await writer.update_document(
            document.organisation_id, document.knowledge_base_id, document.id, title=title, importance=None
        )
