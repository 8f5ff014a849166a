"""The fifth step: the entities and relations that the document speaks of."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Protocol

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.products import CHUNKS, GRAPH, PARSED, Bench
from nodes.ingest.state import SUPERSEDED, IngestState, Place, Progress, place_of
from stores.protocols.graph import GraphDraft
from stores.protocols.staging import Staging
from tributary.domain.knowledge import ChunkDraft, ParsedDocument, Stage

#: Tells the share of the step that is done, in [0, 1]; False: nobody needs the rest.
Tell = Callable[[float], Awaitable[bool]]


class GraphExtractor(Protocol):
    async def extract(
        self, document: ParsedDocument, chunks: Sequence[ChunkDraft], *, place: Place, tell: Tell
    ) -> GraphDraft | None:
        """All that the document says; None where `tell` said that nobody needs it."""
        ...


async def extract_graph(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    extractor: GraphExtractor,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    place = place_of(state, runtime, caller)
    if not await progress(place, Stage.EXTRACTING):
        return {"outcome": SUPERSEDED}
    bench = Bench(staging, place)
    if await bench.find(GRAPH) is None:
        parsed, chunks = await bench.take(PARSED), await bench.take(CHUNKS)
        draft = await extractor.extract(parsed, chunks, place=place, tell=partial(_tell, progress, place))
        if draft is None:
            return {"outcome": SUPERSEDED}
        await bench.keep(GRAPH, draft)
    return {}


async def _tell(progress: Progress, place: Place, share: float) -> bool:
    return await progress(place, Stage.EXTRACTING, within=share)
