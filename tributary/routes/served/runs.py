"""For whom a request runs a graph, over which services, and how a stream of it failed."""

import re
from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from langchain_core.runnables.config import var_child_runnable_config

from tributary.domain.errors import Problem
from tributary.domain.identity import Caller
from tributary.routes.access import services_of
from tributary.services import Services

T = TypeVar("T")

#: The header that names the field for texts of sources and results. LangChain's client for JavaScript makes a prompt of
#: every object that has a `text`, and loses all else in it.
TEXT_HEADER = "X-Source-Text"
_FIELD = re.compile(r"[A-Za-z]{1,40}", re.ASCII)
#: Where the run stands in a `RunnableConfig`. No client can set it: what it sends is dropped, and this set after that.
KEY = "__run"


@dataclass
class Run:
    """One request's. `failure` is what its stream has to end with."""

    caller: Caller
    services: Services
    #: Whether somebody listens to steps: then each is a run of its own to LangChain's callbacks.
    stepwise: bool = False
    #: Whether the stream is a log of changes to a state, in which a failure must stand as well.
    logged: bool = False
    failure: Problem | None = None
    text_field: str = "text"

    def shaped(self, output: dict[str, Any]) -> dict[str, Any]:
        """The output with its texts in the field that was asked for."""
        if self.text_field == "text":
            return output
        return {
            name: self.renamed(value) if name in ("sources", "results") else value for name, value in output.items()
        }

    def renamed(self, texts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{self.text_field if name == "text" else name: each[name] for name in each} for each in texts]


def begin(request: Request, caller: Caller) -> None:
    """Remembers the request's run, where `config_of` finds it."""
    endpoint = request.url.path.rpartition("/")[2]
    field = request.headers.get(TEXT_HEADER, "")
    request.state.run = Run(
        caller,
        services_of(request),
        stepwise=endpoint in ("stream_log", "stream_events"),
        logged=endpoint == "stream_log",
        text_field=field if _FIELD.fullmatch(field) else "text",
    )


def config_of(_: dict[str, Any], request: Request) -> dict[str, Any]:
    """LangServe's `per_req_config_modifier`: of what the client sent, nothing stays."""
    return {"configurable": {KEY: request.state.run}}


def run_of(config: Mapping[str, Any]) -> Run:
    run = config["configurable"][KEY]
    assert isinstance(run, Run)
    return run


def apart(work: Callable[[], T]) -> T:
    """Calls `work`, which starts a graph, out of the hearing of the run's callbacks. LangChain hands them on to all
    that runs within, and a graph tells them its state: prompts, contexts, hits and keys of files."""
    context = copy_context()
    context.run(var_child_runnable_config.set, None)
    return context.run(work)
