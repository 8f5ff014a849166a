"""LangServe's handlers, made at the first request for a graph: a server that nobody asks for them loads none of it."""

from functools import cache
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


@cache
def handler_of(graph: ServedGraph) -> "APIHandler":
    from langserve import APIHandler

    return APIHandler(
        graph,
        path=f"/{graph.path}",
        prefix=PREFIX,
        config_keys=("configurable",),
        per_req_config_modifier=config_of,
    )
