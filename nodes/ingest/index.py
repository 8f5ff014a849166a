"""The last step: what was made takes the place of what was searchable before."""

from collections.abc import Sequence
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.state import CallerOf, Context
from nodes.ingest.embed import take_vectors
from nodes.ingest.pictures import take_image_vectors
from nodes.ingest.products import CHUNKS, DIGEST, GRAPH, PARSED, SUMMARY_VECTOR, Bench
from nodes.ingest.state import INDEXED, SUPERSEDED, IngestState, Place, Progress, place_of
from stores.protocols.graph import GraphWriter
from stores.protocols.knowledge import ImageVectors, KnowledgeWriter
from stores.protocols.staging import Staging
from tributary.domain.errors import DependencyUnavailable, EmbeddingChanged
from tributary.domain.knowledge import ChunkDraft, Stage
from tributary.models.protocols import ImageSpaces


async def index_document(
    state: IngestState,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    writer: KnowledgeWriter,
    graph: GraphWriter,
    images: ImageSpaces,
    staging: Staging,
    progress: Progress,
) -> IngestState:
    """Chunks first, in one transaction, then what the graph says of them. Done twice, it leaves the same."""
    place = place_of(state, runtime, caller)
    if not await progress(place, Stage.INDEXING):
        return {"outcome": SUPERSEDED}
    bench = Bench(staging, place)
    chunks = await bench.take(CHUNKS)
    pictures = await take_image_vectors(bench, state, images.image_embedder(state["embedding"]).name, chunks)
    try:
        chunk_ids = await _write(bench, writer, place, chunks, pictures, state["embedding"])
    except EmbeddingChanged as error:
        # What is staged is of no use any more, and the next try begins with the new embedding.
        await staging.clear(place.document_id, through=place.revision)
        raise DependencyUnavailable(error.detail) from error
    if chunk_ids is None:
        return {"outcome": SUPERSEDED}
    key = place.organisation_id, place.knowledge_base_id, place.document_id
    await graph.write_document(*key, await bench.take(GRAPH), chunk_ids)
    if not await progress(place, Stage.READY):
        # Deleted since the chunks were written. They went with it; the graph may live in a store of its own.
        await graph.remove_document(*key)
        return {"outcome": SUPERSEDED}
    return {"outcome": INDEXED}


async def _write(
    bench: Bench,
    writer: KnowledgeWriter,
    place: Place,
    chunks: Sequence[ChunkDraft],
    pictures: Sequence[ImageVectors],
    embedding: str,
) -> Sequence[UUID] | None:
    """The ids of the chunks by ordinal; None where the revision is not the document's any more."""
    digest, summary = await bench.take(DIGEST), await bench.find(SUMMARY_VECTOR)
    ids = await writer.write_document(
        place.organisation_id,
        place.document_id,
        place.revision,
        parsed=await bench.take(PARSED),
        summary=digest.summary,
        topics=digest.topics,
        document_type=digest.type,
        summary_vector=None if summary is None else summary[0],
        chunks=chunks,
        vectors=await take_vectors(bench, len(chunks)),
        images=pictures,
        embedding=embedding,
    )
    return None if ids is None else [ids[ordinal] for ordinal in range(len(chunks))]
