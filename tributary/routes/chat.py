"""Asking a bot (SPEC §2): the answer at once, or as it is written."""

import asyncio
import re
from collections.abc import Coroutine
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from tributary.domain.attachments import AttachmentClaim
from tributary.domain.errors import InvalidRequest, MessageTooLarge
from tributary.domain.ids import parse_id
from tributary.routes.access import CallerOf, ServicesOf
from tributary.routes.described import DegradationDict, NotSentDict, SourceDict, UsageDict, events, problems
from tributary.routes.idempotency import Key, Result, fingerprint, once
from tributary.routes.problems import problem_response
from tributary.routes.shapes import Body, Shape, Text
from tributary.services import Services
from tributary.turns.events import TurnLog
from tributary.turns.runner import TurnRequest

router = APIRouter(tags=["chat"], responses=problems())

#: Seconds for which a stream holds its headers back until the question is stored, so that a refusal is a real HTTP
#: error, and for which it then waits for the answer to begin, so that a model that fails before its first token is one,
#: too. After them it begins with what there is, and keeps the connection alive while the model thinks. A client that
#: would rather know at once how far the turn is asks for less: `Prefer: wait=0`.
PATIENCE = 15.0
KEEP_ALIVE = 10
#: Header of a stream: the conversation that can be stopped or joined while its first answer is still being written.
CONVERSATION = "X-Conversation-Id"
#: Characters of a message; what is longer is a file.
MAX_MESSAGE = 200_000


class ClaimBody(Body):
    id: str
    access_token: str | None = None

    def claim(self) -> AttachmentClaim:
        claim = AttachmentClaim(id=self.id)
        if self.access_token:
            claim["accessToken"] = self.access_token
        return claim


class ChatBody(Body):
    message: Text
    conversation_id: str | None = None
    attachments: list[ClaimBody] = Field(default_factory=list, max_length=100)
    replace_message_id: str | None = None


class AnswerShape(Shape):
    """A whole answer, as the stream's `done` has it too."""

    message: str
    conversation_id: str
    message_id: str | None = Field(description="Null where nothing was said")
    question_id: str
    sources: list[SourceDict]
    usage: UsageDict
    model: str
    status: str = Field(description="`complete` or `stopped`")
    degraded: list[DegradationDict]
    not_sent: list[NotSentDict]
    finish_reason: str


_EVENTS = events("`status`, `token`, `sources`, `usage`, then one `done` (an answer) or one `error` (a problem)")
#: How a turn can fail, in whichever way it is asked for.
_FAILURES = problems(403, 409, 413, 429, 502, 504)
_WAIT = re.compile(r"(?:^|[\s,;])wait\s*=\s*(\d{1,6})(?!\w)")
Prefer = Annotated[
    str | None,
    Header(
        max_length=500,
        description="`wait=N` (RFC 7240), of a stream: its headers come N seconds after the question was stored at "
        f"the latest; {PATIENCE:g} at most, and where nothing is said. A failure that comes later is an event",
    ),
]
_NAMED = {CONVERSATION: {"schema": {"type": "string"}, "description": "Of a stream: the id of its conversation"}}


@router.post(
    "/api/bots/{bot_id}/chat",
    response_model=AnswerShape,
    responses={**_FAILURES, 200: {"description": "The answer", "headers": _NAMED, "content": _EVENTS}},
)
async def chat(
    bot_id: str,
    body: ChatBody,
    request: Request,
    caller: CallerOf,
    services: ServicesOf,
    key: Key = None,
    prefer: Prefer = None,
) -> Response:
    """One turn. With `Accept: text/event-stream` the same turn as server-sent events: `status`, `token`, `sources`,
    `usage`, then one `done` or one `error`. A turn that is refused is an HTTP error either way."""
    require_message_length(body.message)
    turn_request = TurnRequest(
        organisation_id=caller.organisation_id,
        bot_id=bot_id,
        message=body.message,
        conversation_id=body.conversation_id,
        attachments=[each.claim() for each in body.attachments],
        replace_message_id=body.replace_message_id,
    )
    streamed = "text/event-stream" in request.headers.get("accept", "")
    if streamed and key is None:
        return await stream_turn(services.turns.start(turn_request), wait=preferred_wait(prefer))
    if streamed:
        raise InvalidRequest("An Idempotency-Key replays a whole result: ask for it without a stream")
    return await once(
        services.idempotency,
        caller.organisation_id,
        route=f"chat {bot_id}",
        key=key,
        mark=fingerprint(body.model_dump_json()),
        work=lambda: _answer(services, turn_request),
    )


def require_message_length(message: str) -> None:
    """Raises `MessageTooLarge`."""
    if len(message) > MAX_MESSAGE:
        raise MessageTooLarge(f"A message has at most {MAX_MESSAGE:,} characters; send long texts as a file")


async def _answer(services: Services, request: TurnRequest) -> Result:
    turn = services.turns.start(request)
    await turn.wait()
    if turn.problem is not None:
        return turn.problem["status"], dict(turn.problem)
    assert turn.response is not None
    return 200, dict(turn.response)


def preferred_wait(prefer: str | None) -> float:
    """Seconds that the header `Prefer` asks a stream to hold its headers back for."""
    found = _WAIT.search(prefer or "")
    return min(float(found[1]), PATIENCE) if found else PATIENCE


async def stream_turn(turn: TurnLog, *, wait: float | None = None) -> Response:
    """The turn's events. One that is refused, or that fails within `wait` seconds before its answer begins, is an HTTP
    error."""
    if await _within(PATIENCE, _stored(turn)):
        await _within(PATIENCE if wait is None else wait, turn.begun())
    if turn.problem is not None and not turn.answering:
        return problem_response(turn.problem)

    async def told() -> Any:
        async for event in turn.events():
            yield ServerSentEvent(data=orjson.dumps(event["data"]).decode(), event=event["event"])

    headers = {"Cache-Control": "no-store", CONVERSATION: str(turn.conversation_id)}
    return EventSourceResponse(told(), ping=KEEP_ALIVE, headers=headers)


async def _stored(turn: TurnLog) -> None:
    """Returns once the question is stored, and the turn refused no more, or with the turn's end."""
    while not turn.question_id and not turn.ended:
        await turn.more(len(turn.after(0)))


async def _within(seconds: float, work: Coroutine[Any, Any, None]) -> bool:
    """Whether the work is done by then; otherwise it is given up."""
    waiting = asyncio.ensure_future(work)
    await asyncio.wait((waiting,), timeout=seconds)
    done = waiting.done()
    waiting.cancel()
    return done


@router.get(
    "/api/conversations/{conversation_id}/stream",
    response_class=EventSourceResponse,
    responses={**_FAILURES, 200: {"description": "The running answer", "headers": _NAMED, "content": _EVENTS}},
)
async def join(conversation_id: str, caller: CallerOf, services: ServicesOf) -> Response:
    """The running answer of a conversation, from its first token on, whichever process writes it."""
    identifier = parse_id("conversation", conversation_id)
    await services.conversations.get(caller.organisation_id, identifier)
    return await stream_turn(await services.relays.join(caller.organisation_id, identifier), wait=0)


class StopShape(Shape):
    """Nothing: the answer so far comes from the turn itself."""


@router.post("/api/conversations/{conversation_id}/stop", status_code=202, response_model=StopShape)
async def stop(conversation_id: str, caller: CallerOf, services: ServicesOf) -> JSONResponse:
    """Ends the running answer; what was written so far stays."""
    await services.turns.stop(caller.organisation_id, parse_id("conversation", conversation_id))
    return JSONResponse({}, status_code=202)
