"""How much of an ingestion each stage is. Embedding is nearly all of it, and is told batch by batch."""

from tributary.domain.knowledge import Stage

#: Where each stage ends, as a share of the whole.
ENDS = {
    Stage.QUEUED: 0.0,
    Stage.PARSING: 0.08,
    Stage.SPLITTING: 0.10,
    Stage.EMBEDDING: 0.85,
    Stage.SUMMARISING: 0.90,
    Stage.EXTRACTING: 0.95,
    Stage.INDEXING: 1.0,
    Stage.READY: 1.0,
}
_STAGES = list(ENDS)


def share_done(stage: Stage, within: float = 0.0) -> float:
    """The progress of a document, in [0, 1], when `within` of its stage is done."""
    position = _STAGES.index(stage)
    begins = ENDS[_STAGES[position - 1]] if position else 0.0
    return begins + (ENDS[stage] - begins) * within
