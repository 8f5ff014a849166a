"""The third step, and nearly all of the work: vectors of the document's pictures and of its chunks."""

import asyncio
from collections.abc import Sequence
from functools import partial

import numpy as np
from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.pictures import embed_pictures
from nodes.ingest.products import CHUNKS, Bench, Product, vectors_named
from nodes.ingest.split import Embedders
from nodes.ingest.splitting import embedding_text
from nodes.ingest.state import SUPERSEDED, IngestState, Progress, place_of
from stores.protocols.blobs import BlobStore
from stores.protocols.staging import Staging
from tributary.domain.knowledge import ChunkDraft, Stage
from tributary.models.protocols import ImageSpaces, TextEmbedder, Vectors
from tributary.telemetry.metrics import CHUNKS_EMBEDDED, provider_of

#: Chunks of one call. Small enough for a question to get in between soon, and for little to be lost in a crash; large
#: enough to keep the model busy.
BATCH = 32


async def embed_chunks(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    embedders: Embedders,
    images: ImageSpaces,
    blobs: BlobStore,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    """Batch by batch, each staged for itself: a try that was cut off goes on where it ended."""
    place = place_of(state, runtime, caller)
    bench = Bench(staging, place)
    if not await progress(place, Stage.EMBEDDING):
        return {"outcome": SUPERSEDED}
    embedder = await asyncio.to_thread(embedders.embedder, state["embedding"])
    chunks = await bench.take(CHUNKS)
    go_on = partial(progress, place, Stage.EMBEDDING)
    if not await embed_pictures(bench, state, images.image_embedder(state["embedding"]), blobs, go_on):
        return {"outcome": SUPERSEDED}
    for start in range(0, len(chunks), BATCH):
        batch = chunks[start : start + BATCH]
        if await bench.find(vectors_of_batch(start)) is None:
            await bench.keep(vectors_of_batch(start), await _embed(embedder, batch, state["title"]))
        if not await progress(place, Stage.EMBEDDING, within=(start + len(batch)) / len(chunks)):
            return {"outcome": SUPERSEDED}
    return {}


async def take_vectors(bench: Bench, count: int) -> Vectors:
    """The vectors of all chunks, by ordinal: shape `(count, dimension)`."""
    return np.concatenate([await bench.take(vectors_of_batch(start)) for start in range(0, count, BATCH)])


def vectors_of_batch(start: int) -> Product[Vectors]:
    return vectors_named(f"vectors-{BATCH}-{start}")


async def _embed(embedder: TextEmbedder, batch: Sequence[ChunkDraft], title: str) -> Vectors:
    vectors = await embedder.embed_documents([embedding_text(draft, title) for draft in batch])
    CHUNKS_EMBEDDED.labels(provider_of(embedder.name)).inc(len(batch))
    return vectors
