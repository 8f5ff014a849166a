"""Ingestion of one document: parse → split → embed → summarise → extract → index.

With claims, as people run it step by step, it first takes the document out of the workers' hands.
No checkpointer is needed: each step finds in staging what an earlier try has made, and goes on from there.
"""

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy

from graphs.observed import ObservedGraph
from graphs.retrieval import is_transient
from nodes.chat.state import CallerOf, Context
from nodes.ingest.claim import Claims, claim_document, work_claimed
from nodes.ingest.embed import embed_chunks
from nodes.ingest.extract import GraphExtractor, extract_graph
from nodes.ingest.index import index_document
from nodes.ingest.parse import DocumentParser, parse_document
from nodes.ingest.split import Embedders, split_document
from nodes.ingest.state import IngestInput, IngestOutput, IngestState, Progress
from nodes.ingest.summarise import Summariser, summarise_document
from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphWriter
from stores.protocols.knowledge import KnowledgeReader, KnowledgeWriter
from stores.protocols.staging import Staging
from tributary.models.protocols import ImageSpaces

Builder = StateGraph[IngestState, Context, IngestInput, IngestOutput]

#: A hiccup is bridged here; an outage is the queue's, which waits longer.
RETRY = RetryPolicy(initial_interval=0.5, max_attempts=2, retry_on=is_transient)


@dataclass(frozen=True, slots=True)
class IngestPorts:
    """Ports of the ingestion graph."""

    caller: CallerOf
    knowledge: KnowledgeReader
    writer: KnowledgeWriter
    graph: GraphWriter
    blobs: BlobStore
    staging: Staging
    parser: DocumentParser
    embedders: Embedders
    images: ImageSpaces
    summariser: Summariser
    extractor: GraphExtractor
    progress: Progress
    #: Where no worker makes the runs.
    claims: Claims | None = None


def choose_going_on(following: str, state: IngestState) -> str:
    """The next step, or the end where the document was deleted or replaced."""
    return END if state.get("outcome") else following


def build_ingest_graph(ports: IngestPorts) -> Builder:
    """Input: a document's name. Output: how the run ended; with claims, all of the state."""
    output: Any = IngestState if ports.claims else IngestOutput
    builder: Builder = ObservedGraph(
        "ingest", IngestState, context_schema=Context, input_schema=IngestInput, output_schema=output
    )
    caller, staging, progress = ports.caller, ports.staging, ports.progress
    steps: dict[str, Any] = {
        "parse_document": partial(
            parse_document,
            caller=caller,
            knowledge=ports.knowledge,
            writer=ports.writer,
            parser=ports.parser,
            staging=staging,
            progress=progress,
        ),
        "split_document": partial(
            split_document, caller=caller, embedders=ports.embedders, staging=staging, progress=progress
        ),
        "embed_chunks": partial(
            embed_chunks,
            caller=caller,
            embedders=ports.embedders,
            images=ports.images,
            blobs=ports.blobs,
            staging=staging,
            progress=progress,
        ),
        "summarise_document": partial(
            summarise_document,
            caller=caller,
            summariser=ports.summariser,
            embedders=ports.embedders,
            staging=staging,
            progress=progress,
        ),
        "extract_graph": partial(
            extract_graph, caller=caller, extractor=ports.extractor, staging=staging, progress=progress
        ),
        "index_document": partial(
            index_document,
            caller=caller,
            writer=ports.writer,
            graph=ports.graph,
            images=ports.images,
            staging=staging,
            progress=progress,
        ),
    }
    if (claims := ports.claims) is not None:
        claimed = {name: partial(work_claimed, step=step, caller=caller, claims=claims) for name, step in steps.items()}
        steps = {"claim_document": partial(claim_document, caller=caller, claims=claims), **claimed}
    for name, node in steps.items():
        builder.add_node(name, node, retry_policy=RETRY)
    builder.add_edge(START, next(iter(steps)))
    for name, following in pairwise(steps):
        builder.add_conditional_edges(name, partial(choose_going_on, following), [following, END])
    builder.add_edge("index_document", END)
    return builder
