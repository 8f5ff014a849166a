"""How a turn ran, read from the graph's own task events: nodes with their times, hits before and after the rerank."""

import time
from collections.abc import Mapping
from typing import Any

BRANCHES = ("search_text", "search_images", "search_graph", "read_map")


class TraceRecorder:
    """Collects a trace from LangGraph's `tasks` stream. Times are milliseconds since the turn began."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._nodes: dict[str, dict[str, Any]] = {}
        self._hits: list[Any] = []
        self._found: dict[str, Any] = {}

    def record(self, task: Mapping[str, Any]) -> tuple[str, str] | None:
        """Takes one task event in; the node's name and its new state, `started`, `finished` or `failed`. None for
        events of the graph's own bookkeeping."""
        name, now = str(task["name"]), round((time.monotonic() - self._began) * 1000, 1)
        if name.startswith("__"):
            return None
        if "triggers" in task:
            self._nodes[task["id"]] = {"node": name, "started": now, **_place(task.get("input"))}
            return name, "started"
        result = _as_mapping(task.get("result"))
        # What the user should see of a failure is a value, and no error of the node.
        state = "failed" if task.get("error") or result.get("error") else "finished"
        self._nodes.setdefault(task["id"], {"node": name, "started": now}).update(finished=now, state=state)
        self._keep(name, result)
        return name, state

    def _keep(self, name: str, result: Mapping[str, Any]) -> None:
        if name in BRANCHES:
            self._hits.extend(result.get("hits") or [])
        for channel in ("plan", "ranked", "facts", "degraded", "context", "deliveries"):
            if result.get(channel):
                self._found[channel] = result[channel]

    def trace(self) -> dict[str, Any]:
        """The trace as it is kept: JSON-able."""
        return {"nodes": list(self._nodes.values()), "hits": self._hits, **self._found}


def _place(task_input: Any) -> dict[str, Any]:
    """Which knowledge base a branch searched."""
    if isinstance(task_input, Mapping) and isinstance(task_input.get("knowledgeBase"), Mapping):
        return {"knowledgeBaseId": task_input["knowledgeBase"]["id"]}
    return {}


def _as_mapping(result: Any) -> Mapping[str, Any]:
    if isinstance(result, Mapping):
        return result
    return dict(result) if isinstance(result, list | tuple) else {}
