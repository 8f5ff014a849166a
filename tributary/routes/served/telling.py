"""Work that tells how it goes on, in a task of its own: whatever it ends with, those who listen hear a proper end."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from tributary.domain.errors import Problem, TributaryError
from tributary.routes.served.runs import apart
from tributary.turns.events import TurnEvent

logger = logging.getLogger(__name__)

#: Tells an event and its data.
Tell = Callable[[str, Any], None]


async def told_by(work: Callable[[Tell], Awaitable[Any]]) -> AsyncIterator[TurnEvent]:
    """The events that `work` tells, then one `done` with its result or one `error` with a problem. Work that nobody
    listens to any more is cancelled."""
    events: asyncio.Queue[TurnEvent | None] = asyncio.Queue()

    def tell(event: str, data: Any) -> None:
        events.put_nowait(TurnEvent(event=event, data=data))

    task = apart(lambda: asyncio.ensure_future(work(tell)))
    task.add_done_callback(lambda _: events.put_nowait(None))
    try:
        while (event := await events.get()) is not None:
            yield event
    finally:
        task.cancel()
        await asyncio.wait((task,))
    error = task.exception()
    if error is None:
        yield TurnEvent(event="done", data=task.result())
    else:
        yield TurnEvent(event="error", data=_problem(error))


def _problem(error: BaseException) -> Problem:
    if isinstance(error, TributaryError):
        return error.problem()
    logger.error("a served run failed on a bug", exc_info=error)
    return internal_problem()


def internal_problem() -> Problem:
    """What is told of a bug."""
    return TributaryError("Something failed on our side; the log says what").problem()
