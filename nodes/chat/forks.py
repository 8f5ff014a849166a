"""The nodes of a turn that may be run again from one of its checkpoints: what it gives a second time is a branch of the
conversation, and the first answer stays."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph.runtime import Runtime

from nodes.chat.record import record_answer, record_question
from nodes.chat.state import CallerOf, ChatState, Context, Turn
from stores.protocols.conversations import TurnStore
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id
from tributary.models.metering import Meter, metered

Step = Callable[[ChatState, Runtime[Context]], Awaitable[ChatState]]


async def invoke_metered(
    state: ChatState, runtime: Runtime[Context], *, invoke: Step, meter: Callable[[], Meter]
) -> ChatState:
    """As `invoke_model`, with a meter of its own: nobody meters a turn that may stand still between two nodes. What it
    costs goes with the state to the node that keeps the bill."""
    with metered(meter()):
        return await invoke(state, runtime)


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
    answering = _with_turn(state, answerId=str(new_id()))  # an earlier run's answer has another id than this one's
    recorded = await record_answer(answering, runtime, caller=caller, conversations=conversations)
    if not recorded.get("error"):
        return {"turn": answering["turn"], **recorded}
    replaced = state["turn"]["questionId"]
    asking = _with_turn(answering, opening=False, questionId=str(new_id()), replaceMessageId=replaced)
    try:
        await record_question(asking, runtime, caller=caller, conversations=conversations)
    except (Conflict, NotFound):
        return recorded  # the question or its conversation was deleted: there is nothing to branch from
    again = await record_answer(asking, runtime, caller=caller, conversations=conversations)
    return {"turn": asking["turn"], "error": None, **again}


def _with_turn(state: ChatState, **changes: Any) -> ChatState:
    changed = state.copy()
    changed["turn"] = cast(Turn, {**state["turn"], **changes})
    return changed
