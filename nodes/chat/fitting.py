"""As much of what was found as a model's window has room for: the best passages first. Windows of today hold all of it;
this is for the small models that people run themselves."""

from collections.abc import Sequence

from nodes.chat.prompt import render_context
from nodes.retrieval.state import KnowledgeGraphFacts
from tributary.domain.knowledge import Chunk
from tributary.domain.retrieval import KnowledgeMap, Source
from tributary.models.tokens import estimate_tokens

#: The part of a window that what was found may take; the question, the past and the answer share the rest.
SHARE = 0.5


def fit_context(
    sources: Sequence[Source],
    chunks: Sequence[Chunk],
    maps: Sequence[KnowledgeMap],
    facts: Sequence[KnowledgeGraphFacts],
    *,
    window: int,
) -> tuple[list[Source], str]:
    """The sources that go along, and the context of SPEC §3 with them. At least the best one does; the list of
    documents is left out before the facts of the graph."""
    budget = int(window * SHARE)
    kept = fit_sources(sources, chunks, budget)
    context = ""
    for left_maps, left_facts in ((maps, facts), ((), facts), ((), ())):
        context = render_context(kept, chunks, left_maps, left_facts)
        if estimate_tokens(context) <= budget:
            break
    return kept, context


def fit_sources(sources: Sequence[Source], chunks: Sequence[Chunk], budget: int) -> list[Source]:
    """The first sources whose passages take at most `budget` tokens together, and at least the first of all."""
    kept = list(sources)
    while len(kept) > 1 and estimate_tokens(render_context(kept, chunks, (), ())) > budget:
        kept.pop()
    return kept
