"""Bots."""

from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import Field

from tributary.domain.bots import Bot, CapabilityOverrides, Weights
from tributary.domain.ids import parse_id
from tributary.routes.access import CallerOf, OwnerOf, ServicesOf
from tributary.routes.described import problems
from tributary.routes.shapes import Body, Cursor, Limit, Name, Page, Shape, Text, page_of

router = APIRouter(prefix="/api/bots", tags=["bots"], responses=problems())

_SHRINK = "Makes pictures over the limits of a model call smaller instead of leaving them out"


class WeightsBody(Body):
    vector: float = Field(0.60, ge=0, le=1, allow_inf_nan=False)
    text: float = Field(0.25, ge=0, le=1, allow_inf_nan=False)
    importance: float = Field(0.15, ge=0, le=1, allow_inf_nan=False)

    def value(self) -> Weights:
        return Weights(self.vector, self.text, self.importance)


class CapabilitiesBody(Body):
    """What the bot's model takes, where the provider's list or our defaults don't know it; null leaves it to them."""

    image: bool | None = Field(None, description="Whether the model takes images")
    pdf: bool | None = Field(None, description="Whether the model takes PDFs")
    audio: bool | None = Field(None, description="Whether the model takes audio")
    context_window: int | None = Field(None, ge=512, le=100_000_000, description="Tokens of prompt and answer together")
    max_output: int | None = Field(None, ge=1, le=10_000_000, description="Tokens that an answer is limited to")

    def value(self) -> CapabilityOverrides:
        return CapabilityOverrides(**self.model_dump())


class NewBot(Body):
    name: Name = Field(max_length=200)
    prompt: Text = Field("", max_length=100_000)
    model: str | None = Field(None, max_length=200, description="Default: `TRIBUTARY_CHAT_MODEL`")
    knowledge_base_ids: list[UUID] = Field(default_factory=list, max_length=50)
    weights: WeightsBody = WeightsBody()
    capabilities: CapabilitiesBody = CapabilitiesBody()
    shrink_images: bool = Field(False, description=_SHRINK)


class BotChanges(Body):
    name: Name | None = Field(None, max_length=200)
    prompt: Text | None = Field(None, max_length=100_000)
    model: str | None = Field(None, max_length=200)
    knowledge_base_ids: list[UUID] | None = Field(None, max_length=50)
    weights: WeightsBody | None = None
    capabilities: CapabilitiesBody | None = Field(None, description="Replaces all that was said of the model")
    shrink_images: bool | None = Field(None, description=_SHRINK)


class WeightsShape(Shape):
    vector: float
    text: float
    importance: float


class CapabilitiesShape(Shape):
    image: bool | None
    pdf: bool | None
    audio: bool | None
    context_window: int | None
    max_output: int | None


class BotShape(Shape):
    id: UUID
    name: str
    prompt: str
    model: str
    knowledge_base_ids: list[UUID]
    weights: WeightsShape
    capabilities: CapabilitiesShape
    shrink_images: bool


def shape(bot: Bot) -> BotShape:
    return BotShape.model_validate(bot)


@router.post("", status_code=201, response_model=BotShape, responses=problems(403))
async def create_bot(body: NewBot, caller: OwnerOf, services: ServicesOf) -> BotShape:
    model = body.model or services.settings.chat_model
    services.models.validate(model)
    bot = await services.bots.create(
        caller.organisation_id,
        name=body.name,
        prompt=body.prompt,
        model=model,
        knowledge_base_ids=body.knowledge_base_ids,
        weights=body.weights.value(),
        capabilities=body.capabilities.value(),
        shrink_images=body.shrink_images,
    )
    return shape(bot)


@router.get("", response_model=Page[BotShape])
async def list_bots(caller: CallerOf, services: ServicesOf, cursor: Cursor = None, limit: Limit = 50) -> object:
    bots = await services.bots.list(caller.organisation_id, after=cursor, limit=limit + 1)
    return page_of(bots, limit, shape)


@router.get("/{bot_id}", response_model=BotShape)
async def get_bot(bot_id: str, caller: CallerOf, services: ServicesOf) -> BotShape:
    return shape(await services.bots.get(caller.organisation_id, parse_id("bot", bot_id)))


@router.patch("/{bot_id}", response_model=BotShape, responses=problems(403))
async def update_bot(bot_id: str, body: BotChanges, caller: OwnerOf, services: ServicesOf) -> BotShape:
    if body.model is not None:
        services.models.validate(body.model)
    bot = await services.bots.update(
        caller.organisation_id,
        parse_id("bot", bot_id),
        name=body.name,
        prompt=body.prompt,
        model=body.model,
        knowledge_base_ids=body.knowledge_base_ids,
        weights=body.weights.value() if body.weights else None,
        capabilities=body.capabilities.value() if body.capabilities else None,
        shrink_images=body.shrink_images,
    )
    return shape(bot)


@router.delete("/{bot_id}", status_code=204, responses=problems(409))
async def delete_bot(bot_id: str, caller: OwnerOf, services: ServicesOf) -> Response:
    await services.bots.delete(caller.organisation_id, parse_id("bot", bot_id))
    return Response(status_code=204)
