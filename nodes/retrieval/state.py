"""State of the retrieval graph. Its accumulating channels live and die with one run."""

import operator
from typing import Annotated, NotRequired

from typing_extensions import TypedDict

from tributary.domain.bots import Weights
from tributary.domain.retrieval import Degradation, EntityFact, Hit, KnowledgeMap, RankedHit, RelationFact


class KnowledgeBaseRef(TypedDict):
    """A linked knowledge base, with what a search in it needs to know."""

    id: str
    name: str
    embedding: str


class WeightsDict(TypedDict):
    """A bot's weights as state carries them."""

    vector: float
    text: float
    importance: float


class SearchPlan(TypedDict):
    """What to look for: the question as asked, the messages before it, and the pictures that came with it."""

    query: str
    recent: list[str]
    knowledgeBases: list[KnowledgeBaseRef]
    #: Storage keys of attached images.
    images: list[str]
    weights: WeightsDict


class KnowledgeGraphFacts(TypedDict):
    """What a walk in one knowledge base brought for the context."""

    entities: list[EntityFact]
    relations: list[RelationFact]


class BranchTask(TypedDict):
    """The input of one branch in one knowledge base."""

    plan: SearchPlan
    knowledgeBase: KnowledgeBaseRef
    #: Chunks that an image search found: their entities are seeds of the graph branch.
    seeds: NotRequired[list[str]]


class BranchUpdate(TypedDict, total=False):
    """What a branch adds."""

    hits: list[Hit]
    maps: list[KnowledgeMap]
    facts: list[KnowledgeGraphFacts]
    degraded: list[Degradation]


class RetrievalInput(TypedDict):
    plan: SearchPlan


class RetrievalOutput(TypedDict, total=False):
    ranked: list[RankedHit]
    maps: list[KnowledgeMap]
    facts: list[KnowledgeGraphFacts]
    degraded: list[Degradation]


class RetrievalState(TypedDict, total=False):
    plan: SearchPlan
    hits: Annotated[list[Hit], operator.add]
    maps: Annotated[list[KnowledgeMap], operator.add]
    facts: Annotated[list[KnowledgeGraphFacts], operator.add]
    degraded: Annotated[list[Degradation], operator.add]
    ranked: list[RankedHit]


def weights_of(plan: SearchPlan) -> Weights:
    """The plan's weights as the value that ranking takes."""
    return Weights(**plan["weights"])
