"""A chat turn: validate → record, route, enhance, check → retrieve → compose → invoke → record the answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph

from graphs.observed import ObservedGraph
from graphs.ports import ChatPorts
from graphs.retrieval import RETRY, build_retrieval_graph
from graphs.stepping import steppable
from nodes.chat.capability import check_capabilities
from nodes.chat.compose import compose_context
from nodes.chat.forks import invoke_metered, record_answer_or_branch, record_question_once
from nodes.chat.invoke import invoke_model
from nodes.chat.record import record_answer, record_question
from nodes.chat.route import enhance_query, route_attachments
from nodes.chat.state import ChatInput, ChatOutput, ChatState, Context, VisibleState
from nodes.chat.validate import validate_attachments
from nodes.retrieval.sharing import QuestionSearch

Builder = StateGraph[ChatState, Context, ChatInput, ChatOutput]

#: What can be prepared side by side once the turn is known to be sound.
PREPARATIONS = ("record_question", "route_attachments", "enhance_query", "check_capabilities")


def choose_after_validation(state: ChatState) -> list[str]:
    """A refused turn ends here, with nothing stored."""
    return [END] if state.get("error") else list(PREPARATIONS)


def build_chat_graph(ports: ChatPorts, *, stepped: bool = False, nodes: Mapping[str, Any] | None = None) -> Builder:
    """Input: SPEC §2's body with the bot's id. Output: the answer of SPEC §5, or the refusal. `stepped` is for people
    who look into runs: they see all of the state, stop within the retrieval too, and run a turn again from any of its
    checkpoints, which makes a branch of the conversation. `nodes` stand in the place of those of the same names."""
    retrieval = ports.retrieval
    caller, conversations = retrieval.caller, ports.conversations
    output: Any = VisibleState if stepped else ChatOutput
    builder: Builder = ObservedGraph(
        "chat", ChatState, context_schema=Context, input_schema=ChatInput, output_schema=output, nodes=nodes
    )
    builder.add_node(
        "validate_attachments",
        partial(
            validate_attachments,
            caller=caller,
            bots=ports.bots,
            conversations=conversations,
            attachments=ports.attachments,
            budget=ports.budget,
        ),
        retry_policy=RETRY,
    )
    question, answer = (record_question_once, record_answer_or_branch) if stepped else (record_question, record_answer)
    builder.add_node("record_question", partial(question, caller=caller, conversations=conversations))
    builder.add_node("route_attachments", route_attachments)
    questions = QuestionSearch(retrieval.search, retrieval.queries)
    builder.add_node(
        "enhance_query", partial(enhance_query, caller=caller, conversations=conversations, questions=questions)
    )
    builder.add_node("check_capabilities", partial(check_capabilities, models=ports.models))
    # Nothing goes on from the middle of a retrieval but people who step through it.
    found = build_retrieval_graph(retrieval, questions, stepped=stepped, nodes=nodes).compile(
        checkpointer=None if stepped else False
    )
    builder.add_node("retrieve", steppable(found) if stepped else found)
    builder.add_node(
        "compose_context", partial(compose_context, caller=caller, knowledge=retrieval.knowledge, models=ports.models)
    )
    invoke = partial(
        invoke_model,
        caller=caller,
        conversations=conversations,
        blobs=retrieval.blobs,
        pictures=ports.pictures,
        models=ports.models,
        stops=ports.stops,
    )
    builder.add_node("invoke_model", partial(invoke_metered, invoke=invoke, meter=ports.meter) if stepped else invoke)
    builder.add_node("record_answer", partial(answer, caller=caller, conversations=conversations))

    builder.add_edge(START, "validate_attachments")
    builder.add_conditional_edges("validate_attachments", choose_after_validation, [*PREPARATIONS, END])
    # All four are one superstep, and meet before retrieval begins: the question is stored before a model is asked. (A
    # joined edge would do the same, but LangGraph's server does not read its channel back from a checkpoint.)
    for preparation in PREPARATIONS:
        builder.add_edge(preparation, "retrieve")
    builder.add_edge("retrieve", "compose_context")
    builder.add_edge("compose_context", "invoke_model")
    builder.add_edge("invoke_model", "record_answer")
    builder.add_edge("record_answer", END)
    return builder
