"""Models and chat completions, as OpenAI's clients ask for them: a model is a bot, and the client keeps the
conversation."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.types import Receive, Scope, Send

from tributary.completions import CompletionRequest, Completions
from tributary.domain.bots import Bot
from tributary.domain.errors import InvalidRequest, NotFound
from tributary.domain.identity import Caller
from tributary.domain.ids import new_id, parse_id
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.chat import KEEP_ALIVE, PATIENCE
from tributary.routes.described import events
from tributary.routes.idempotency import Key, Result, fingerprint, once
from tributary.routes.openai.body import CompletionBody, read_body
from tributary.routes.openai.conversation import read_messages
from tributary.routes.openai.errors import OpenAIRoute, envelope, error_response
from tributary.routes.openai.replies import CompletionShape, ModelShape, ModelsShape, Replies, model_of
from tributary.routes.openai.schemas import completion_body, errors
from tributary.services import Services
from tributary.turns.events import RunningTurn

router = APIRouter(prefix="/v1", tags=["OpenAI-compatible"], route_class=OpenAIRoute)

#: Bots of one page of the store.
_PAGE = 200
_CHUNKS = events("Chunks of the answer as `data:` lines, the last one `[DONE]`; after a failure one with `error`")


@router.get("/models", response_model=ModelsShape, responses=errors())
async def list_models(caller: CallerOf, services: ServicesOf) -> dict[str, Any]:
    """All bots, oldest first."""
    bots: list[Bot] = []
    after: UUID | None = None
    while page := await services.bots.list(caller.organisation_id, after=after, limit=_PAGE):
        bots += page
        after = page[-1].id
    return {"object": "list", "data": [model_of(bot) for bot in bots]}


@router.get("/models/{model}", response_model=ModelShape, responses=errors())
async def get_model(model: str, caller: CallerOf, services: ServicesOf) -> dict[str, Any]:
    return model_of(await services.bots.get(caller.organisation_id, parse_id("bot", model)))


@router.post(
    "/chat/completions",
    response_model=CompletionShape,
    responses={**errors(409, 413, 415, 429, 502, 504), 200: {"description": "The answer", "content": _CHUNKS}},
    openapi_extra=completion_body(),
)
async def complete(request: Request, caller: CallerOf, services: ServicesOf, key: Key = None) -> Response:
    """One turn of a conversation that the client keeps: `messages` are the whole of it, and nothing of it is stored."""
    raw = await _read(request)
    body = read_body(raw)
    asked, replies, streamed = _request(body, caller), _replies(request, body), bool(body.stream)
    if key is not None:
        if streamed:
            raise InvalidRequest("An Idempotency-Key replays a whole result: ask for it without a stream")
        return await _repeatable(services, asked, replies, key, hashlib.sha256(raw).hexdigest())
    del raw, body  # they may be large, and so may the files: a turn keeps none of them while it runs
    turn = await services.completions.start(asked)
    del asked
    answer = _stream if streamed else _whole
    return await answer(turn, replies, services.completions, request)


async def _repeatable(services: Services, asked: CompletionRequest, replies: Replies, key: str, mark: str) -> Response:
    """The answer that is kept for repetitions. It goes on when the client leaves, who may ask for it again."""

    async def work() -> Result:
        turn = await services.completions.start(asked)
        await turn.wait()
        if turn.problem is not None:
            return turn.problem["status"], dict(turn.problem)
        assert turn.response is not None
        return 200, replies.whole(turn.response)

    return await once(
        services.idempotency,
        asked.organisation_id,
        route=f"completion {asked.bot_id}",
        key=key,
        mark=fingerprint(mark),
        work=work,
    )


@router.api_route(
    "/{path:path}", methods=["GET", "POST", "PUT", "PATCH", "DELETE"], include_in_schema=False, response_model=None
)
async def unknown(path: str, request: Request) -> Response:
    """What else OpenAI's clients may ask for."""
    raise NotFound("Route", f"{request.method} /v1/{path}")


async def _read(request: Request) -> bytes:
    """The body, not kept by the request: it may be large, and the turn needs none of it."""
    return b"".join([chunk async for chunk in request.stream()])


def _request(body: CompletionBody, caller: Caller) -> CompletionRequest:
    asked = read_messages(body.messages)
    return CompletionRequest(
        organisation_id=caller.organisation_id,
        bot_id=body.model,
        question=asked.question,
        past=asked.past,
        instructions=asked.instructions,
        max_output=body.longest,
    )


def _replies(request: Request, body: CompletionBody) -> Replies:
    return Replies(
        identifier=f"chatcmpl-{new_id()}",
        model=body.model,
        base_url=str(request.base_url).rstrip("/"),
        tells_usage=body.tells_usage,
    )


async def _whole(turn: RunningTurn, replies: Replies, completions: Completions, request: Request) -> Response:
    try:
        await _heard(request, turn.wait(), patience=None)
    finally:
        completions.leave(turn)
    if turn.problem is not None:
        return error_response(turn.problem)
    if turn.response is None:  # the client is gone; nobody reads this
        return error_response(InvalidRequest("The client left").problem())
    return JSONResponse(replies.whole(turn.response))


async def _stream(turn: RunningTurn, replies: Replies, completions: Completions, request: Request) -> Response:
    """The answer in chunks. A turn that is refused before its answer begins is an HTTP error."""
    begun = False
    try:
        begun = await _heard(request, turn.begun(), patience=PATIENCE)
    finally:
        if not begun:
            completions.leave(turn)
    if turn.problem is not None and not turn.answering:
        return error_response(turn.problem)
    return _Chunks(turn, replies, completions)


async def _heard(request: Request, awaited: Coroutine[Any, Any, None], *, patience: float | None) -> bool:
    """Waits while the client listens; False when it is gone."""
    leaving, waiting = asyncio.ensure_future(_left(request)), asyncio.ensure_future(awaited)
    try:
        await asyncio.wait((leaving, waiting), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        return not leaving.done() or waiting.done()
    finally:
        leaving.cancel()
        waiting.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


class _Chunks(EventSourceResponse):
    """The chunks of an answer. Its turn ends with whoever reads it."""

    def __init__(self, turn: RunningTurn, replies: Replies, completions: Completions) -> None:
        super().__init__(_chunks(turn, replies), ping=KEEP_ALIVE, headers={"Cache-Control": "no-store"})
        self._turn = turn
        self._completions = completions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._completions.leave(self._turn)


async def _chunks(turn: RunningTurn, replies: Replies) -> AsyncIterator[ServerSentEvent]:
    yield _event(replies.opening())
    async for event in turn.events():
        match event["event"]:
            case "token":
                yield _event(replies.token(event["data"]["text"]))
            case "done":
                for chunk in replies.closing(event["data"]):
                    yield _event(chunk)
            case "error":
                yield _event(envelope(event["data"]))
    yield ServerSentEvent(data="[DONE]")


def _event(data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(data=orjson.dumps(data).decode())
