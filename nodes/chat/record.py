"""Storing both ends of a turn: the question before anything else happens, the answer with its sources at the end."""

from collections.abc import Sequence, Set
from typing import Any
from uuid import UUID

from langgraph.runtime import Runtime

from nodes.chat.answering import NO_USAGE
from nodes.chat.billing import bill_of
from nodes.chat.citations import cited_numbers
from nodes.chat.state import CallerOf, ChatResponse, ChatState, Context, Turn
from stores.protocols.conversations import Answer, TurnStore
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import Conflict, Problem
from tributary.domain.retrieval import Source


async def record_question(
    state: ChatState, runtime: Runtime[Context], *, caller: CallerOf, conversations: TurnStore
) -> ChatState:
    """Stores the question as running. From here on a crash loses nothing: the question is there, interrupted.

    Raises:
        NotFound, Conflict: what validation saw has changed since. The turn ends without a trace of it.
    """
    turn = state["turn"]
    replaced = turn["replaceMessageId"]
    await conversations.begin_turn(
        caller(runtime),
        conversation_id=UUID(turn["conversationId"]),
        bot_id=UUID(turn["botId"]),
        question_id=UUID(turn["questionId"]),
        content=state["message"],
        attachments=[dict(file) for file in state["files"]],
        replace_message_id=UUID(replaced) if replaced else None,
    )
    return {}


async def record_answer(
    state: ChatState, runtime: Runtime[Context], *, caller: CallerOf, conversations: TurnStore
) -> ChatState:
    """Stores the answer with its sources for ever, and gives the turn its output. Of a call that failed, what was said
    until then is kept as a failed message, and the output is the problem."""
    turn = state["turn"]
    problem = state.get("error")
    cited = cited_numbers(state["answer"], len(state["sources"]))
    sources = [with_citation(source, cited) for source in state["sources"]]
    stored = await conversations.finish_turn(
        caller(runtime),
        conversation_id=UUID(turn["conversationId"]),
        question_id=UUID(turn["questionId"]),
        answer=Answer(
            message_id=UUID(turn["answerId"]),
            content=state["answer"],
            status=MessageStatus(state["status"]),
            sources=sources,
            usage=state["usage"],
            model=turn["model"],
            details=details_of(state),
            bill=bill_of(turn, answered=bool(state["answer"].strip()), usage=state["usage"]),
        ),
    )
    if problem:
        return {"sources": sources}
    if not stored:
        return {"error": Conflict("The question was deleted or taken over while it was answered").problem()}
    return {"sources": sources, "response": response_of(state, sources)}


def details_of(state: ChatState) -> dict[str, Any]:
    """What a message keeps beside its text: what was left out, why it ended, and what went wrong."""
    details: dict[str, Any] = {
        "degraded": state["degraded"],
        "notSent": state["notSent"],
        "finishReason": state["finishReason"],
    }
    problem = state.get("error")
    return details | {"problem": dict(problem)} if problem else details


def partial_answer(
    turn: Turn, said: str, sources: Sequence[Source], *, problem: Problem, status: MessageStatus
) -> Answer:
    """What was said of an answer whose turn was cut off, to be kept as a part."""
    cited = cited_numbers(said, len(sources))
    return Answer(
        message_id=UUID(turn["answerId"]),
        content=said,
        status=status,
        sources=[with_citation(source, cited) for source in sources],
        usage=NO_USAGE,
        model=turn["model"],
        details={"finishReason": "error", "problem": dict(problem)},
    )


def with_citation(source: Source, cited: Set[int]) -> Source:
    """The source, saying whether the answer cites it."""
    marked = source.copy()
    marked["cited"] = source["number"] in cited
    return marked


def response_of(state: ChatState, sources: list[Source]) -> ChatResponse:
    """The turn's answer as every interface gives it."""
    turn = state["turn"]
    return ChatResponse(
        message=state["answer"],
        conversationId=turn["conversationId"],
        messageId=turn["answerId"] if state["answer"] else None,
        questionId=turn["questionId"],
        sources=sources,
        usage=state["usage"],
        model=turn["model"],
        status=state["status"],
        degraded=state["degraded"],
        notSent=state["notSent"],
        finishReason=state["finishReason"],
    )
