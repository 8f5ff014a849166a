"""Graphs that people stop between any two nodes, those of the graphs within them included.

LangGraph minds the interrupts of a run in its outermost graph alone. Here they are handed down.
"""

from collections.abc import AsyncIterator, Sequence
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.graph import Graph
from langgraph.graph.state import CompiledStateGraph
from langgraph.typing import ContextT, InputT, OutputT, StateT

_HANDLER = "__error_handler__"
#: Names of nodes, or all of them.
Nodes = Sequence[str] | Literal["*"]


class _Interrupts(NamedTuple):
    before: Nodes | None = None
    after: Nodes | None = None


_inherited: ContextVar[_Interrupts] = ContextVar("interrupts", default=_Interrupts())  # noqa: B039 - it can't be changed


class SteppableGraph(CompiledStateGraph[StateT, ContextT, InputT, OutputT]):
    """A compiled graph that takes the interrupts of the run it is a part of for its own."""

    async def astream(
        self,
        *given: Any,
        interrupt_before: Nodes | None = None,
        interrupt_after: Nodes | None = None,
        **options: Any,
    ) -> AsyncIterator[Any]:
        nodes = _Interrupts(interrupt_before or _inherited.get().before, interrupt_after or _inherited.get().after)
        outer = _inherited.get()
        _inherited.set(nodes)
        try:
            async for chunk in super().astream(
                *given, interrupt_before=nodes.before, interrupt_after=nodes.after, **options
            ):
                yield chunk
                # Whoever reads may take each chunk in a task, and with it in a context, of its own.
                _inherited.set(nodes)
        finally:
            _inherited.set(outer)

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """The drawing, without the nodes that LangGraph keeps error handlers in: nothing leads to them, and a graph
        that has any is not drawn within another."""
        return _without_handlers(super().get_graph(config, xray=xray))

    async def aget_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        return _without_handlers(await super().aget_graph(config, xray=xray))

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """How a notebook shows it: LangGraph's own way asks a server on the network to draw."""
        drawn = self.get_graph(xray=True).draw_mermaid()
        return {"text/plain": repr(self), "text/markdown": f"```mermaid\n{drawn}\n```"}


def _without_handlers(drawn: Graph) -> Graph:
    for node in list(drawn.nodes.values()):
        if node.id.startswith(_HANDLER):
            drawn.remove_node(node)
    return drawn


def steppable(
    graph: CompiledStateGraph[StateT, ContextT, InputT, OutputT],
) -> SteppableGraph[StateT, ContextT, InputT, OutputT]:
    """The same graph, minding the interrupts of runs around it and handing down its own."""
    return SteppableGraph(**vars(graph))
