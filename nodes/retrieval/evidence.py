"""What the knowledge graph adds to the passages that a text search found: the passages that they lead to."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from nodes.retrieval.ranking import evidence_hit, rerank
from stores.protocols.graph import GraphFindings, GraphReader, SeedPassage
from stores.protocols.knowledge import KnowledgeReader
from tributary.domain.bots import Weights
from tributary.domain.knowledge import Chunk
from tributary.domain.retrieval import Hit

#: Passages that the graph goes on from.
SEEDS = 10


async def find_evidence(
    organisation_id: UUID,
    knowledge_base_id: UUID,
    *,
    query: str,
    hits: Sequence[Hit],
    pictures: Sequence[UUID] = (),
    weights: Weights,
    graph: GraphReader,
    knowledge: KnowledgeReader,
    hops: int,
    limit: int,
) -> tuple[GraphFindings, list[Hit], Sequence[Chunk]]:
    """What the graph finds from the names in the question, from the best of the text search's `hits`, and from chunks
    with `pictures` that were found; its passages as hits, with the terms that the text search gave them, and as
    chunks."""
    best = rerank(hits, weights, top=SEEDS)
    scores = {UUID(hit["chunkId"]): hit["score"] for hit in best}
    named = await knowledge.chunks(organisation_id, list(scores)) if scores else ()
    findings = await graph.search(
        organisation_id,
        knowledge_base_id,
        query=query,
        seeds=[*text_seeds(named, scores), *(SeedPassage(each, 1.0) for each in pictures if each not in scores)],
        hops=hops,
        limit=limit,
    )
    evidence = {passage.chunk_id: passage.evidence for passage in findings.passages}
    chunks = await knowledge.chunks(organisation_id, list(evidence)) if evidence else ()
    judged = {hit["chunkId"]: hit for hit in hits}
    return findings, [evidence_hit(chunk, evidence[chunk.id], judged.get(str(chunk.id))) for chunk in chunks], chunks


def text_seeds(chunks: Sequence[Chunk], scores: Mapping[UUID, float]) -> list[SeedPassage]:
    """Chunks that a text search found as seeds. A passage that answers half as well leads on a quarter as much."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return []
    return [
        SeedPassage(
            chunk.id,
            (scores[chunk.id] / best) ** 2,
            text=chunk.text,
            start=chunk.start,
            above="\n".join((chunk.metadata.get("title", ""), chunk.metadata.get("heading", ""))),
        )
        for chunk in chunks
        if scores[chunk.id] > 0
    ]
