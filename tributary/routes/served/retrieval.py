"""The retrieval graph over LangServe: all branches of the named knowledge bases, and their rerank."""

from collections.abc import AsyncIterator
from typing import Annotated, Any, NotRequired

from pydantic import BaseModel, ConfigDict, Field, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from nodes.retrieval.state import KnowledgeGraphFacts
from tributary.domain.bots import Weights
from tributary.domain.errors import TributaryError
from tributary.domain.ids import parse_id
from tributary.domain.retrieval import Degradation, KnowledgeMap
from tributary.retrieval_runs import RetrievalRequest
from tributary.routes.knowledge import ResultShape
from tributary.routes.served.claims import ClaimInput, claims_of
from tributary.routes.served.graph import Chunks, Given, ServedGraph
from tributary.routes.served.runs import Run
from tributary.routes.served.schemas import GivenModel, flat, refusable
from tributary.routes.served.telling import told_by
from tributary.routes.shapes import Shape, Text
from tributary.turns.events import TurnEvent

_DEFAULT = Weights()


def _share(default: float) -> Any:
    return Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, json_schema_extra={"default": default})]


class WeightsInput(TypedDict):
    """What each term of a score weighs."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    vector: NotRequired[_share(_DEFAULT.vector)]  # type: ignore[valid-type]
    text: NotRequired[_share(_DEFAULT.text)]  # type: ignore[valid-type]
    importance: NotRequired[_share(_DEFAULT.importance)]  # type: ignore[valid-type]


class Search(TypedDict):
    """A query, and where to look."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    query: Annotated[Text, Field(max_length=20_000)]
    knowledgeBaseIds: Annotated[list[str], Field(min_length=1, max_length=50)]
    recent: NotRequired[
        Annotated[
            list[Annotated[Text, Field(max_length=20_000)]],
            Field(max_length=5, description="The messages before, oldest first"),
        ]
    ]
    attachments: NotRequired[
        Annotated[list[ClaimInput], Field(max_length=100, description="Pictures to search with, as uploaded")]
    ]
    weights: NotRequired[WeightsInput]


class SearchInput(GivenModel[Annotated[Search, WithJsonSchema(flat(Search, given=True))]]):
    """A query, and where to look."""


class RankedResult(ResultShape):
    knowledge_base_id: str
    branches: list[str]


class Found(Shape):
    """What the model of a chat would be told."""

    results: list[RankedResult]
    maps: list[KnowledgeMap]
    facts: list[KnowledgeGraphFacts]
    degraded: list[Degradation]


class FoundOutput(RootModel[Annotated[dict[str, Any], WithJsonSchema(refusable(Found))]]):
    """What was found, or why nothing was looked for."""


class ServedRetrieval(ServedGraph):
    """A search belongs to who asks: one who leaves calls it off."""

    path = "retrieval"
    given: type[BaseModel] = SearchInput
    answer: type[BaseModel] = FoundOutput

    async def events(self, run: Run, given: Given) -> AsyncIterator[TurnEvent]:
        try:
            request = _request(run, given)
        except TributaryError as error:
            yield TurnEvent(event="error", data=error.problem())
            return
        async for event in told_by(lambda tell: run.services.retrieval_runs.run(request, tell)):
            yield event

    def chunks(self) -> Chunks:
        return Chunks()


def _request(run: Run, given: Given) -> RetrievalRequest:
    """Raises `NotFound` where an id is none."""
    return RetrievalRequest(
        organisation_id=run.caller.organisation_id,
        query=given["query"],
        knowledge_base_ids=[parse_id("knowledge base", each) for each in dict.fromkeys(given["knowledgeBaseIds"])],
        recent=given.get("recent") or (),
        attachments=claims_of(given.get("attachments")),
        weights=Weights(**given.get("weights", {})),
    )
