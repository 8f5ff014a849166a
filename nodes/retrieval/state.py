"""State of the retrieval graph. Its accumulating channels live and die with one run."""

from collections.abc import Callable, Hashable
from typing import Annotated, NotRequired, TypeVar

from typing_extensions import TypedDict

from tributary.domain.bots import Weights
from tributary.domain.retrieval import Degradation, EntityFact, Hit, KnowledgeMap, RankedHit, RelationFact

T = TypeVar("T")


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


def gathered(so_far: list[T], more: list[T], name: Callable[[T], Hashable]) -> list[T]:
    """Both, in their order. What comes again under its name stands in the place of what was there: no branch finds a
    thing twice, but people who look into a run give back what they have edited."""
    both = {name(each): each for each in so_far}
    both.update((name(each), each) for each in more)
    return list(both.values())


def gather_hits(so_far: list[Hit], more: list[Hit]) -> list[Hit]:
    return gathered(so_far, more, lambda hit: (hit["chunkId"], *hit["branches"]))


def gather_maps(so_far: list[KnowledgeMap], more: list[KnowledgeMap]) -> list[KnowledgeMap]:
    return gathered(so_far, more, lambda each: each["knowledgeBaseId"])


def gather_facts(so_far: list[KnowledgeGraphFacts], more: list[KnowledgeGraphFacts]) -> list[KnowledgeGraphFacts]:
    """Facts have no name; what comes again as it was is left out."""
    return so_far + [each for each in more if each not in so_far]


def gather_degraded(so_far: list[Degradation], more: list[Degradation]) -> list[Degradation]:
    return gathered(so_far, more, lambda each: tuple(each.values()))


class RetrievalState(TypedDict, total=False):
    plan: SearchPlan
    hits: Annotated[list[Hit], gather_hits]
    maps: Annotated[list[KnowledgeMap], gather_maps]
    facts: Annotated[list[KnowledgeGraphFacts], gather_facts]
    degraded: Annotated[list[Degradation], gather_degraded]
    ranked: list[RankedHit]


def weights_of(plan: SearchPlan) -> Weights:
    """The plan's weights as the value that ranking takes."""
    return Weights(**plan["weights"])
