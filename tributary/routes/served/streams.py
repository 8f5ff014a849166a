"""How a served stream ends: in good order, and where it failed, with one event that says why."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import orjson

from tributary.domain.errors import Problem
from tributary.routes.served.runs import Run
from tributary.routes.served.telling import internal_problem

logger = logging.getLogger(__name__)

Sent = dict[str, Any]


def error_event(problem: Problem) -> Sent:
    """A problem as clients of LangServe read failures: they look for `status_code` and `message`."""
    data = {**problem, "status_code": problem["status"], "message": problem["detail"]}
    return {"event": "error", "data": orjson.dumps(data).decode()}


async def ended_well(events: AsyncIterator[Sent], run: Run) -> AsyncIterator[Sent]:
    """LangServe's events; the last one is `end`, or one `error` with a problem. LangServe would tell of a bug without
    saying what it is, and cut the connection."""
    async for event in events:
        if event["event"] == "end" and run.failure is not None:
            yield error_event(run.failure)
        elif event["event"] == "error":
            yield error_event(internal_problem())
            await _log_what_follows(events)
            return
        else:
            yield event


async def _log_what_follows(events: AsyncIterator[Sent]) -> None:
    """The exception that LangServe raises behind its own event."""
    following = asyncio.ensure_future(_next(events))
    await asyncio.wait((following,))
    if not following.cancelled() and (error := following.exception()) is not None:
        logger.error("a served stream failed on a bug", exc_info=error)


async def _next(events: AsyncIterator[Sent]) -> Sent | None:
    return await anext(events, None)
