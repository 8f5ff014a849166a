"""Graphs whose nodes operators see: each try is timed, counted, and a span where traces are sent."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any, Self

from langgraph.graph import StateGraph
from langgraph.typing import ContextT, InputT, OutputT, StateT

from tributary.telemetry.work import node_at_work


class ObservedGraph(StateGraph[StateT, ContextT, InputT, OutputT]):
    """A `StateGraph` of that name. A graph that is a node of it observes its own nodes. `nodes` are put in the place of
    those of the same names, under their policies."""

    def __init__(
        self, name: str, state_schema: type[StateT], *, nodes: Mapping[str, Any] | None = None, **schemas: Any
    ) -> None:
        super().__init__(state_schema, **schemas)
        self._name = name
        self._swapped = nodes or {}

    def add_node(self, node: Any, action: Any = None, **options: Any) -> Self:
        """As `StateGraph` takes it, by name. What is no coroutine function is left as it is."""
        action = self._swapped.get(node, action)
        watched = observed(self._name, node, action) if iscoroutinefunction(action) else action
        return super().add_node(node, watched, **options)


def observed(graph: str, node: str, action: Callable[..., Any]) -> Any:
    """The action of a node, watched. Its signature stays what LangGraph reads."""

    @wraps(action)
    async def run(*arguments: Any, **named: Any) -> Any:
        with node_at_work(graph, node):
            return await action(*arguments, **named)

    return run
