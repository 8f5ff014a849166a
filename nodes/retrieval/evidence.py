"""What the knowledge graph adds to the passages that a text search found: the passages that they lead to."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from nodes.retrieval.ranking import evidence_hit, rerank
from stores.protocols.graph import GraphFindings, GraphReader, Passage, SeedPassage
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
        # One more, to know what is common to those that are left out.
        limit=limit + 1,
    )
    findings = GraphFindings(
        entities=findings.entities[:limit],
        relations=findings.relations[:limit],
        passages=set_apart(findings.passages, limit=limit),
        truncated=findings.truncated,
    )
    evidence = {passage.chunk_id: passage.evidence for passage in findings.passages}
    loaded = {chunk.id: chunk for chunk in named}
    missing = [each for each in evidence if each not in loaded]
    loaded |= {chunk.id: chunk for chunk in await knowledge.chunks(organisation_id, missing)} if missing else {}
    chunks = [loaded[each] for each in evidence if each in loaded]
    judged = {hit["chunkId"]: hit for hit in hits}
    return findings, [evidence_hit(chunk, evidence[chunk.id], judged.get(str(chunk.id))) for chunk in chunks], chunks


def set_apart(passages: Sequence[Passage], *, limit: int) -> tuple[Passage, ...]:
    """The first `limit` of the passages, which come best first, with what sets them apart as evidence: what the next
    one has as well does not say which is meant. Documents on one subject name the same all over, and each of their
    passages leads a little to all others."""
    common = passages[limit].evidence if len(passages) > limit else 0.0
    if common >= 1.0:
        return tuple(replace(each, evidence=0.0) for each in passages[:limit])
    return tuple(replace(each, evidence=(each.evidence - common) / (1.0 - common)) for each in passages[:limit])


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
