"""Asking a bot for an agent: the turn of REST, told in steps while it runs."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from tributary.domain.errors import MessageTooLarge, Problem, TributaryError
from tributary.routes.chat import MAX_MESSAGE
from tributary.routes.mcp.inputs import Asking
from tributary.turns.events import RunningTurn, TurnEvent
from tributary.turns.runner import TurnRequest, Turns


class Refused(TributaryError):
    """A turn that came to nothing, as the problem it ended with."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem["detail"])
        self._problem = problem

    def problem(self) -> Problem:
        return self._problem


async def ask(
    turns: Turns, organisation_id: UUID, given: Asking, progress: Callable[[str], Awaitable[None]]
) -> dict[str, Any]:
    """The answer. Whoever cancels the call stops the turn; what was said until then stays in the conversation.

    Raises:
        MessageTooLarge, NotFound, Refused: as the turn over REST.
    """
    if len(given.message) > MAX_MESSAGE:
        raise MessageTooLarge(f"A message has at most {MAX_MESSAGE:,} characters; send long texts as a file")
    turn = turns.start(
        TurnRequest(
            organisation_id=organisation_id,
            bot_id=given.bot_id,
            message=given.message,
            conversation_id=given.conversation_id,
            attachments=[each.claim() for each in given.attachments],
        )
    )
    try:
        await _follow(turn, progress)
    finally:
        turns.leave(turn)
    if turn.problem is not None:
        raise Refused(turn.problem)
    assert turn.response is not None
    return dict(turn.response)


async def _follow(turn: RunningTurn, progress: Callable[[str], Awaitable[None]]) -> None:
    writing = False
    async for event in turn.events():
        if (step := _step(event)) is not None:
            await progress(step)
        elif event["event"] == "token" and not writing:
            writing = True
            await progress("writing the answer")


def _step(event: TurnEvent) -> str | None:
    """A node that begins, in words: its name is one."""
    if event["event"] == "status" and event["data"]["state"] == "started":
        return str(event["data"]["node"]).replace("_", " ")
    return None
