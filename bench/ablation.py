"""What each kind of link from a question into the graph adds, by leaving it out.

- `entities`: the names in the question alone;
- `passages`: and the names in the passages that the text search found, all names of a passage alike;
- `with`, the product: and each by what its own sentence says of the question. A relation is a sentence with two names,
  so that this links a question to relations, both of whose ends lead on.

Of the connections that are given with an answer the order is left out which counts what each says of the question: how
many of the judged passages state one of them, `walked` by the way there alone and `linked` as in the product.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any
from unittest.mock import patch
from uuid import UUID

from stores import linking
from stores.protocols.graph import GraphFindings, GraphReader, SeedPassage
from tributary.domain.retrieval import RelationFact

Starts = Callable[[Sequence[SeedPassage]], Sequence[SeedPassage]]

ORDERS: Mapping[str, Starts] = {
    "entities": lambda _: (),
    "passages": lambda seeds: [replace(seed, text="", above="") for seed in seeds],
}
CONNECTIONS = ("walked", "linked")
#: As many as a chat turn is given.
GIVEN = 10


class StartedOtherwise:
    """A `GraphReader` that starts from other passages, or from less of them."""

    def __init__(self, graph: GraphReader, starts: Starts) -> None:
        self._graph = graph
        self._starts = starts

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        seeds: Sequence[SeedPassage] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        started = self._starts(seeds)
        return await self._graph.search(
            organisation_id, knowledge_base_id, query=query, seeds=started, hops=hops, limit=limit
        )


def ordered_by(connections: str) -> AbstractContextManager[Any]:
    """In this block connections come in that order."""
    return patch.object(linking, "LINKED", 1.0) if connections == "walked" else nullcontext()


def stated_share(relations: Iterable[RelationFact], passages: Sequence[str]) -> float:
    """The share of the passages in which one of the connections stands."""
    given = [relation["description"] for relation in relations][:GIVEN]
    stating = [text for text in passages if any(said and said in text for said in given)]
    return len(stating) / len(passages) if passages else 0.0
