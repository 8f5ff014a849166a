"""The four branches. Each searches one knowledge base in one way, and fails alone."""

import asyncio
from collections.abc import Sequence
from uuid import UUID

from langgraph.errors import NodeError, NodeTimeoutError
from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from nodes.chat.state import CallerOf, Context
from nodes.retrieval.evidence import find_evidence
from nodes.retrieval.pictures import find_pictures
from nodes.retrieval.sharing import QuestionSearch
from nodes.retrieval.state import BranchTask, BranchUpdate, KnowledgeGraphFacts, weights_of
from stores.protocols.blobs import BlobStore
from stores.protocols.graph import GraphReader
from stores.protocols.knowledge import KnowledgeReader
from stores.protocols.search import ChunkSearch
from tributary.domain.errors import CallerError, DependencyError
from tributary.domain.knowledge import KnowledgeBaseMap
from tributary.domain.retrieval import TOO_SLOW, Branch, Degradation, Hit, KnowledgeMap, MapEntry
from tributary.models.protocols import ImageSpaces, SharedSpaceEmbedder, Vectors

#: Candidates that a branch brings to the merge, of each knowledge base.
CANDIDATES = 20
#: Documents that the map of a knowledge base names.
MAP_DOCUMENTS = 20


async def search_text(
    task: BranchTask,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    questions: QuestionSearch,
    search: ChunkSearch,
    knowledge: KnowledgeReader,
    images: ImageSpaces,
) -> BranchUpdate:
    """Vector and words together, in one knowledge base; and its pictures, where they lie in the space of the texts."""
    plan, base = task["plan"], task["knowledgeBase"]
    if not plan["query"].strip():
        return {}
    organisation, base_id = caller(runtime), UUID(base["id"])
    vector = await questions.vector(plan, base["embedding"])
    hits, pictures = await asyncio.gather(
        questions.hits(organisation, plan, base),
        find_described(organisation, base_id, vector, images.shared_embedder(base["embedding"]), search, knowledge),
    )
    return {"hits": [*hits[:CANDIDATES], *pictures]}


async def find_described(
    organisation_id: UUID,
    knowledge_base_id: UUID,
    question: Vectors,
    embedder: SharedSpaceEmbedder | None,
    search: ChunkSearch,
    knowledge: KnowledgeReader,
) -> list[Hit]:
    """The pictures that show what a question asks for; none where questions and pictures can't be compared."""
    if embedder is None:
        return []
    return await find_pictures(
        organisation_id,
        knowledge_base_id,
        question[None, :],
        model=embedder.name,
        similarity=embedder.text_similarity,
        search=search,
        knowledge=knowledge,
        limit=CANDIDATES,
    )


async def search_images(
    task: BranchTask,
    runtime: Runtime[Context],
    *,
    caller: CallerOf,
    questions: QuestionSearch,
    search: ChunkSearch,
    knowledge: KnowledgeReader,
    blobs: BlobStore,
    images: ImageSpaces,
) -> Command[str]:
    """The attached pictures against the knowledge base's. What they find seeds the graph branch, which therefore runs
    behind this one when a message brings pictures."""
    organisation, base = caller(runtime), task["knowledgeBase"]
    embedder = images.image_embedder(base["embedding"])
    vectors = await questions.picture_vectors(task["plan"], embedder, blobs)
    hits = await find_pictures(
        organisation,
        UUID(base["id"]),
        vectors,
        model=embedder.name,
        similarity=embedder.similarity,
        search=search,
        knowledge=knowledge,
        limit=CANDIDATES,
    )
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
    questions: QuestionSearch,
    graph: GraphReader,
    knowledge: KnowledgeReader,
    patience: float,
    hops: int = 2,
) -> BranchUpdate:
    """The entities of the question and of the passages that answer it best, their neighbourhood, and the passages
    behind it."""
    organisation, base = caller(runtime), task["knowledgeBase"]
    findings, hits, _ = await find_evidence(
        organisation,
        UUID(base["id"]),
        query=task["plan"]["query"],
        hits=await _hits_to_go_on_from(task, organisation, questions, patience),
        pictures=[UUID(seed) for seed in task.get("seeds", ())],
        weights=weights_of(task["plan"]),
        graph=graph,
        knowledge=knowledge,
        hops=hops,
        limit=CANDIDATES,
    )
    facts = KnowledgeGraphFacts(entities=list(findings.entities), relations=list(findings.relations))
    return {"hits": hits, "facts": [facts] if findings.entities or findings.relations else []}


async def _hits_to_go_on_from(
    task: BranchTask, organisation_id: UUID, questions: QuestionSearch, patience: float
) -> Sequence[Hit]:
    """What the text search finds; nothing where it fails or takes more than `patience` seconds. The text branch says
    so, and the graph still has the names in the question to start from."""
    if not task["plan"]["query"].strip():
        return ()
    try:
        async with asyncio.timeout(patience):
            return await questions.hits(organisation_id, task["plan"], task["knowledgeBase"])
    except (DependencyError, CallerError, TimeoutError):
        return ()


def degrade(branch: Branch, task: BranchTask, error: NodeError) -> Command[str]:
    """A branch's last failure as a value, so that its siblings go on and the answer says what it lacks. The merge is
    named, since a failed node leaves by none of its edges; where there are pictures the graph branch, which is still to
    come, leads there."""
    last = branch is Branch.GRAPH or not task["plan"]["images"]
    return Command(update=_left_out(branch, task, error), goto="merge_and_rerank" if last else ())


def degrade_images(task: BranchTask, error: NodeError) -> Command[str]:
    """The same for the image branch, whose failure must not take the graph branch behind it along."""
    return Command(update=_left_out(Branch.IMAGE, task, error), goto=Send("search_graph", task))


def _left_out(branch: Branch, task: BranchTask, error: NodeError) -> BranchUpdate:
    """What the answer says of the failure. A bug is no failure of a branch: it goes up."""
    cause = error.error
    if isinstance(cause, NodeTimeoutError):
        reason = TOO_SLOW
    elif isinstance(cause, DependencyError | CallerError):
        reason = cause.detail
    else:
        raise cause
    return {"degraded": [Degradation(branch=branch.value, knowledgeBaseId=task["knowledgeBase"]["id"], reason=reason)]}
