"""LangServe's handlers, made at the first request for a graph: a server that nobody asks for them loads none of it."""

import asyncio
from threading import Lock
from typing import TYPE_CHECKING

from tributary.routes.served.chat import ServedChat
from tributary.routes.served.graph import ServedGraph
from tributary.routes.served.ingest import ServedIngestion
from tributary.routes.served.retrieval import ServedRetrieval
from tributary.routes.served.runs import config_of

if TYPE_CHECKING:
    from langserve import APIHandler

PREFIX = "/graphs"
GRAPHS: tuple[ServedGraph, ...] = (ServedChat(), ServedRetrieval(), ServedIngestion())


_made: dict[str, "APIHandler"] = {}
#: LangServe keeps a register of the models that it makes.
_making = Lock()


async def handler_of(graph: ServedGraph) -> "APIHandler":
    """The graph's, made in a thread: loading LangServe takes longer than the event loop may stand."""
    if graph.path not in _made:
        await asyncio.to_thread(_make, graph)
    return _made[graph.path]


def _make(graph: ServedGraph) -> None:
    from langserve import APIHandler

    with _making:
        if graph.path not in _made:
            _made[graph.path] = APIHandler(
                graph,
                path=f"/{graph.path}",
                prefix=PREFIX,
                config_keys=("configurable",),
                per_req_config_modifier=config_of,
            )
