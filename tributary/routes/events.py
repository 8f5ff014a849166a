"""What changes in an organisation, as one stream of server-sent events for all of its lists."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials
from sse_starlette import EventSourceResponse, ServerSentEvent

from tributary.changes import Change, Listener
from tributary.domain.errors import TributaryError
from tributary.routes.access import CallerOf, ServicesOf, authenticated, bearer
from tributary.routes.described import events, problems
from tributary.routes.streams import until

router = APIRouter(prefix="/api/events", tags=["events"], responses=problems(429))

#: Seconds after which a listener's key or sign-in is looked at again, although nobody told that it has ended.
LOOK_AGAIN = 60.0
#: Seconds between two parcels of events: what happens in between goes together, and once.
GATHERING = 0.1
KEEP_ALIVE = 15
#: Milliseconds after which a browser's EventSource connects again.
RECONNECT = 2_000

_EVENTS = events(
    "`changed` `{kind, id, knowledgeBaseId?}`: a `conversation`, `bot`, `knowledgeBase` or `document` was made, "
    "changed or deleted; `id` is null where there were many. `sync` `{}`: first of all, and whenever something may "
    "have been missed: read anew what you show. `error`, a problem, ends the stream: the key or the sign-in has ended, "
    "or the database is away"
)


@router.get("", response_class=EventSourceResponse, responses={200: {"description": "Changes", "content": _EVENTS}})
async def follow_changes(
    request: Request,
    caller: CallerOf,
    services: ServicesOf,
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
) -> Response:
    """Says as they happen which conversations, bots, knowledge bases and documents of the organisation were made,
    changed or deleted, by whomever; not how they are now, which their own routes say. Nothing is repeated for who
    connects again: the first event is `sync`, upon which a client reads its lists."""

    services.changes.require_room(caller.organisation_id)

    async def allowed() -> None:
        await authenticated(request, services, credentials)

    async def told() -> AsyncGenerator[ServerSentEvent, None]:
        with services.changes.listening(caller.organisation_id) as listener:
            async with aclosing(_news(listener, allowed)) as news:
                async for event, data in news:
                    yield ServerSentEvent(data=orjson.dumps(data).decode(), event=event, retry=RECONNECT)

    return EventSourceResponse(
        until(request.app.state.stopping, told()), ping=KEEP_ALIVE, headers={"Cache-Control": "no-store"}
    )


async def _news(listener: Listener, allowed: Callable[[], Awaitable[None]]) -> AsyncGenerator[tuple[str, Any], None]:
    """What is told, without an end but that of the right to listen."""
    while True:
        news = await listener.next(within=LOOK_AGAIN)
        if news.access:
            try:
                await allowed()
            except TributaryError as error:
                yield "error", error.problem()
                return
        if news.missed:
            yield "sync", {}
        for change in news.changes:
            yield "changed", _shape(change)
        await asyncio.sleep(GATHERING)


def _shape(change: Change) -> dict[str, str | None]:
    shape = {"kind": change.kind.value, "id": change.id}
    return shape | {"knowledgeBaseId": change.knowledge_base_id} if change.knowledge_base_id else shape
