"""Search over chunks in memory: the same terms from the same formulas as in PostgreSQL."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from stores.memory.knowledge import MemoryKnowledge
from stores.memory.knowledge_reading import StoredContent
from stores.postings import unpack
from stores.scoring import BM25_B, BM25_K1, DOCUMENT_SHARE, POOL, Candidate, Candidates, rank, scale_of, weigh_terms
from stores.vectors import other_space, require_directions, require_same_space
from tributary.domain.knowledge import Document
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors

_Contents = Sequence[tuple[Document, StoredContent]]
_Place = tuple[UUID, int]


@dataclass(frozen=True, slots=True)
class MemoryJudgement:
    """`Judgement` over every chunk of a knowledge base."""

    candidates: list[Candidate]
    best: float
    ideal: float
    embedder: TextEmbedder
    knowledge_base_id: UUID
    limit: int

    @property
    def hits(self) -> Sequence[Hit]:
        return self._ranked(self._pool())[: self.limit]

    async def score(self, chunk_ids: Sequence[UUID]) -> Sequence[Hit]:
        return self._ranked([each for each in self.candidates if each.chunk_id in chunk_ids])

    def _ranked(self, wanted: list[Candidate]) -> list[Hit]:
        scale = scale_of(Candidates.gathered(self._pool()), best=self.best, ideal=self.ideal)
        return rank(
            Candidates.gathered(wanted), scale, embedder=self.embedder, knowledge_base_id=self.knowledge_base_id
        )

    def _pool(self) -> list[Candidate]:
        """The best of either side."""
        pool = max(POOL, self.limit)
        nearest = sorted(self.candidates, key=lambda each: -each.cosine)[:pool]
        wordiest = sorted((each for each in self.candidates if each.lexical > 0), key=lambda each: -each.lexical)
        return list({each.chunk_id: each for each in (*nearest, *wordiest[:pool])}.values())


class MemorySearch:
    """`ChunkSearch` over what a `MemoryKnowledge` holds."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
        limit: int,
    ) -> Sequence[Hit]:
        judgement = await self.judge(
            organisation_id,
            knowledge_base_id,
            query=query,
            recent=recent,
            vector=vector,
            embedder=embedder,
            limit=limit,
        )
        return judgement.hits

    async def similar_images(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, vectors: Vectors, embedding: str, limit: int
    ) -> Sequence[tuple[UUID, float]]:
        require_directions(vectors)
        best: dict[UUID, float] = {}
        for _, content in self._knowledge.contents(organisation_id, knowledge_base_id):
            ids = {chunk.ordinal: chunk_id for chunk, chunk_id in zip(content.chunks, content.chunk_ids, strict=True)}
            for images in content.images:
                if images.model != embedding:
                    continue
                cosines = (_unit(images.vectors) @ _unit(vectors).T).max(axis=1)
                for ordinal, cosine in zip(images.ordinals, cosines, strict=True):
                    best[ids[ordinal]] = max(best.get(ids[ordinal], -1.0), float(cosine))
        return sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]

    async def judge(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
        limit: int,
    ) -> MemoryJudgement:
        require_directions(vector)
        base = self._knowledge.knowledge_base(organisation_id, knowledge_base_id)
        require_same_space(embedder.name, base.embedding if base else None)
        contents = self._knowledge.contents(organisation_id, knowledge_base_id)
        lexical, ideal = _lexical(contents, weigh_terms(query, recent))
        candidates = []
        for document, content in contents:
            if content.vectors.size and content.vectors.shape[1] != vector.shape[0]:
                raise other_space()
            cosines = _unit(content.vectors) @ _unit(vector) if content.chunks else np.zeros(0)
            summary = content.summary_vector
            guide = None if summary is None else float(_unit(summary) @ _unit(vector))
            for row, (chunk, chunk_id) in enumerate(zip(content.chunks, content.chunk_ids, strict=True)):
                score = lexical.get((document.id, chunk.ordinal), 0.0)
                candidates.append(
                    Candidate(chunk_id, document.id, document.importance, float(cosines[row]), score, guide)
                )
        best = max(lexical.values(), default=0.0)
        return MemoryJudgement(candidates, best, ideal, embedder, knowledge_base_id, limit)


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / lengths, np.float32)


def _lexical(contents: _Contents, weights: dict[str, float]) -> tuple[dict[_Place, float], float]:
    """The lexical score of each chunk that holds a word of the question, and the ideal one."""
    lengths = {document.id: sum(content.index.lengths) for document, content in contents if content.chunks}
    chunk_count = max(1, sum(len(content.chunks) for _, content in contents))
    total = max(1, sum(lengths.values()))
    scores: dict[_Place, float] = {}
    by_document: dict[UUID, float] = {}
    ideal = 0.0
    for term, weight in weights.items():
        matches = [(document.id, content.index.postings.get(term, [])) for document, content in contents]
        matches = [(document_id, postings) for document_id, postings in matches if postings]
        among_chunks = weight * _idf(chunk_count, sum(len(postings) for _, postings in matches))
        among_documents = weight * _idf(len(lengths), len(matches))
        ideal += (among_chunks + DOCUMENT_SHARE * among_documents) * (BM25_K1 + 1)
        for document_id, postings in matches:
            frequencies = 0
            for ordinal, frequency, length in map(unpack, postings):
                frequencies += frequency
                gain = among_chunks * _saturated(frequency, length * chunk_count / total)
                scores[document_id, ordinal] = scores.get((document_id, ordinal), 0.0) + gain
            gain = among_documents * _saturated(frequencies, lengths[document_id] * len(lengths) / total)
            by_document[document_id] = by_document.get(document_id, 0.0) + gain
    combined = {place: score + DOCUMENT_SHARE * by_document[place[0]] for place, score in scores.items()}
    return combined, ideal


def _idf(size: int, holding: int) -> float:
    return math.log(1 + (size - holding + 0.5) / (holding + 0.5))


def _saturated(frequency: int, relative_length: float) -> float:
    return frequency * (BM25_K1 + 1) / (frequency + BM25_K1 * (1 - BM25_B + BM25_B * relative_length))
