"""The second step: chunks that the knowledge base's embedder sees whole."""

import asyncio
from typing import Protocol

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.products import CHUNKS, PARSED, Bench
from nodes.ingest.splitting import split
from nodes.ingest.state import SUPERSEDED, IngestState, Progress, place_of
from stores.protocols.staging import Staging
from tributary.domain.errors import EmptyFile
from tributary.domain.knowledge import ChunkDraft, ParsedDocument, Stage
from tributary.models.protocols import TextEmbedder


class Embedders(Protocol):
    """The text embedders by their registry name."""

    def embedder(self, name: str) -> TextEmbedder:
        """May load a model: called in a thread."""
        ...


async def split_document(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    embedders: Embedders,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    """Raises `EmptyFile` where there is no text to split."""
    place = place_of(state, runtime, caller)
    if not await progress(place, Stage.SPLITTING):
        return {"outcome": SUPERSEDED}
    bench = Bench(staging, place)
    chunks = await bench.find(CHUNKS)
    if chunks is None:
        parsed = await bench.take(PARSED)
        chunks = await asyncio.to_thread(_split, parsed, embedders, state["embedding"], state["title"])
        if not chunks:
            raise EmptyFile("The document has no text that could be searched; its pages may be pictures.")
        await bench.keep(CHUNKS, chunks)
    return {"chunkCount": len(chunks)}


def _split(parsed: ParsedDocument, embedders: Embedders, embedding: str, title: str) -> list[ChunkDraft]:
    embedder = embedders.embedder(embedding)
    return split(parsed, count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens, title=title)
