"""Graphs within graphs, held between any two nodes; and nodes of one's own."""

from typing import Annotated, Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from graphs.observed import ObservedGraph
from graphs.stepping import SteppableGraph, steppable
from nodes.retrieval.state import RetrievalState, gather_facts, gather_hits


class Steps(TypedDict, total=False):
    steps: Annotated[list[str], lambda before, more: before + more]


def step(name: str) -> Any:
    async def run(_: Steps) -> Steps:
        return {"steps": [name]}

    return run


def chained(*nodes: tuple[str, Any], swapped: Any = None) -> StateGraph[Any, Any, Any, Any]:
    builder: Any = ObservedGraph("test", Steps, nodes=swapped)
    for (name, action), before in zip(nodes, [START, *(name for name, _ in nodes)], strict=False):
        builder.add_node(name, action)
        builder.add_edge(before, name)
    builder.add_edge(nodes[-1][0], END)
    built: StateGraph[Any, Any, Any, Any] = builder
    return built


@pytest.fixture
def graph() -> SteppableGraph[Any, Any, Any, Any]:
    inner = steppable(chained(("b", step("b")), ("c", step("c"))).compile())
    return steppable(
        chained(("a", step("a")), ("inner", inner), ("d", step("d"))).compile(checkpointer=InMemorySaver())
    )


async def stops(graph: Any, **interrupts: Any) -> list[str]:
    """Where the runs stand, in the innermost graph, until the end."""
    config: Any = {"configurable": {"thread_id": "t"}}
    given: Any = {"steps": []}
    found: list[str] = []
    while True:
        await graph.ainvoke(given, config, **interrupts)
        given = None
        state = await graph.aget_state(config, subgraphs=True)
        if not state.next:
            return found
        inner = state.tasks[0].state
        found.append((inner.next if inner and inner.next else state.next)[0])


async def test_runs_are_held_before_nodes_of_inner_graphs(graph: Any) -> None:
    assert await stops(graph, interrupt_before=["c", "d"]) == ["c", "d"]


async def test_runs_are_held_behind_nodes_of_inner_graphs(graph: Any) -> None:
    assert await stops(graph, interrupt_after=["a", "b"]) == ["inner", "c"]


async def test_runs_are_held_before_every_node(graph: Any) -> None:
    assert await stops(graph, interrupt_before="*") == ["a", "inner", "b", "c", "d"]


async def test_a_run_without_interrupts_is_not_held_by_those_of_another(graph: Any) -> None:
    assert await stops(graph, interrupt_before=["c"]) == ["c"]
    result = await graph.ainvoke({"steps": []}, {"configurable": {"thread_id": "other"}})
    assert result["steps"][-1] == "d"


async def test_a_graph_is_shown_as_text_and_asks_nobody(graph: Any) -> None:
    shown = graph._repr_mimebundle_()
    assert set(shown) == {"text/plain", "text/markdown"}
    assert "inner" in shown["text/markdown"]


async def test_a_node_of_ones_own_stands_in_the_place_of_ours() -> None:
    swapped = chained(("a", step("a")), ("b", step("b")), swapped={"b": step("mine")}).compile()
    assert (await swapped.ainvoke({"steps": []}))["steps"] == ["a", "mine"]


def hit(chunk: str, vector: float, *branches: str) -> Any:
    return {"chunkId": chunk, "vector": vector, "branches": list(branches)}


def test_hits_that_come_back_edited_take_the_place_of_what_was_there() -> None:
    found = [hit("a", 0.9, "text"), hit("b", 0.5, "text"), hit("a", 0.9, "graph")]
    edited = [hit("b", 1.0, "text"), hit("c", 0.2, "text")]
    assert gather_hits(found, edited) == [hit("a", 0.9, "text"), edited[0], hit("a", 0.9, "graph"), edited[1]]


def test_facts_that_come_again_are_kept_once() -> None:
    fact: Any = {"entities": [], "relations": []}
    other: Any = {"entities": [{"name": "x"}], "relations": []}
    assert gather_facts([fact], [fact, other]) == [fact, other]
    assert RetrievalState.__annotations__["hits"]
