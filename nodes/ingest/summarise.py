"""The fourth step: summary, topics and type of the document, and the vector by which its summary is found."""

import asyncio
from typing import Protocol

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.products import DIGEST, PARSED, SUMMARY_VECTOR, Bench, Digest
from nodes.ingest.split import Embedders
from nodes.ingest.state import SUPERSEDED, IngestState, Progress, place_of
from stores.protocols.staging import Staging
from tributary.domain.knowledge import Stage


class Summariser(Protocol):
    async def summarise(self, text: str, *, title: str, filename: str) -> Digest: ...


async def summarise_document(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    summariser: Summariser,
    embedders: Embedders,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    place = place_of(state, runtime, caller)
    if not await progress(place, Stage.SUMMARISING):
        return {"outcome": SUPERSEDED}
    bench = Bench(staging, place)
    digest = await bench.find(DIGEST)
    if digest is None:
        parsed = await bench.take(PARSED)
        made = await summariser.summarise(parsed.text, title=state["title"], filename=state["filename"])
        digest = await bench.keep(DIGEST, made)
    if digest.summary.strip() and await bench.find(SUMMARY_VECTOR) is None:
        embedder = await asyncio.to_thread(embedders.embedder, state["embedding"])
        told = f"{state['title']}\n\n{digest.summary}"
        await bench.keep(SUMMARY_VECTOR, await embedder.embed_documents([told]))
    return {}
