"""From raw cosines and BM25 sums to the terms of a hit; shared by all stores, so that they rank alike.

See docs/search.md for the formula and the figures behind its constants.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from stores.agreement import doubt
from tributary.domain.bots import Weights
from tributary.domain.retrieval import Branch, Hit
from tributary.models.protocols import TextEmbedder
from tributary.text.words import terms

#: The usual constants of BM25: how soon repetition stops to count, and how much long texts are marked down.
BM25_K1 = 1.2
BM25_B = 0.75
#: Share of the document's own BM25 beside the chunk's, so that splitting costs a long document nothing.
DOCUMENT_SHARE = 0.5
#: A lexical score counts fully from this share of what a text with every word of the question could reach.
#: Below it the best hit of a knowledge base that knows few of the words is no full hit.
FULL_MATCH = 1 / 3
#: Weight of a word that stands only in the conversation before; and what all of them together may weigh,
#: as a share of the question's own words.
RECENT_WEIGHT = 0.25
RECENT_SHARE = 0.5
#: More distinct terms than this, of the question and of the conversation each, are a pasted text.
MAX_TERMS = 512
#: Flattens the calibrated similarity. A curve that tells answers from the rest as sharply as it can leaves words no
#: say in which of the answers comes first.
TEMPER = 0.4
#: How much a summary that matches as well as can be raises the vector term of its document's chunks.
SUMMARY_BOOST = 0.05
#: Candidates from each side before both terms are filled in.
POOL = 100

Terms = NDArray[np.float64]
_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk with what the store measured. `lexical` is its BM25 sum; `summary` the cosine of the question and
    the document's summary, None where there is none."""

    chunk_id: UUID
    document_id: UUID
    importance: float
    cosine: float
    lexical: float
    summary: float | None


@dataclass(frozen=True, slots=True)
class Scale:
    """What lexical scores are measured against: the best one in the knowledge base, and that of a text in which
    every word of the question is as frequent as can be."""

    best: float
    ideal: float


def weigh_terms(query: str, recent: str) -> dict[str, float]:
    """The weight of each term to look for: 1 for those of the question, less for those of the conversation."""
    asked = dict.fromkeys(terms(query)[: 4 * MAX_TERMS])
    weights = dict.fromkeys(list(asked)[:MAX_TERMS], 1.0)
    if recent:
        # The newest messages stand last.
        earlier = [term for term in dict.fromkeys(reversed(terms(recent))) if term not in weights][:MAX_TERMS]
        if earlier:
            weight = min(RECENT_WEIGHT, RECENT_SHARE * max(1, len(weights)) / len(earlier))
            weights |= dict.fromkeys(earlier, weight)
    return weights


def rank(
    candidates: Sequence[Candidate], scale: Scale, *, embedder: TextEmbedder, knowledge_base_id: UUID
) -> list[Hit]:
    """The candidates as hits, best first by the default weights, ties by chunk id.

    Among them must be the `POOL` best of the knowledge base by words and by vector: how far they agree says how far
    the vectors are to be trusted.
    """
    lexical = np.array([candidate.lexical for candidate in candidates], np.float64)
    cosines = np.array([candidate.cosine for candidate in candidates], np.float64)
    vector = vector_terms(candidates, embedder) * (1.0 - doubt(lexical, cosines, scale.ideal))
    text = text_terms(lexical, scale)
    hits = [
        Hit(
            chunkId=str(candidate.chunk_id),
            documentId=str(candidate.document_id),
            knowledgeBaseId=str(knowledge_base_id),
            vector=float(vector[row]),
            text=float(text[row]),
            importance=candidate.importance,
            evidence=0.0,
            branches=[Branch.TEXT.value],
        )
        for row, candidate in enumerate(candidates)
    ]
    hits.sort(key=lambda hit: (-_score(hit), hit["chunkId"]))
    return hits


def text_terms(lexical: Sequence[float] | Terms, scale: Scale) -> Terms:
    """Lexical scores in [0, 1]: as shares of the knowledge base's best one, or of `FULL_MATCH` of the ideal where
    the best is less."""
    scores = np.asarray(lexical, np.float64)
    whole = max(scale.best, FULL_MATCH * scale.ideal)
    return np.clip(scores / whole, 0.0, 1.0) if whole > 0 else np.zeros_like(scores)


def vector_terms(candidates: Sequence[Candidate], embedder: TextEmbedder) -> Terms:
    """Similarities in [0, 1], raised a little where the document's summary answers to the question."""
    own = _similarities([candidate.cosine for candidate in candidates], embedder)
    summaries = [candidate.summary for candidate in candidates]
    known = np.array([summary is not None for summary in summaries])
    guide = _similarities([summary or 0.0 for summary in summaries], embedder)
    return np.clip(own + SUMMARY_BOOST * np.where(known, guide, 0.0), 0.0, 1.0)


def temper(similarities: Terms) -> Terms:
    """Similarities in [0, 1], nearer to 0.5 and in the same order: their log-odds shrink by `TEMPER`."""
    near, far = similarities**TEMPER, (1.0 - similarities) ** TEMPER
    return np.asarray(near / (near + far), np.float64)


def _similarities(cosines: Sequence[float], embedder: TextEmbedder) -> Terms:
    return temper(embedder.similarity(np.array(cosines, np.float32)).astype(np.float64))


def _score(hit: Hit) -> float:
    return _WEIGHTS.vector * hit["vector"] + _WEIGHTS.text * hit["text"] + _WEIGHTS.importance * hit["importance"]
