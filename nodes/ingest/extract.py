"""The fifth step: the entities and relations that the document speaks of."""

from collections.abc import Sequence
from typing import Protocol

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.products import CHUNKS, GRAPH, PARSED, Bench
from nodes.ingest.state import SUPERSEDED, IngestState, Progress, place_of
from stores.protocols.graph import GraphDraft
from stores.protocols.staging import Staging
from tributary.domain.knowledge import ChunkDraft, ParsedDocument, Stage


class GraphExtractor(Protocol):
    async def extract(self, document: ParsedDocument, chunks: Sequence[ChunkDraft]) -> GraphDraft: ...


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
        await bench.keep(GRAPH, await extractor.extract(parsed, chunks))
    return {}
