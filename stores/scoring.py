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
Rows = NDArray[np.intp]
_WEIGHTS = Weights()
#: Where the digits of an id stand between its dashes.
_DIGITS = [at for at in range(36) if at not in (8, 13, 18, 23)]


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


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidates in columns. `chunks` and `documents` are ids, sixteen bytes each; of `summaries` those that there are
    not are NaN."""

    chunks: bytes
    documents: bytes
    importance: Terms
    cosines: Terms
    lexical: Terms
    summaries: Terms

    @classmethod
    def gathered(cls, candidates: Sequence[Candidate]) -> "Candidates":
        return cls(
            chunks=b"".join(each.chunk_id.bytes for each in candidates),
            documents=b"".join(each.document_id.bytes for each in candidates),
            importance=np.array([each.importance for each in candidates], np.float64),
            cosines=np.array([each.cosine for each in candidates], np.float64),
            lexical=np.array([each.lexical for each in candidates], np.float64),
            summaries=np.array([np.nan if each.summary is None else each.summary for each in candidates], np.float64),
        )

    def __len__(self) -> int:
        return len(self.cosines)

    def by_score(self, scores: Terms) -> Rows:
        """Their rows, the best score first, ties by chunk id."""
        ids = np.frombuffer(self.chunks, ">u8").reshape(-1, 2).astype(np.uint64)
        return np.lexsort((ids[:, 1], ids[:, 0], -scores))


@dataclass(frozen=True, slots=True)
class Scale:
    """What a question's candidates are measured against: the best lexical score in the knowledge base, that of a text
    in which every word of the question is as frequent as can be, and how far the vectors are to be doubted."""

    best: float
    ideal: float
    doubt: float = 0.0


def scale_of(candidates: Candidates, *, best: float, ideal: float) -> Scale:
    """Among the candidates must be the `POOL` best of the knowledge base by words and by vector: how far they agree
    says how far the vectors are to be trusted."""
    return Scale(best, ideal, doubt(candidates.lexical, candidates.cosines, ideal))


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
    candidates: Candidates,
    scale: Scale,
    *,
    embedder: TextEmbedder,
    knowledge_base_id: UUID,
    limit: int | None = None,
) -> list[Hit]:
    """The candidates as hits, best first by the default weights, ties by chunk id; at most `limit`."""
    vector = vector_terms(candidates, embedder) * (1.0 - scale.doubt)
    text = text_terms(candidates.lexical, scale)
    weights = _WEIGHTS
    scores = weights.vector * vector + weights.text * text + weights.importance * candidates.importance
    order = candidates.by_score(scores)[:limit]
    base, branch = str(knowledge_base_id), Branch.TEXT.value
    terms_of = (column[order].tolist() for column in (vector, text, candidates.importance))
    rows = zip(_ids(candidates.chunks, order), _ids(candidates.documents, order), *terms_of, strict=True)
    return [
        {
            "chunkId": chunk,
            "documentId": document,
            "knowledgeBaseId": base,
            "vector": near,
            "text": worded,
            "importance": importance,
            "evidence": 0.0,
            "branches": [branch],
        }
        for chunk, document, near, worded, importance in rows
    ]


def _ids(column: bytes, rows: Rows) -> list[str]:
    """Ids of a column as text; a `UUID` for each would take longer than all the arithmetic."""
    digits = np.frombuffer(np.frombuffer(column, "V16")[rows].tobytes().hex().encode(), np.uint8).reshape(-1, 32)
    dashed = np.full((len(digits), 36), ord("-"), np.uint8)
    dashed[:, _DIGITS] = digits
    text = dashed.tobytes().decode()
    return [text[at : at + 36] for at in range(0, len(text), 36)]


def text_terms(lexical: Terms, scale: Scale) -> Terms:
    """Lexical scores in [0, 1]: as shares of the knowledge base's best one, or of `FULL_MATCH` of the ideal where
    the best is less."""
    whole = max(scale.best, FULL_MATCH * scale.ideal)
    return np.clip(lexical / whole, 0.0, 1.0) if whole > 0 else np.zeros_like(lexical)


def vector_terms(candidates: Candidates, embedder: TextEmbedder) -> Terms:
    """Similarities in [0, 1], raised a little where the document's summary answers to the question."""
    own = _similarities(candidates.cosines, embedder)
    known = ~np.isnan(candidates.summaries)
    guide = _similarities(np.where(known, candidates.summaries, 0.0), embedder)
    return np.clip(own + SUMMARY_BOOST * np.where(known, guide, 0.0), 0.0, 1.0)


def temper(similarities: Terms) -> Terms:
    """Similarities in [0, 1], nearer to 0.5 and in the same order: their log-odds shrink by `TEMPER`."""
    near, far = similarities**TEMPER, (1.0 - similarities) ** TEMPER
    return np.asarray(near / (near + far), np.float64)


def _similarities(cosines: Terms, embedder: TextEmbedder) -> Terms:
    return temper(embedder.similarity(cosines.astype(np.float32)).astype(np.float64))
