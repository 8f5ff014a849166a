"""The fourth step: summary, topics and type of the document, and the vector by which its summary is found."""

import asyncio
from typing import Protocol

import numpy as np
from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.embed import take_vectors
from nodes.ingest.products import DIGEST, PARSED, SUMMARY_VECTOR, Bench, Digest
from nodes.ingest.split import Embedders
from nodes.ingest.state import SUPERSEDED, IngestState, Progress, place_of
from stores.protocols.staging import Staging
from tributary.domain.knowledge import Stage
from tributary.models.protocols import Vectors

#: Chunks whose vectors stand for a summary in the document's own words. Search was tuned with the first three;
#: embedding such a summary would cost a short document a third of its time, for what its chunks say already.
FIRST_CHUNKS = 3


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
        digest = await bench.keep(DIGEST, made, at_once=not made.extracted)
    if digest.summary.strip() and await bench.find(SUMMARY_VECTOR) is None:
        await bench.keep(SUMMARY_VECTOR, await _vector(digest, state, bench, embedders))
    return {}


async def _vector(digest: Digest, state: IngestState, bench: Bench, embedders: Embedders) -> Vectors:
    """Shape `(1, dimension)`."""
    if digest.extracted:
        return _middle(await take_vectors(bench, min(FIRST_CHUNKS, state["chunkCount"])))
    embedder = await asyncio.to_thread(embedders.embedder, state["embedding"])
    return await embedder.embed_documents([f"{state['title']}\n\n{digest.summary}"])


def _middle(vectors: Vectors) -> Vectors:
    """The direction between the first vectors; the first one's where they cancel each other out."""
    first = vectors[:FIRST_CHUNKS].astype(np.float64)
    middle = first.mean(axis=0, keepdims=True)
    length = float(np.linalg.norm(middle))
    return np.asarray(middle / length if length > 1e-6 else first[:1], np.float32)
