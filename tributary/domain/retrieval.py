"""What retrieval finds. These are the shapes that graph state carries: ids and a few short facts."""

from enum import StrEnum

from typing_extensions import TypedDict


class Branch(StrEnum):
    """The four ways into a knowledge base."""

    TEXT = "text"
    IMAGE = "image"
    MAP = "map"
    GRAPH = "graph"


class Hit(TypedDict):
    """A chunk that a branch found. Every term lies in [0, 1]; a term that the branch can't judge is 0 and
    is filled in when hits of the same chunk are merged."""

    chunkId: str
    documentId: str
    knowledgeBaseId: str
    vector: float
    text: float
    importance: float
    #: How strongly the knowledge graph supports the chunk; raises the vector term, at most to 1.
    evidence: float
    branches: list[str]


class RankedHit(Hit):
    """A hit after the rerank: `score` is the weighted sum, in [0, 1]."""

    score: float


#: The reason of a degradation that nobody else gave.
TOO_SLOW = "too slow"


class Degradation(TypedDict):
    """A branch that was left out of an answer, and why."""

    branch: str
    knowledgeBaseId: str
    reason: str


class Source(TypedDict):
    """A numbered hit in an answer, kept with its message for ever."""

    number: int
    source: str
    relevanceScore: float
    text: str
    knowledgeBaseId: str
    documentId: str
    chunkId: str
    filename: str
    page: int | None
    start: int
    end: int
    vectorScore: float
    textScore: float
    importance: float
    branches: list[str]
    cited: bool


class MapEntry(TypedDict):
    """A document in the map of available knowledge."""

    title: str
    topics: list[str]
    summary: str


class KnowledgeMap(TypedDict):
    """The map of one knowledge base, as the context shows it."""

    knowledgeBaseId: str
    name: str
    documentCount: int
    documents: list[MapEntry]


class EntityFact(TypedDict):
    """An entity of the knowledge graph, as the context names it."""

    name: str
    type: str
    description: str


class RelationFact(TypedDict):
    """A connection of the knowledge graph, as the context names it."""

    source: str
    relation: str
    target: str
    description: str
