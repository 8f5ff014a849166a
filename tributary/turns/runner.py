"""Turns from their request to their stored answer."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Durability

from nodes.chat.billing import bill_of
from nodes.chat.record import partial_answer
from nodes.chat.state import ChatInput, ChatOutput, ChatState, Context, Turn
from stores.protocols.conversations import TurnQueue, TurnStore
from tributary.domain.attachments import AttachmentClaim
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import DependencyUnavailable, NotFound, Problem, TributaryError
from tributary.domain.ids import new_id, parse_id, thread_id
from tributary.models.metering import Meter, metered, plain_meter
from tributary.telemetry.tracing import describe
from tributary.turns.events import RunningTurn
from tributary.turns.stops import Stops
from tributary.turns.trace import TraceRecorder

ChatGraph = CompiledStateGraph[ChatState, Context, ChatInput, ChatOutput]

logger = logging.getLogger(__name__)

INTERRUPTED = "interrupted"
#: Seconds after which a turn is better sent again to a server that stops: to whoever serves then.
COME_AGAIN = 2.0


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """A turn as asked for over any interface."""

    organisation_id: UUID
    bot_id: str
    message: str
    conversation_id: str | None = None
    attachments: Sequence[AttachmentClaim] = ()
    replace_message_id: str | None = None
    #: See `Context`.
    instructions: str = ""
    max_output: int | None = None


class CheckpointedGraph:
    """Gives each turn the chat graph with a checkpointer of its own. LangGraph's PostgreSQL saver holds one lock around
    every statement: shared, it would queue the turns of all conversations behind each other. Without a `saver` turns
    leave no checkpoint."""

    def __init__(self, graph: ChatGraph, saver: Callable[..., Any] | None) -> None:
        self._graph = graph
        self._saver = saver
        self.durability: Durability | None = "exit" if saver else None

    def for_one_turn(self, *, opening: bool) -> ChatGraph:
        """`opening`: of a conversation that begins with it, and has no checkpoint yet."""
        return self._graph.copy({"checkpointer": self._saver(new_thread=opening)}) if self._saver else self._graph

    async def forget(self, organisation_id: UUID, conversation_id: UUID) -> None:
        """Removes what the turns of a conversation have left."""
        if self._saver:
            await self._saver().adelete_thread(thread_id(organisation_id, conversation_id))


class Turns:
    """Starts turns, finds running ones, and sees each to its end."""

    def __init__(
        self,
        *,
        graph: CheckpointedGraph,
        conversations: TurnStore,
        queue: TurnQueue,
        stops: Stops,
        queue_timeout: float,
        meter: Callable[[], Meter] = plain_meter,
    ) -> None:
        self._graph = graph
        self._conversations = conversations
        self._queue = queue
        self._stops = stops
        self._queue_timeout = queue_timeout
        self._meter = meter
        self._tasks: dict[asyncio.Task[None], RunningTurn] = {}
        self._running: dict[UUID, RunningTurn] = {}
        self._stopping = False

    def start(self, request: TurnRequest) -> RunningTurn:
        """Begins the turn, or queues it behind the conversation's others. It goes on whoever listens.

        Raises:
            NotFound: the conversation's id is no id.
            DependencyUnavailable: the server is stopping.
        """
        if self._stopping:
            raise DependencyUnavailable("The server is stopping; send it again", retry_after=COME_AGAIN)
        given = request.conversation_id
        conversation_id = parse_id("conversation", given) if given else new_id()
        turn = RunningTurn(request.organisation_id, conversation_id)
        with metered(self._meter()):
            task = asyncio.create_task(self._watched(turn, request), name=f"turn {conversation_id}")
        self._tasks[task] = turn
        task.add_done_callback(self._ended)
        return turn

    def running(self, organisation_id: UUID, conversation_id: UUID) -> RunningTurn | None:
        """The conversation's turn that this process runs now."""
        turn = self._running.get(conversation_id)
        return turn if turn and turn.organisation_id == organisation_id else None

    async def stop(self, organisation_id: UUID, conversation_id: UUID) -> None:
        """Ends the conversation's running turn, in whichever process; what was written so far is its answer."""
        await self._conversations.get(organisation_id, conversation_id)
        await self._stops.ask(conversation_id)

    def leave(self, turn: RunningTurn) -> None:
        """Ends a turn of this process whose only listener is gone: its model is stopped, and what has not begun never
        does. One that has ended is left as it is."""
        if self._running.get(turn.conversation_id) is turn:
            self._stops.ask_here(turn.conversation_id)
            return
        for task, each in self._tasks.items():
            if each is turn:
                task.cancel()

    async def drain(self, grace: float) -> None:
        """Lets the running turns finish, for `grace` seconds; those that don't are interrupted. Begins none from now
        on. May be called again."""
        self._stopping = True
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=grace)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks))

    def _ended(self, task: asyncio.Task[None]) -> None:
        turn = self._tasks.pop(task)
        if task.cancelled():
            turn.fail(_interrupted())
        elif (error := task.exception()) is not None:
            logger.error("a turn failed on a bug", exc_info=error)
            turn.fail(TributaryError("The answer failed on an internal error").problem())
        turn.watch.ended(_outcome(turn))

    async def _watched(self, turn: RunningTurn, request: TurnRequest) -> None:
        with turn.watch.running():
            await self._run(turn, request)
            describe(tributary__outcome=_outcome(turn))

    async def _run(self, turn: RunningTurn, request: TurnRequest) -> None:
        begun: list[Turn] = []
        settled = False
        try:
            async with self._queue.turn(turn.organisation_id, turn.conversation_id, timeout=self._queue_timeout):
                output = await self._hold(turn, request, begun)
            # Told only now: who hears of the end may delete the conversation, or go on with it, at once.
            _conclude(turn, output)
            settled = True
        except TributaryError as error:
            await self._mark(turn, begun, error.problem(), MessageStatus.FAILED)
            turn.fail(error.problem())
            settled = True
        finally:
            # A shutdown or a bug: the question must not look as if somebody still answered it.
            if not settled:
                await asyncio.shield(self._mark(turn, begun, _interrupted(), MessageStatus.INTERRUPTED))

    async def _hold(self, turn: RunningTurn, request: TurnRequest, begun: list[Turn]) -> ChatOutput:
        """The turn itself, with the conversation held."""
        recorder = TraceRecorder()
        self._running[turn.conversation_id] = turn
        self._stops.begin(turn.conversation_id)
        try:
            output = await self._stream(turn, request, recorder, begun)
        finally:
            self._stops.end(turn.conversation_id)
            self._running.pop(turn.conversation_id, None)
        if output.get("error") and not begun:
            await self._forget_refused(turn)
        for each in begun:
            await self._conversations.save_trace(turn.organisation_id, UUID(each["answerId"]), recorder.trace())
        return output

    async def _forget_refused(self, turn: RunningTurn) -> None:
        """What was refused leaves nothing behind; a conversation that was there before keeps what is its own."""
        try:
            await self._conversations.get(turn.organisation_id, turn.conversation_id)
        except NotFound:
            await self._graph.forget(turn.organisation_id, turn.conversation_id)

    async def _stream(
        self, turn: RunningTurn, request: TurnRequest, recorder: TraceRecorder, begun: list[Turn]
    ) -> ChatOutput:
        output: ChatOutput = {}
        stream = self._graph.for_one_turn(opening=request.conversation_id is None).astream(
            _graph_input(request),
            _config(turn),
            context=_context(turn, request),
            stream_mode=["custom", "tasks", "values"],
            subgraphs=True,
            durability=self._graph.durability,
            output_keys=["response", "error"],
        )
        chunk: Any
        async for namespace, mode, chunk in stream:
            if mode == "custom":
                _tell(turn, chunk)
            elif mode == "tasks":
                _follow(turn, recorder, chunk, begun)
            elif not namespace:
                output = chunk
        return output

    async def _mark(self, turn: RunningTurn, begun: Sequence[Turn], problem: Problem, status: MessageStatus) -> None:
        """Says of the question what became of it, and keeps the part of an answer that was told. Where the database is
        what failed, the question stays as it is, and upkeep finds that nobody answers it any more."""
        for each in begun:
            try:
                await self._keep(turn, each, problem, status)
            except DependencyUnavailable as error:
                logger.warning("what became of question %s could not be stored: %s", each["questionId"], error.code)

    async def _keep(self, turn: RunningTurn, begun: Turn, problem: Problem, status: MessageStatus) -> None:
        question = UUID(begun["questionId"])
        if turn.said:
            await self._conversations.finish_turn(
                turn.organisation_id,
                conversation_id=UUID(begun["conversationId"]),
                question_id=question,
                answer=partial_answer(begun, turn.said, turn.sources, problem=problem, status=status),
            )
        await self._conversations.fail_turn(
            turn.organisation_id,
            question_id=question,
            problem=dict(problem),
            status=status,
            bill=bill_of(begun, answered=bool(turn.said)),
        )


