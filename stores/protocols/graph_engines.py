"""What lies around the engines of the knowledge graph: which one holds a knowledge base's, what an engine outside the
database must know of it, moving a graph from one to another, and looking at it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from stores.protocols.graph import GraphDraft, GraphReader, GraphWriter


class Engine(StrEnum):
    """What keeps knowledge graphs."""

    POSTGRES = "postgres"
    NEO4J = "neo4j"


class GraphPlacement(Protocol):
    """Which engine holds the graph of a knowledge base."""

    async def engine(self, organisation_id: UUID, knowledge_base_id: UUID) -> Engine | None:
        """None as long as nothing was written, and for knowledge bases that don't exist."""
        ...

    async def settle(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> Engine:
        """Where nothing was written yet, `engine` from now on; the one that holds it."""
        ...

    async def place(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> None:
        """From now on `engine` holds it. Raises `NotFound` for an unknown knowledge base."""
        ...


class GraphGround(Protocol):
    """Documents and chunks, as an engine that keeps its graph elsewhere must know them."""

    def claim(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, chunk_ids: Sequence[UUID]
    ) -> AbstractAsyncContextManager[bool]:
        """Whether the document exists and these are its chunks. As long as the block runs they stay so: deletes and
        new revisions wait."""
        ...

    async def present(self, organisation_id: UUID, chunk_ids: Sequence[UUID]) -> frozenset[UUID]:
        """Those of the chunks that exist."""
        ...

    async def existing(self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID]) -> frozenset[UUID]:
        """Those of the knowledge bases that exist."""
        ...


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A document as an engine knows it. `stamp` is one of the chunks that it was written with: chunks are replaced all
    at once, so a document whose stamp is gone is out of date."""

    id: UUID
    stamp: UUID


@dataclass(frozen=True, slots=True)
class GraphRecord:
    """What one document says, as it can be written again: chunks of the draft are places in `chunk_ids`."""

    document_id: UUID
    draft: GraphDraft
    chunk_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """The size of a knowledge base's graph. Mentions and statements are counted where they stand, one each."""

    documents: int = 0
    entities: int = 0
    relations: int = 0
    mentions: int = 0
    statements: int = 0


class GraphArchive(Protocol):
    """A graph document by document: what a move and the upkeep read."""

    async def knowledge_bases(self, organisation_id: UUID) -> Sequence[UUID]:
        """Those that the engine holds anything of, by id."""
        ...

    async def documents(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[GraphDocument]:
        """By id, those behind `after`. Documents that say nothing are not among them."""
        ...

    async def records(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_ids: Sequence[UUID]
    ) -> Sequence[GraphRecord]:
        """What each of them says, those that the engine holds, by id."""
        ...

    async def counts(self, organisation_id: UUID, knowledge_base_id: UUID) -> GraphCounts: ...

    async def remove_stale(self, organisation_id: UUID, knowledge_base_id: UUID, document: GraphDocument) -> None:
        """Takes the document out unless it was written again since it was listed."""
        ...


@dataclass(frozen=True, slots=True)
class GraphFilter:
    """What of a graph to look at. `text` is part of a name, whatever its case and accents; `around` an entity (by id
    or by name) with what lies within `hops` of it, of each entity the heaviest relations."""

    types: tuple[str, ...] = ()
    text: str = ""
    min_mentions: int = 0
    around: str = ""
    hops: int = 1


EVERYTHING = GraphFilter()


@dataclass(frozen=True, slots=True)
class GraphNode:
    id: str
    name: str
    type: str
    description: str
    mentions: int


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """`source` and `target` are ids of nodes."""

    source: str
    target: str
    relation: str
    description: str
    weight: float


@dataclass(frozen=True, slots=True)
class GraphPage:
    """Some nodes, and the relations among them and all nodes before them: pages together hold each relation once."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    next_cursor: str | None = None


class GraphBrowser(Protocol):
    async def browse(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        select: GraphFilter = EVERYTHING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> GraphPage:
        """The entities that the filter lets through, most mentioned first, ties by id, those behind `cursor`; with the
        relations between them, heaviest first, at most `MAX_EDGES` a page.

        Raises:
            InvalidRequest: a cursor that no page had.
        """
        ...


class GraphEngine(GraphReader, GraphWriter, GraphArchive, GraphBrowser, Protocol):
    """All that an engine does."""


#: Relations of one page, the heaviest.
MAX_EDGES = 5000
