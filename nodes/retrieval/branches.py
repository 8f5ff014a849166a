"""The four branches. Each searches one knowledge base in one way, and fails alone."""

import asyncio
from typing import Protocol
from uuid import UUID

from langgraph.errors import NodeError, NodeTimeoutError
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from nodes.chat.state import CallerOf, Context
from nodes.retrieval.query import enhanced_query, recent_text
from nodes.retrieval.ranking import evidence_hit, image_hits
from nodes.retrieval.state import BranchTask, BranchUpdate, KnowledgeGraphFacts
from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphReader
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.search import ChunkSearch
from tributary.domain.errors import CallerError, DependencyError
from tributary.domain.knowledge import KnowledgeBaseMap
from tributary.domain.retrieval import Branch, Degradation, KnowledgeMap, MapEntry
from tributary.models.protocols import ImageEmbedder, TextEmbedder, Vectors

#: Candidates that a branch brings to the merge, of each knowledge base.
CANDIDATES = 20
#: Documents that the map of a knowledge base names.
MAP_DOCUMENTS = 20


class QueryEmbedding(Protocol):
    """Embeds questions; the branches of a turn that ask for the same text share one call."""

    def embedder(self, name: str) -> TextEmbedder: ...

    async def embed_query(self, name: str, text: str) -> Vectors: ...


async def search_text(
    task: BranchTask, runtime: Runtime[Context], *, caller: CallerOf, search: ChunkSearch, queries: QueryEmbedding
) -> BranchUpdate:
    """Vector and words together, in one knowledge base."""
    plan, base = task["plan"], task["knowledgeBase"]
    if not plan["query"].strip():
        return {}
    embedder = queries.embedder(base["embedding"])
    text = await asyncio.to_thread(
        enhanced_query,
        plan["query"],
        plan["recent"],
        count_tokens=embedder.count_tokens,
        max_tokens=embedder.max_tokens,
    )
    hits = await search.search(
        caller(runtime),
        UUID(base["id"]),
        query=plan["query"],
        recent=recent_text(plan["recent"]),
        vector=await queries.embed_query(base["embedding"], text),
        embedder=embedder,
        limit=CANDIDATES,
    )
    return {"hits": list(hits)}


async def search_images(
    task: BranchTask,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    search: ChunkSearch,
    knowledge: KnowledgeReader,
    blobs: BlobStore,
    images: ImageEmbedder,
) -> Command[str]:
    """The attached pictures against the knowledge base's. What they find seeds the graph branch, which therefore runs
    behind this one when a message brings pictures."""
    organisation, base = caller(runtime), task["knowledgeBase"]
    pictures = await asyncio.gather(*(blobs.get(key) for key in task["plan"]["images"]))
    vectors = await images.embed_images(pictures)
    found = await search.similar_images(
        organisation, UUID(base["id"]), vectors=vectors, embedding=images.name, limit=CANDIDATES
    )
    chunks = await knowledge.chunks(organisation, [chunk_id for chunk_id, _ in found]) if found else []
    hits = image_hits(found, chunks, images.similarity)
    seeds = [hit["chunkId"] for hit in hits if hit["vector"] > 0.5]
    return Command(update={"hits": hits}, goto=Send("search_graph", {**task, "seeds": seeds}))


async def read_map(
    task: BranchTask, runtime: Runtime[Context], *, caller: CallerOf, knowledge: KnowledgeReader
) -> BranchUpdate:
    """What the knowledge base holds."""
    maps = await knowledge.map(caller(runtime), [UUID(task["knowledgeBase"]["id"])], limit=MAP_DOCUMENTS)
    return {"maps": [knowledge_map(each) for each in maps if each.document_count]}


def knowledge_map(found: KnowledgeBaseMap) -> KnowledgeMap:
    """The map as the context shows it."""
    return KnowledgeMap(
        knowledgeBaseId=str(found.knowledge_base_id),
        name=found.name,
        documentCount=found.document_count,
        documents=[
            MapEntry(title=document.title, topics=list(document.topics[:5]), summary=document.summary[:200])
            for document in found.documents
        ],
    )


async def search_graph(
    task: BranchTask,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    graph: GraphReader,
    knowledge: KnowledgeReader,
    hops: int = 2,
) -> BranchUpdate:
    """The entities of the question, their neighbourhood, and the passages behind it."""
    organisation, base = caller(runtime), task["knowledgeBase"]
    findings = await graph.search(
        organisation,
        UUID(base["id"]),
        query=task["plan"]["query"],
        seed_chunks=[UUID(seed) for seed in task.get("seeds", ())],
        hops=hops,
    )
    evidence = {passage.chunk_id: passage.evidence for passage in findings.passages[:CANDIDATES]}
    chunks = await knowledge.chunks(organisation, list(evidence)) if evidence else []
    facts = KnowledgeGraphFacts(entities=list(findings.entities), relations=list(findings.relations))
    return {
        "hits": [evidence_hit(chunk, evidence[chunk.id]) for chunk in chunks],
        "facts": [facts] if findings.entities or findings.relations else [],
    }


def degrade(branch: Branch, task: BranchTask, error: NodeError) -> Command[str]:
    """A branch's last failure as a value, so that its siblings go on and the answer says what it lacks. The merge is
    named, since a failed node leaves by none of its edges."""
    return Command(update=_left_out(branch, task, error), goto="merge_and_rerank")


def degrade_images(task: BranchTask, error: NodeError) -> Command[str]:
    """The same for the image branch, whose failure must not take the graph branch behind it along."""
    return Command(update=_left_out(Branch.IMAGE, task, error), goto=Send("search_graph", task))


def _left_out(branch: Branch, task: BranchTask, error: NodeError) -> BranchUpdate:
    """What the answer says of the failure. A bug is no failure of a branch: it goes up."""
    cause = error.error
    if isinstance(cause, NodeTimeoutError):
        reason = "too slow"
    elif isinstance(cause, DependencyError | CallerError):
        reason = cause.detail
    else:
        raise cause
    return {"degraded": [Degradation(branch=branch.value, knowledgeBaseId=task["knowledgeBase"]["id"], reason=reason)]}
