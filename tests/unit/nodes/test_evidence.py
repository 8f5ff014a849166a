"""What sets the passages apart that a graph leads to, and what is read of them."""

from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock
from uuid import UUID

from nodes.retrieval.evidence import find_evidence, set_apart
from stores.protocols.graph import GraphFindings, GraphReader, Passage
from stores.protocols.knowledge import KnowledgeReader
from tributary.domain.bots import Weights
from tributary.domain.knowledge import Chunk
from tributary.domain.retrieval import Hit


def passages(*evidence: float) -> list[Passage]:
    return [Passage(UUID(int=n + 1), UUID(int=99), each) for n, each in enumerate(evidence)]


def kept(*evidence: float, limit: int) -> list[float]:
    return [round(each.evidence, 6) for each in set_apart(passages(*evidence), limit=limit)]


def test_what_those_left_out_have_as_well_is_no_evidence() -> None:
    assert kept(1.0, 0.6, 0.2, 0.2, limit=3) == [1.0, 0.5, 0.0]


def test_where_none_is_left_out_all_evidence_counts() -> None:
    assert kept(0.6, 0.2, limit=2) == [0.6, 0.2]


def test_evidence_that_all_have_alike_sets_none_apart() -> None:
    assert kept(0.2, 0.2, 0.2, limit=2) == [0.0, 0.0]
    assert kept(1.0, 1.0, 1.0, limit=2) == [0.0, 0.0]


def test_the_best_of_nothing_is_nothing() -> None:
    assert kept(limit=2) == []


class Leading:
    """A graph that leads to these passages, and the knowledge that they are of."""

    def __init__(self, *chunks: int, gone: Sequence[int] = ()) -> None:
        self._found = GraphFindings(passages=tuple(Passage(UUID(int=n), UUID(int=99), 1.0 / n) for n in chunks))
        self._gone = gone
        self.read: list[list[int]] = []

    async def search(self, *_place: UUID, **_asked: Any) -> GraphFindings:
        return self._found

    async def chunks(self, _organisation_id: UUID, ids: Sequence[UUID]) -> list[Chunk]:
        self.read.append([each.int for each in ids])
        return [
            Chunk(each, UUID(int=0), UUID(int=99), "place.md", "Paris", 0, 5, None, 0.5)
            for each in ids
            if each.int not in self._gone
        ]

    async def evidence(self, *seeds: int) -> list[int]:
        """The passages that it leads to from these."""
        place, found = (UUID(int=0), UUID(int=0)), [seed_hit(each) for each in seeds]
        graph, knowledge = Mock(GraphReader, search=self.search), Mock(KnowledgeReader, chunks=self.chunks)
        _, hits, chunks = await find_evidence(
            *place, query="?", hits=found, weights=Weights(), graph=graph, knowledge=knowledge, hops=2, limit=9
        )
        assert [hit["chunkId"] for hit in hits] == [str(chunk.id) for chunk in chunks]
        return [chunk.id.int for chunk in chunks]


def seed_hit(chunk: int) -> Hit:
    return Hit(
        chunkId=str(UUID(int=chunk)),
        documentId="d",
        knowledgeBaseId="k",
        vector=1.0 / chunk,
        text=0.0,
        importance=0.5,
        evidence=0.0,
        branches=["text"],
    )


async def test_passages_that_it_went_on_from_are_read_once() -> None:
    leading = Leading(4, 1, 5)
    assert await leading.evidence(1, 2) == [4, 1, 5]
    assert leading.read == [[1, 2], [4, 5]]


async def test_where_it_leads_back_alone_nothing_more_is_read() -> None:
    leading = Leading(2)
    assert await leading.evidence(1, 2) == [2]
    assert leading.read == [[1, 2]]


async def test_passages_that_are_gone_are_no_evidence() -> None:
    assert await Leading(4, 1, 5, gone=[5]).evidence(1) == [4, 1]
