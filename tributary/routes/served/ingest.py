"""The ingest graph over LangServe: a document of the caller's is ingested again, and followed to its end.

The graph itself is run by a worker, as always: the run here counts the document's revision up and queues it, so that it
never races a worker, and a client that leaves or a process that dies takes nothing along.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from tributary.domain.errors import TributaryError
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import Document, Stage
from tributary.routes.documents import DocumentShape
from tributary.routes.served.graph import Chunks, Given, Output, ServedGraph
from tributary.routes.served.runs import Run
from tributary.routes.served.schemas import GivenModel, flat, refusable
from tributary.routes.served.telling import Tell, told_by
from tributary.routes.shapes import Shape
from tributary.turns.events import TurnEvent

#: Seconds that a run is followed. Where no worker runs, or the queue is long, the output says how far it has come.
LONGEST = 600.0
#: Stages of a document that are nodes of the graph.
NODES = {
    Stage.PARSING: "parse_document",
    Stage.SPLITTING: "split_document",
    Stage.EMBEDDING: "embed_chunks",
    Stage.SUMMARISING: "summarise_document",
    Stage.EXTRACTING: "extract_graph",
    Stage.INDEXING: "index_document",
}


class Ingestion(TypedDict):
    """A document to ingest again, from the file that it has."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    knowledgeBaseId: str
    documentId: str


class IngestionInput(GivenModel[Annotated[Ingestion, WithJsonSchema(flat(Ingestion, given=True))]]):
    """A document to ingest again, from the file that it has."""


class Ingested(Shape):
    """The document as it is at the end of the run: `ready`, `failed` with its `error`, or still at work."""

    document: DocumentShape


class IngestionOutput(RootModel[Annotated[dict[str, Any], WithJsonSchema(refusable(Ingested))]]):
    """The document, or why it can't be ingested."""


class ServedIngestion(ServedGraph):
    path = "ingest"
    given: type[BaseModel] = IngestionInput
    answer: type[BaseModel] = IngestionOutput
    for_chat = False

    async def events(self, run: Run, given: Given) -> AsyncIterator[TurnEvent]:
        try:
            ids = parse_id("knowledge base", given["knowledgeBaseId"]), parse_id("document", given["documentId"])
        except TributaryError as error:
            yield TurnEvent(event="error", data=error.problem())
            return
        async for event in told_by(lambda tell: _ingest(run, *ids, tell)):
            yield event

    def chunks(self) -> Chunks:
        return _IngestionChunks()


async def _ingest(run: Run, knowledge_base_id: Any, document_id: Any, tell: Tell) -> Output:
    """Raises `NotFound` where the document is not the caller's, or is deleted meanwhile."""
    ids = run.caller.organisation_id, knowledge_base_id, document_id
    document = await run.services.documents.reingest(*ids)
    node = ""
    with suppress(TimeoutError):
        async with asyncio.timeout(LONGEST):
            async for document in run.services.documents.progress(*ids):
                node = _tell(document, node, tell)
    return {"document": DocumentShape.model_validate(document).model_dump(mode="json", by_alias=True)}


def _tell(document: Document, before: str, tell: Tell) -> str:
    """Tells of the change; the node that is at work now."""
    tell("progress", {"stage": document.stage.value, "progress": document.progress, "status": document.status.value})
    node = NODES.get(document.stage, "")
    if node == before:
        return node
    if before:
        tell("status", {"node": before, "state": "finished"})
    if node:
        tell("status", {"node": node, "state": "started"})
    return node


class _IngestionChunks(Chunks):
    def middle(self, event: str, data: Any) -> Output | None:
        return {"steps": [data]} if event == "progress" else None
