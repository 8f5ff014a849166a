"""State of an ingestion run. It carries names: what the steps make is staged under the document and its revision."""

from dataclasses import dataclass
from typing import NotRequired, Protocol
from uuid import UUID

from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from nodes.chat.state import CallerOf, Context
from tributary.domain.errors import Problem
from tributary.domain.knowledge import Stage

#: The document was deleted, replaced, or is settled already: there is nothing left to do for this run.
SUPERSEDED = "superseded"
INDEXED = "indexed"
#: Only of runs that no worker makes: `error` says why.
FAILED = "failed"


class IngestInput(TypedDict):
    """What to ingest. Without a revision it is the document's own at that moment."""

    knowledgeBaseId: str
    documentId: str
    revision: NotRequired[int]


class IngestOutput(TypedDict, total=False):
    """How the run ended: `indexed`, with its number of chunks, or `superseded`; `failed`, with the reason, where no
    worker stands behind it."""

    outcome: str
    chunkCount: int
    error: Problem | None


class IngestState(TypedDict, total=False):
    """All channels of a run."""

    knowledgeBaseId: str
    documentId: str
    revision: int

    filename: str
    title: str
    contentType: str
    storageKey: str
    #: The knowledge base's embedding model, by its registry name.
    embedding: str

    chunkCount: int
    outcome: str
    error: Problem | None


@dataclass(frozen=True, slots=True)
class Place:
    """Whose document in which revision a run works on."""

    organisation_id: UUID
    knowledge_base_id: UUID
    document_id: UUID
    revision: int


class Progress(Protocol):
    """Tells how far a run has come."""

    async def __call__(self, place: Place, stage: Stage, *, within: float = 0.0) -> bool:
        """`within` is the share of the stage that is done, in [0, 1]. False when the document is gone or has a newer
        revision: the run ends quietly."""
        ...


def place_of(state: IngestState, runtime: Runtime[Context], caller: CallerOf) -> Place:
    return Place(caller(runtime), UUID(state["knowledgeBaseId"]), UUID(state["documentId"]), state["revision"])