def _outcome(turn: RunningTurn) -> str:
    """How a turn that has ended did."""
    if turn.response is not None:
        return turn.response["status"]
    problem = turn.problem or _interrupted()
    if problem["code"] == INTERRUPTED:
        return INTERRUPTED
    return "failed" if turn.question_id or problem["status"] >= 500 else "refused"


def _conclude(turn: RunningTurn, output: ChatOutput) -> None:
    response, problem = output.get("response"), output.get("error")
    if problem:
        turn.fail(problem)
    else:
        assert response is not None, "a turn ends with an answer or a refusal"
        turn.succeed(response)


def _graph_input(request: TurnRequest) -> ChatInput:
    return ChatInput(
        message=request.message,
        botId=request.bot_id,
        conversationId=request.conversation_id,
        attachments=list(request.attachments),
        replaceMessageId=request.replace_message_id,
    )


def _context(turn: RunningTurn, request: TurnRequest) -> Context:
    return Context(
        organisation_id=str(turn.organisation_id),
        conversation_id=str(turn.conversation_id),
        instructions=request.instructions,
        max_output=request.max_output,
    )


def _config(turn: RunningTurn) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id(turn.organisation_id, turn.conversation_id)}}


def _tell(turn: RunningTurn, chunk: dict[str, Any]) -> None:
    if chunk["type"] == "token":
        turn.publish("token", {"text": chunk["text"]})
    else:
        turn.publish(chunk["type"], chunk[chunk["type"]])


def _follow(turn: RunningTurn, recorder: TraceRecorder, task: dict[str, Any], begun: list[Turn]) -> None:
    told = recorder.record(task)
    if told is None:
        return
    name, state = told
    turn.publish("status", {"node": name, "state": state})
    if name != "record_question":
        return
    if state == "started":
        begun.append(task["input"]["turn"])
    elif state == "finished":
        turn.question_id = begun[-1]["questionId"]


def _interrupted() -> Problem:
    problem = DependencyUnavailable(
        "The server stopped before the answer was complete", retry_after=COME_AGAIN
    ).problem()
    return {**problem, **Problem(type=f"urn:tributary:problem:{INTERRUPTED}", title="Interrupted", code=INTERRUPTED)}
