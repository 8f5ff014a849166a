"""Merging what the branches found, and the rerank: pure arithmetic over hits."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

import numpy as np

from tributary.domain.bots import Weights
from tributary.domain.knowledge import Chunk
from tributary.domain.retrieval import Branch, Hit, RankedHit
from tributary.models.protocols import Vectors

#: Hits that reach the model.
TOP = 5


def image_hit(chunk: Chunk, similarity: float) -> Hit:
    """A chunk whose picture looks like an attached one: its vector term is the calibrated image similarity."""
    return _hit(chunk, vector=similarity, evidence=0.0, branch=Branch.IMAGE)


def image_hits(
    found: Sequence[tuple[UUID, float]], chunks: Sequence[Chunk], similarity: Callable[[Vectors], Vectors]
) -> list[Hit]:
    """What a search by pictures found, as chunk ids with cosines, as hits of the chunks that still exist."""
    calibrated = similarity(np.asarray([cosine for _, cosine in found], dtype=np.float32)).tolist()
    terms = dict(zip((chunk_id for chunk_id, _ in found), calibrated, strict=True))
    return [image_hit(chunk, terms[chunk.id]) for chunk in chunks]


def evidence_hit(chunk: Chunk, evidence: float, judged: Hit | None = None) -> Hit:
    """A passage behind the facts of a graph walk, with the terms of a text search that judged it."""
    hit = _hit(chunk, vector=0.0, evidence=evidence, branch=Branch.GRAPH)
    return _joined(judged, hit) if judged else hit


def _hit(chunk: Chunk, *, vector: float, evidence: float, branch: Branch) -> Hit:
    return Hit(
        chunkId=str(chunk.id),
        documentId=str(chunk.document_id),
        knowledgeBaseId=str(chunk.knowledge_base_id),
        vector=vector,
        text=0.0,
        importance=chunk.importance,
        evidence=evidence,
        branches=[branch.value],
    )


def merge(hits: Iterable[Hit]) -> list[Hit]:
    """One hit for each chunk: the best of each term, and all the branches that found it."""
    merged: dict[str, Hit] = {}
    for hit in hits:
        known = merged.get(hit["chunkId"])
        merged[hit["chunkId"]] = _joined(known, hit) if known else hit
    return list(merged.values())


def _joined(one: Hit, other: Hit) -> Hit:
    return Hit(
        chunkId=one["chunkId"],
        documentId=one["documentId"],
        knowledgeBaseId=one["knowledgeBaseId"],
        vector=max(one["vector"], other["vector"]),
        text=max(one["text"], other["text"]),
        importance=max(one["importance"], other["importance"]),
        evidence=max(one["evidence"], other["evidence"]),
        branches=sorted({*one["branches"], *other["branches"]}),
    )


def needs_terms(hit: Hit) -> bool:
    """Whether no text search has judged the hit, so that its vector and text terms are still to be filled in."""
    return Branch.TEXT.value not in hit["branches"]


def rerank(hits: Iterable[Hit], weights: Weights, *, top: int = TOP) -> list[RankedHit]:
    """The best hits by the weighted sum, ties by the sum without evidence, then by chunk id. Weights count as shares,
    so that a score stays in [0, 1] whatever a bot's weights add up to.

    Evidence closes the gap between a hit and the best one that a search of texts or pictures judged in its knowledge
    base, by raising the vector term: what only another passage leads to comes up to it, and none comes before it.
    """
    scored = [(hit, _score(hit, hit["vector"], weights)) for hit in hits]
    best: dict[str, float] = {}
    for hit, score in scored:
        if hit["branches"] != [Branch.GRAPH.value]:
            best[hit["knowledgeBaseId"]] = max(score, best.get(hit["knowledgeBaseId"], 0.0))
    ranked = [(_ranked(hit, score, best.get(hit["knowledgeBaseId"]), weights), score) for hit, score in scored]
    ranked.sort(key=lambda item: (-item[0]["score"], -round(item[1], 6), item[0]["chunkId"]))
    return [hit for hit, _ in ranked[:top]]


def _ranked(hit: Hit, score: float, best: float | None, weights: Weights) -> RankedHit:
    vector = hit["vector"] + hit["evidence"] * _room(hit, score, best, weights)
    raised = hit.copy()
    raised["vector"] = round(min(1.0, vector), 6)
    return RankedHit(**raised, score=round(min(1.0, max(0.0, _score(hit, min(1.0, vector), weights))), 6))


def _room(hit: Hit, score: float, best: float | None, weights: Weights) -> float:
    """How far evidence can raise the vector term. Where nothing was judged there is nothing to come up to but 1."""
    if best is None or not weights.vector:
        return 1.0 - hit["vector"]
    return max(0.0, best - score) * _whole(weights) / weights.vector


def _score(hit: Hit, vector: float, weights: Weights) -> float:
    """The weighted sum, with this vector term."""
    weighted = weights.vector * vector + weights.text * hit["text"] + weights.importance * hit["importance"]
    return weighted / _whole(weights) if _whole(weights) else 0.0


def _whole(weights: Weights) -> float:
    return weights.vector + weights.text + weights.importance


def by_knowledge_base(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """The hits grouped by their knowledge base."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit["knowledgeBaseId"], []).append(hit)
    return groups
