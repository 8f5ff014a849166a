"""Retrieval: four branches for each linked knowledge base side by side, met by one merge and rerank."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import RetryPolicy, Send

from graphs.observed import ObservedGraph
from graphs.ports import RetrievalPorts
from nodes.chat.state import Context
from nodes.retrieval.branches import degrade, degrade_images, read_map, search_graph, search_images, search_text
from nodes.retrieval.merge import merge_and_rerank
from nodes.retrieval.sharing import QuestionSearch
from nodes.retrieval.state import BranchTask, RetrievalInput, RetrievalOutput, RetrievalState
from tributary.domain.errors import TributaryError
from tributary.domain.retrieval import Branch

Builder = StateGraph[RetrievalState, Context, RetrievalInput, RetrievalOutput]


def is_transient(error: Exception) -> bool:
    """What another try can help: our transient errors, and nothing that is a bug."""
    return isinstance(error, TributaryError) and error.transient


#: Without LangGraph's jitter, which is up to a second whatever the interval: a person waits for this.
RETRY = RetryPolicy(initial_interval=0.1, max_attempts=2, jitter=False, retry_on=is_transient)

#: The share of its time that the graph branch waits for what the text search finds.
PATIENCE = 0.5


def choose_branches(state: RetrievalState) -> Sequence[Send] | str:
    """One task for each knowledge base and branch. The graph branch waits for the pictures when there are any: what
    they find seeds it."""
    plan = state["plan"]
    names = ["search_text", "read_map", "search_images" if plan["images"] else "search_graph"]
    tasks = [Send(name, BranchTask(plan=plan, knowledgeBase=base)) for base in plan["knowledgeBases"] for name in names]
    return tasks or "merge_and_rerank"


def choose_after_branch(state: RetrievalState) -> str:
    """The merge; where there are pictures the graph branch, one step behind the others, leads there for all of them.
    A deferred node waits for the tasks of its own step, not for one that another has just sent."""
    return END if state["plan"]["images"] else "merge_and_rerank"


def build_retrieval_graph(
    ports: RetrievalPorts,
    questions: QuestionSearch | None = None,
    *,
    stepped: bool = False,
    nodes: Mapping[str, Any] | None = None,
) -> Builder:
    """Input: a search plan. Output: the ranked hits, the maps, the graph's facts, and what was left out; `stepped`, for
    people who look into runs, all of the state. `nodes` stand in the place of those of the same names. `questions` is
    given where a graph around this one asks for the same."""
    output: Any = RetrievalState if stepped else RetrievalOutput
    caller, knowledge, search = ports.caller, ports.knowledge, ports.search
    questions = questions or QuestionSearch(search, ports.queries)
    builder: Builder = ObservedGraph(
        "retrieval",
        RetrievalState,
        context_schema=Context,
        input_schema=RetrievalInput,
        output_schema=output,
        nodes=nodes,
    )

    def branch(name: str, node: Any, on_failure: Any, **extra: Any) -> None:
        builder.add_node(
            name,
            node,
            input_schema=BranchTask,
            retry_policy=RETRY,
            timeout=ports.branch_timeout,
            error_handler=on_failure,
            **extra,
        )

    branch(
        "search_text",
        partial(
            search_text,
            caller=caller,
            questions=questions,
            search=search,
            knowledge=knowledge,
            images=ports.images,
        ),
        partial(degrade, Branch.TEXT),
    )
    branch("read_map", partial(read_map, caller=caller, knowledge=knowledge), partial(degrade, Branch.MAP))
    branch(
        "search_graph",
        partial(
            search_graph,
            caller=caller,
            questions=questions,
            graph=ports.graph,
            knowledge=knowledge,
            patience=PATIENCE * ports.branch_timeout,
        ),
        partial(degrade, Branch.GRAPH),
    )
    branch(
        "search_images",
        partial(
            search_images,
            caller=caller,
            questions=questions,
            search=search,
            knowledge=knowledge,
            blobs=ports.blobs,
            images=ports.images,
        ),
        degrade_images,
        destinations=("search_graph",),
    )
    builder.add_node(
        "merge_and_rerank",
        partial(merge_and_rerank, caller=caller, questions=questions, patience=ports.branch_timeout),
        defer=True,
    )
    builder.add_conditional_edges(
        START, choose_branches, ["search_text", "read_map", "search_images", "search_graph", "merge_and_rerank"]
    )
    for name in ("search_text", "read_map"):
        builder.add_conditional_edges(name, choose_after_branch, ["merge_and_rerank", END])
    builder.add_edge("search_graph", "merge_and_rerank")
    builder.add_edge("merge_and_rerank", END)
    return builder
