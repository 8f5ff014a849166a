"""A run that no worker makes: it takes the document out of the workers' hands first, and settles what becomes of it."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.state import FAILED, IngestState, Place, place_of
from tributary.domain.errors import CallerError, TributaryError
from tributary.domain.ids import parse_id

Step = Callable[[IngestState, Runtime[Context]], Awaitable[IngestState]]


class Claims(Protocol):
    """Documents that runs have taken out of the workers' hands."""

    async def take(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> int:
        """Begins a new revision of the document, which workers leave alone while the run goes on; its number.

        Raises:
            NotFound: unknown.
            Conflict: a worker was quicker.
        """
        ...

    async def fail(self, place: Place, error: TributaryError) -> None:
        """Gives the document up, with the reason in its row."""
        ...

    def metered(self, organisation_id: UUID, knowledge_base_id: UUID, /) -> AbstractAsyncContextManager[None]:
        """Counts what models are called for within it."""
        ...


async def claim_document(
    state: IngestState, runtime: Runtime[Context], *, caller: CallerOf, claims: Claims
) -> IngestState:
    """The first step of such a run. Repeated, or forked from before it, it begins a revision of its own."""
    try:
        base_id = parse_id("knowledge base", state["knowledgeBaseId"])
        revision = await claims.take(caller(runtime), base_id, parse_id("document", state["documentId"]))
    except CallerError as error:
        return {"outcome": FAILED, "error": error.problem()}
    return {"revision": revision, "outcome": "", "error": None}


async def work_claimed(
    state: IngestState, runtime: Runtime[Context], *, step: Step, caller: CallerOf, claims: Claims
) -> IngestState:
    """A step of such a run. What can't be ingested is told as a value and in the document's row; what may pass is
    raised, so that the run can be taken up again where it stands."""
    place = place_of(state, runtime, caller)
    try:
        async with claims.metered(place.organisation_id, place.knowledge_base_id):
            return await step(state, runtime)
    except TributaryError as error:
        if error.transient:
            raise
        await claims.fail(place, error)
        return {"outcome": FAILED, "error": error.problem()}
