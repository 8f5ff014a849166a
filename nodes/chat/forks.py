"""Both ends of a turn that may be run again from one of its checkpoints: what it gives a second time is a branch of the
conversation, and the first answer stays."""

from langgraph.runtime import Runtime

from nodes.chat.record import record_answer, record_question
from nodes.chat.state import CallerOf, ChatState, Context, Turn
from stores.protocols.conversations import TurnStore
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id


async def record_question_once(
    state: ChatState, runtime: Runtime[Context], *, caller: CallerOf, conversations: TurnStore
) -> ChatState:
    """As `record_question`; a question whose turn has ended stays as it is until there is another answer."""
    try:
        return await record_question(state, runtime, caller=caller, conversations=conversations)
    except Conflict:
        return {}


async def record_answer_or_branch(
    state: ChatState, runtime: Runtime[Context], *, caller: CallerOf, conversations: TurnStore
) -> ChatState:
    """As `record_answer`. Where the question's turn has ended, by an earlier run or because it stood still for long,
    the question is asked again in its place and answered there."""
    recorded = await record_answer(state, runtime, caller=caller, conversations=conversations)
    if not recorded.get("error"):
        return recorded
    forked = ChatState(**{**state, "turn": _fork_of(state["turn"])})
    try:
        await record_question(forked, runtime, caller=caller, conversations=conversations)
    except (Conflict, NotFound):
        return recorded  # the question or its conversation was deleted: there is nothing to branch from
    again = await record_answer(forked, runtime, caller=caller, conversations=conversations)
    return {"turn": forked["turn"], "error": None, **again}


def _fork_of(turn: Turn) -> Turn:
    fork = turn.copy()
    fork["opening"] = False
    fork["questionId"], fork["answerId"] = str(new_id()), str(new_id())
    fork["replaceMessageId"] = turn["questionId"]
    return fork
