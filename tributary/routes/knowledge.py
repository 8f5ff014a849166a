"""Knowledge bases, and searching in them (SPEC §3, §6)."""

import base64
from datetime import datetime
from typing import Any
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import Field

from tributary.domain.errors import InvalidRequest
from tributary.domain.ids import parse_id
from tributary.domain.knowledge import KnowledgeBase
from tributary.routes.access import CallerOf, OwnerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.shapes import Body, Cursor, Limit, Name, Page, Shape, Text, page_of

router = APIRouter(prefix="/knowledge/kb", tags=["knowledge bases"], responses=problems())


class NewKnowledgeBase(Body):
    name: Name = Field(max_length=200)
    description: Text = Field("", max_length=10_000)
    embedding: str | None = Field(None, max_length=200, description="Default: `TRIBUTARY_EMBEDDING`")


class KnowledgeBaseChanges(Body):
    name: Name | None = Field(None, max_length=200)
    description: Text | None = Field(None, max_length=10_000)
    embedding: Text | None = Field(None, max_length=200, description="Changed by `tributary reindex` alone")


class KnowledgeBaseShape(Shape):
    id: UUID
    name: str
    description: str
    embedding: str
    dimension: int
    document_count: int
    created_at: datetime


class Searching(Body):
    query: Name = Field(max_length=20_000, examples=["When does the ferry to Sylt leave?"])
    top_k: int = Field(3, ge=1, le=50)


class ImageSearching(Body):
    image_base64: str = Field(max_length=30_000_000)
    mime_type: str = Field(max_length=100)
    top_k: int = Field(3, ge=1, le=50)


class GraphSearching(Body):
    query: Name = Field(max_length=20_000, examples=["Who founded the Hanseatic League?"])
    hops: int = Field(2, ge=1, le=2)


class ResultShape(Shape):
    chunk_id: UUID
    document_id: UUID
    filename: str
    page: int | None
    text: str
    score: float = Field(ge=0, le=1)
    vector_score: float = Field(ge=0, le=1)
    text_score: float = Field(ge=0, le=1)
    importance: float = Field(ge=0, le=1)
    metadata: dict[str, Any]


class Results(Shape):
    results: list[ResultShape]


class Entity(Shape):
    name: str
    type: str
    description: str


class Relation(Shape):
    source: str
    relation: str
    target: str
    description: str


class GraphResults(Results):
    entities: list[Entity]
    relations: list[Relation]
    truncated: bool


class MapDocument(Shape):
    id: UUID
    title: str
    filename: str
    type: str
    summary: str
    topics: list[str]


class MapShape(Shape):
    name: str
    document_count: int
    documents: list[MapDocument]


def shape(base: KnowledgeBase) -> KnowledgeBaseShape:
    return KnowledgeBaseShape.model_validate(base)


@router.post("", status_code=201, response_model=KnowledgeBaseShape, responses=problems(403, 502, 504))
async def create_knowledge_base(body: NewKnowledgeBase, caller: OwnerOf, services: ServicesOf) -> KnowledgeBaseShape:
    base = await services.knowledge_bases.create(
        caller.organisation_id, name=body.name, description=body.description, embedding=body.embedding
    )
    return shape(base)


@router.get("", response_model=Page[KnowledgeBaseShape])
async def list_knowledge_bases(
    caller: CallerOf, services: ServicesOf, cursor: Cursor = None, limit: Limit = 50
) -> object:
    bases = await services.knowledge.list_knowledge_bases(caller.organisation_id, after=cursor, limit=limit + 1)
    return page_of(bases, limit, shape)


@router.get("/{kb_id}", response_model=KnowledgeBaseShape)
async def get_knowledge_base(kb_id: str, caller: CallerOf, services: ServicesOf) -> KnowledgeBaseShape:
    [base] = await services.knowledge.knowledge_bases(caller.organisation_id, [parse_id("knowledge base", kb_id)])
    return shape(base)


@router.patch("/{kb_id}", response_model=KnowledgeBaseShape, responses=problems(403, 409))
async def update_knowledge_base(
    kb_id: str, body: KnowledgeBaseChanges, caller: OwnerOf, services: ServicesOf
) -> KnowledgeBaseShape:
    base = await services.knowledge_bases.update(
        caller.organisation_id,
        parse_id("knowledge base", kb_id),
        name=body.name,
        description=body.description,
        embedding=body.embedding,
    )
    return shape(base)


@router.delete("/{kb_id}", status_code=204, responses=problems(403))
async def delete_knowledge_base(kb_id: str, caller: OwnerOf, services: ServicesOf) -> Response:
    await services.knowledge_bases.delete(caller.organisation_id, parse_id("knowledge base", kb_id))
    return Response(status_code=204)


@router.get("/{kb_id}/map", response_model=MapShape)
async def get_map(kb_id: str, caller: CallerOf, services: ServicesOf, limit: Limit = 200) -> MapShape:
    """The documents with summary, topics and type."""
    [found] = await services.knowledge.map(caller.organisation_id, [parse_id("knowledge base", kb_id)], limit=limit)
    return MapShape.model_validate(found)


@router.post("/{kb_id}/search", response_model=Results, responses=problems(429, 502, 504))
async def search(kb_id: str, body: Searching, caller: CallerOf, services: ServicesOf) -> Any:
    """Vector and words together, best first."""
    return {
        "results": await services.retrieval.search_text(
            caller.organisation_id, parse_id("knowledge base", kb_id), query=body.query, top_k=body.top_k
        )
    }


@router.post("/{kb_id}/search/image", response_model=Results, responses=problems(429, 502, 504))
async def search_image(kb_id: str, body: ImageSearching, caller: CallerOf, services: ServicesOf) -> Any:
    """Pictures of the knowledge base that look like this one."""
    try:
        image = base64.b64decode(body.image_base64, validate=True)
    except ValueError as error:  # bad base64, and text beyond ASCII
        raise InvalidRequest("imageBase64 is not base64") from error
    return {
        "results": await services.retrieval.search_image(
            caller.organisation_id, parse_id("knowledge base", kb_id), image=image, top_k=body.top_k
        )
    }


@router.post("/{kb_id}/graph/search", response_model=GraphResults)
async def search_graph(kb_id: str, body: GraphSearching, caller: CallerOf, services: ServicesOf) -> Any:
    """The entities of the query, their neighbourhood within `hops` steps, and the passages behind it."""
    return await services.retrieval.search_graph(
        caller.organisation_id, parse_id("knowledge base", kb_id), query=body.query, hops=body.hops
    )
