"""What a running turn tells: a log that listeners read from its beginning, whenever they come."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from nodes.chat.state import ChatResponse
from tributary.domain.errors import Problem
from tributary.domain.ids import new_id
from tributary.domain.retrieval import Source
from tributary.telemetry.work import TurnWatch


class TurnEvent(TypedDict):
    """One server-sent event of SPEC §5: `status`, `token`, `sources`, `usage`, then one `done` or one `error`."""

    event: str
    data: Any


class TurnLog:
    """What has been told of a turn, by this process or by the one that runs it."""

    def __init__(self, organisation_id: UUID, conversation_id: UUID) -> None:
        self.id = new_id()
        self.organisation_id = organisation_id
        self.conversation_id = conversation_id
        self.response: ChatResponse | None = None
        self.problem: Problem | None = None
        #: Of the question, once it is stored.
        self.question_id = ""
        self._log: list[TurnEvent] = []
        self._changed = asyncio.Event()
        self._begun = asyncio.Event()
        self._ended = asyncio.Event()

    def publish(self, event: str, data: Any) -> None:
        self._log.append(TurnEvent(event=event, data=data))
        if event in ("token", "done", "error"):
            self._begun.set()
        self._changed.set()
        self._changed = asyncio.Event()

    def succeed(self, response: ChatResponse) -> None:
        self.response = response
        self.publish("done", response)
        self._ended.set()

    def fail(self, problem: Problem) -> None:
        """Ends the turn. Where its question was stored, the problem says under which ids: it can be asked again."""
        if self.question_id:
            ids = Problem(conversationId=str(self.conversation_id), questionId=self.question_id)
            problem = {**problem, **ids}
        self.problem = problem
        self.publish("error", problem)
        self._ended.set()

    @property
    def answering(self) -> bool:
        """Whether a part of the answer has been told: from then on a failure is an event, and no HTTP error."""
        return any(event["event"] == "token" for event in self._log)

    @property
    def said(self) -> str:
        """What has been told of the answer."""
        return "".join(event["data"]["text"] for event in self._log if event["event"] == "token")

    @property
    def sources(self) -> list[Source]:
        """The sources that have been told."""
        return next((event["data"] for event in self._log if event["event"] == "sources"), [])

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def after(self, position: int) -> list[TurnEvent]:
        """The events that have been told from this one on."""
        return self._log[position:]

    async def more(self, position: int) -> None:
        """Returns when there are more events than `position`, or there will be none."""
        while len(self._log) <= position and not self.ended:
            await self._changed.wait()

    async def begun(self) -> None:
        """Returns with the first token, or with the end of a turn that has none."""
        await self._begun.wait()

    async def wait(self) -> None:
        """Returns when the turn has ended: `response` or `problem` is set."""
        await self._ended.wait()

    async def events(self) -> AsyncIterator[TurnEvent]:
        """All events from the first, as they come, to the last."""
        position = 0
        while True:
            changed = self._changed
            while position < len(self._log):
                yield self._log[position]
                position += 1
            if self.ended and position == len(self._log):
                return
            if changed is self._changed:
                await changed.wait()


class RunningTurn(TurnLog):
    """A turn at work. It belongs to the server, not to a client: nobody who leaves takes it along."""

    def __init__(self, organisation_id: UUID, conversation_id: UUID) -> None:
        super().__init__(organisation_id, conversation_id)
        self.watch = TurnWatch(organisation_id, conversation_id)

    def publish(self, event: str, data: Any) -> None:
        super().publish(event, data)
        if event == "token":
            self.watch.token()
