"""Joining a running answer in whichever process runs it.

Who wants to hear asks all processes, and the one that runs the turn answers with what it has told so far; from then on
the two ask and answer by themselves, one parcel at a time. Nothing is sent of a turn that nobody joined elsewhere, a
listener that is slow or gone is owed nothing, and a signal that is lost is asked for again.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any
from uuid import UUID

from stores.protocols.conversations import ConversationStore, TurnQueue
from stores.protocols.signals import Signals
from tributary.domain.errors import Conflict, DependencyError
from tributary.domain.ids import new_id
from tributary.turns.aftermath import conclude
from tributary.turns.events import RunningTurn, TurnEvent, TurnLog
from tributary.turns.parcels import Ask, Parcel, Unpacking, ask_of, new_ask, signal_of, signals_of

logger = logging.getLogger(__name__)

#: Seconds in which an answer to an ask must come. An empty one comes when there was nothing to tell for `LONGEST`.
SILENCE = 2.0
LONGEST = 1.0
#: Seconds in which events gather before they are sent.
GATHERING = 0.04
#: Events that one parcel carries at most.
PARCEL_EVENTS = 500
#: Silences, with nobody holding the conversation, after which the turn is over.
SILENCES = 2
#: Seconds for which a turn that ended can still be asked about.
REMEMBERED = 30.0
#: Seconds after which a turn that nobody here listens to is not followed any more.
UNHEARD = 30.0

#: The turn that this process runs in a conversation of an organisation.
Running = Callable[[UUID, UUID], RunningTurn | None]


class RelayedTurn(TurnLog):
    """A turn that another process runs, as far as it was told here."""

    def __init__(self, organisation_id: UUID, conversation_id: UUID) -> None:
        super().__init__(organisation_id, conversation_id)
        #: The process that runs it, and the turn's id there; empty until it has answered.
        self.runner = self.turn_id = ""
        self._listeners = 0
        self._unheard_since = asyncio.get_running_loop().time()

    @property
    def unheard(self) -> bool:
        """Whether nobody has listened for a while."""
        return not self._listeners and asyncio.get_running_loop().time() - self._unheard_since > UNHEARD

    async def events(self) -> AsyncIterator[TurnEvent]:
        self._listeners += 1
        try:
            async for event in super().events():
                yield event
        finally:
            self._listeners -= 1
            self._unheard_since = asyncio.get_running_loop().time()

    def take(self, parcel: Parcel) -> None:
        """Goes on with these events; those that came before are left out."""
        self.runner, self.turn_id = parcel["by"], parcel["turn"]
        self.question_id = parcel["question"] or self.question_id
        for event in parcel["events"][len(self.after(0)) - parcel["position"] :]:
            if event["event"] == "done":
                self.succeed(event["data"])
            elif event["event"] == "error":
                self.fail(event["data"])
            else:
                self.publish(event["event"], event["data"])


class Relays:
    """Both ends: what this process tells of its turns, and what it hears of those of others."""

    def __init__(
        self, *, signals: Signals, queue: TurnQueue, conversations: ConversationStore, running: Running
    ) -> None:
        self._signals = signals
        self._queue = queue
        self._conversations = conversations
        self._running = running
        self._relayed: dict[tuple[UUID, UUID], RelayedTurn] = {}
        self._answers: dict[str, asyncio.Future[Parcel]] = {}
        self._unpacking = Unpacking()
        #: Turns of this process that others have asked about.
        self._asked: dict[str, RunningTurn] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        signals.subscribe(self._heard)

    async def join(self, organisation_id: UUID, conversation_id: UUID) -> TurnLog:
        """The conversation's running turn, here or elsewhere. The conversation is the organisation's.

        Raises:
            Conflict: none is running.
        """
        place = organisation_id, conversation_id
        while True:
            if (own := self._running(organisation_id, conversation_id)) is not None:
                return own
            if (known := self._relayed.get(place)) is not None:
                return known
            if not await self._queue.held(organisation_id, conversation_id):
                # Who was told that one runs, and comes to hear it, must not be told so again.
                await self._conversations.interrupt_orphans(organisation_id)
                raise Conflict("No turn of this conversation is running")
            turn = RelayedTurn(organisation_id, conversation_id)
            parcel = await self._ask(turn)
            if parcel is not None and place not in self._relayed:
                return self._begin(turn, parcel)

    async def close(self) -> None:
        """Follows and tells nothing any more."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def _begin(self, turn: RelayedTurn, parcel: Parcel) -> RelayedTurn:
        turn.take(parcel)
        if not turn.ended:
            self._relayed[turn.organisation_id, turn.conversation_id] = turn
            self._spawn(self._follow(turn))
        return turn

    async def _follow(self, turn: RelayedTurn) -> None:
        silences = 0
        try:
            while not turn.ended and not turn.unheard:
                parcel = await self._ask(turn)
                if parcel is not None:
                    silences = 0
                    turn.take(parcel)
                elif not await self._queue.held(turn.organisation_id, turn.conversation_id):
                    silences += 1
                if silences == SILENCES:
                    await conclude(turn, self._conversations)
        except DependencyError as error:
            turn.fail(error.problem())
        finally:
            self._relayed.pop((turn.organisation_id, turn.conversation_id), None)

    async def _ask(self, turn: RelayedTurn) -> Parcel | None:
        """What comes after the events that are known; None when nobody answers."""
        number = new_id().hex
        ask = new_ask(
            self._signals.address,
            number,
            turn.organisation_id,
            turn.conversation_id,
            turn.turn_id,
            len(turn.after(0)),
        )
        answer: asyncio.Future[Parcel] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        self._unpacking.expect(number)
        try:
            await self._signals.publish(signal_of(ask), to=turn.runner or None)
            async with asyncio.timeout(SILENCE):
                return await answer
        except TimeoutError:
            return None
        finally:
            del self._answers[number]
            self._unpacking.forget(number)

    def _heard(self, payload: str) -> None:
        ask = ask_of(payload)
        if ask is not None:
            turn = self._asked_for(ask)
            if turn is not None:
                self._spawn(self._tell(turn, ask))
            return
        taken = self._unpacking.take(payload)
        if taken is not None and not self._answers[taken[0]].done():
            self._answers[taken[0]].set_result(taken[1])

    def _asked_for(self, ask: Ask) -> RunningTurn | None:
        if ask["turn"]:
            return self._asked.get(ask["turn"])
        turn = self._running(UUID(ask["organisation"]), UUID(ask["conversation"]))
        if turn is not None and turn.id.hex not in self._asked:
            self._asked[turn.id.hex] = turn
            self._spawn(self._forget_later(turn))
        return turn

    async def _forget_later(self, turn: RunningTurn) -> None:
        await turn.wait()
        await asyncio.sleep(REMEMBERED)
        del self._asked[turn.id.hex]

    async def _tell(self, turn: RunningTurn, ask: Ask) -> None:
        position = ask["position"]
        try:
            async with asyncio.timeout(LONGEST):
                await turn.more(position)
                if position and not turn.ended:
                    await asyncio.sleep(GATHERING)
        except TimeoutError:
            logger.debug("nothing new to tell of turn %s", turn.id)
        parcel = Parcel(
            by=self._signals.address,
            turn=turn.id.hex,
            question=turn.question_id,
            position=position,
            events=turn.after(position)[:PARCEL_EVENTS],
        )
        try:
            for signal in signals_of(ask["number"], parcel):
                await self._signals.publish(signal, to=ask["by"])
        except DependencyError as error:
            logger.warning("what runs here could not be told to another process: %s", error.code)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("joining turns of other processes failed on a bug", exc_info=error)
