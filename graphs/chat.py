"""A chat turn: validate → record, route, enhance, check → retrieve → compose → invoke → record the answer."""

from functools import partial

from langgraph.graph import END, START, StateGraph

from graphs.observed import ObservedGraph
from graphs.ports import ChatPorts
from graphs.retrieval import RETRY, build_retrieval_graph
from nodes.chat.capability import check_capabilities
from nodes.chat.compose import compose_context
from nodes.chat.forks import record_answer_or_branch, record_question_once
from nodes.chat.invoke import invoke_model
from nodes.chat.record import record_answer, record_question
from nodes.chat.route import enhance_query, route_attachments
from nodes.chat.state import ChatInput, ChatOutput, ChatState, Context
from nodes.chat.validate import validate_attachments

Builder = StateGraph[ChatState, Context, ChatInput, ChatOutput]

#: What can be prepared side by side once the turn is known to be sound.
PREPARATIONS = ("record_question", "route_attachments", "enhance_query", "check_capabilities")


def choose_after_validation(state: ChatState) -> list[str]:
    """A refused turn ends here, with nothing stored."""
    return [END] if state.get("error") else list(PREPARATIONS)


def build_chat_graph(ports: ChatPorts, *, forks: bool = False) -> Builder:
    """Input: SPEC §2's body with the bot's id. Output: the answer of SPEC §5, or the refusal. With `forks` a turn can
    be run again from any of its checkpoints, and becomes a branch of its conversation."""
    retrieval = ports.retrieval
    caller, conversations = retrieval.caller, ports.conversations
    builder: Builder = ObservedGraph(
        "chat", ChatState, context_schema=Context, input_schema=ChatInput, output_schema=ChatOutput
    )
    builder.add_node(
        "validate_attachments",
        partial(
            validate_attachments,
            caller=caller,
            bots=ports.bots,
            conversations=conversations,
            attachments=ports.attachments,
            knowledge=retrieval.knowledge,
            budget=ports.budget,
        ),
        retry_policy=RETRY,
    )
    question, answer = (record_question_once, record_answer_or_branch) if forks else (record_question, record_answer)
    builder.add_node("record_question", partial(question, caller=caller, conversations=conversations))
    builder.add_node("route_attachments", route_attachments)
    builder.add_node("enhance_query", partial(enhance_query, caller=caller, conversations=conversations))
    builder.add_node("check_capabilities", partial(check_capabilities, models=ports.models))
    builder.add_node("retrieve", build_retrieval_graph(retrieval).compile())
    builder.add_node(
        "compose_context", partial(compose_context, caller=caller, knowledge=retrieval.knowledge, models=ports.models)
    )
    builder.add_node(
        "invoke_model",
        partial(
            invoke_model,
            caller=caller,
            conversations=conversations,
            blobs=retrieval.blobs,
            pictures=ports.pictures,
            models=ports.models,
            stops=ports.stops,
        ),
    )
    builder.add_node("record_answer", partial(answer, caller=caller, conversations=conversations))

    builder.add_edge(START, "validate_attachments")
    builder.add_conditional_edges("validate_attachments", choose_after_validation, [*PREPARATIONS, END])
    # The question is stored before anything is asked of a model, and all four meet before retrieval begins.
    builder.add_edge(list(PREPARATIONS), "retrieve")
    builder.add_edge("retrieve", "compose_context")
    builder.add_edge("compose_context", "invoke_model")
    builder.add_edge("invoke_model", "record_answer")
    builder.add_edge("record_answer", END)
    return builder
