"""The end of a turn whose process does not answer any more, from what is stored."""

from uuid import UUID

from nodes.chat.answering import NO_USAGE
from nodes.chat.state import ChatResponse
from stores.protocols.conversations import ConversationStore
from tributary.domain.conversations import Message, MessageStatus, Role
from tributary.domain.errors import DependencyUnavailable, NotFound, Problem
from tributary.turns.events import TurnLog

_ENDED_WELL = (MessageStatus.COMPLETE, MessageStatus.STOPPED)
#: Seconds after which the question can be asked again.
_RETRY_AFTER = 1.0


async def conclude(turn: TurnLog, conversations: ConversationStore) -> None:
    """Ends `turn`, which nobody runs: with its answer where that was stored, else as interrupted."""
    await conversations.interrupt_orphans(turn.organisation_id)
    answer = await _answer(turn, conversations)
    if answer is None:
        turn.fail(interrupted())
        return
    if answer.content.startswith(turn.said) and answer.content != turn.said:
        turn.publish("token", {"text": answer.content.removeprefix(turn.said)})
    turn.succeed(_response(turn, answer))


def interrupted() -> Problem:
    """The problem of a turn whose process is gone."""
    gone = DependencyUnavailable("The server that wrote this answer is gone", retry_after=_RETRY_AFTER).problem()
    return {**gone, **Problem(type="urn:tributary:problem:interrupted", title="Interrupted", code="interrupted")}


async def _answer(turn: TurnLog, conversations: ConversationStore) -> Message | None:
    if not turn.question_id:
        return None
    question = UUID(turn.question_id)
    try:
        found = await conversations.messages(turn.organisation_id, turn.conversation_id, after=question, limit=1)
    except NotFound:  # it was deleted
        return None
    # Behind a question without an answer stands the next question.
    answers = (each for each in found if each.role is Role.ASSISTANT and each.parent_id == question)
    return next((each for each in answers if each.status in _ENDED_WELL), None)


def _response(turn: TurnLog, answer: Message) -> ChatResponse:
    return ChatResponse(
        message=answer.content,
        conversationId=str(turn.conversation_id),
        messageId=str(answer.id),
        questionId=turn.question_id,
        sources=list(answer.sources),
        usage=answer.usage or NO_USAGE,
        model=answer.model or "",
        status=answer.status.value,
        degraded=answer.details.get("degraded", []),
        notSent=answer.details.get("notSent", []),
        finishReason=answer.details.get("finishReason", "stop"),
    )
