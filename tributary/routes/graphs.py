"""The knowledge graph of a knowledge base, as a person or a drawing looks at it (SPEC §9)."""

from typing import Annotated

from fastapi import APIRouter, Query

from stores.protocols.graph_engines import GraphFilter
from tributary.domain.ids import parse_id
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.shapes import Limit, Shape, Text

router = APIRouter(prefix="/knowledge/kb", tags=["knowledge bases"], responses=problems())


class NodeShape(Shape):
    id: str
    name: str
    type: str
    description: str
    mentions: int


class EdgeShape(Shape):
    """`source` and `target` are ids of nodes of this page or of one before it."""

    source: str
    target: str
    relation: str
    description: str
    weight: float


class GraphShape(Shape):
    """A page of a graph; `nextCursor` is null on the last one."""

    nodes: list[NodeShape]
    edges: list[EdgeShape]
    next_cursor: str | None


Types = Annotated[list[Text], Query(alias="type", max_length=20, description="Only entities of these types")]
Part = Annotated[Text, Query(alias="q", max_length=200, description="Only entities with this in their name")]
Least = Annotated[int, Query(alias="minMentions", ge=0, le=1_000_000, description="Only entities mentioned so often")]
Around = Annotated[Text, Query(max_length=200, description="Only this entity, by id or name, and what is near it")]
Hops = Annotated[int, Query(ge=1, le=2, description="How near, with `around`")]
GraphCursor = Annotated[Text | None, Query(max_length=300, description="`nextCursor` of the page before")]


@router.get("/{kb_id}/graph", response_model=GraphShape)
async def get_graph(
    kb_id: str,
    caller: CallerOf,
    services: ServicesOf,
    types: Types = [],  # noqa: B006 # FastAPI copies defaults
    part: Part = "",
    least: Least = 0,
    around: Around = "",
    hops: Hops = 1,
    cursor: GraphCursor = None,
    limit: Limit = 100,
) -> GraphShape:
    """Entities, the most mentioned first, and the relations among them and those of the pages before."""
    base_id = parse_id("knowledge base", kb_id)
    await services.knowledge.knowledge_bases(caller.organisation_id, [base_id])
    select = GraphFilter(types=tuple(types), text=part, min_mentions=least, around=around, hops=hops)
    page = await services.graph.browse(caller.organisation_id, base_id, select=select, cursor=cursor, limit=limit)
    return GraphShape.model_validate(page)
