"""How served runs are told, and how their streams end, whatever becomes of them."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any, cast
from uuid import uuid4

import pytest
from langchain_core.runnables.config import var_child_runnable_config

from tributary.domain.errors import DependencyUnavailable, Problem
from tributary.domain.identity import Caller, Scope
from tributary.routes.served.graph import Chunks
from tributary.routes.served.runs import Run, apart
from tributary.routes.served.schemas import GivenModel, flat
from tributary.routes.served.streams import ended_well
from tributary.routes.served.telling import Tell, told_by
from tributary.services import Services
from tributary.turns.events import TurnEvent


@pytest.fixture
def run() -> Run:
    return Run(Caller(uuid4(), uuid4(), Scope.FULL), cast("Services", None))


async def langserve(*names: str, bug: Exception | None = None) -> AsyncIterator[dict[str, Any]]:
    """Events as LangServe's generators yield them: behind an error of its own comes the exception."""
    for name in names:
        yield {"event": name, "data": "{}"}
    if bug is not None:
        yield {"event": "error", "data": '{"status_code": 500, "message": "Internal Server Error"}'}
        raise bug


async def test_a_stream_without_failure_ends_as_langserve_ends_it(run: Run) -> None:
    events = [each async for each in ended_well(langserve("metadata", "data", "end"), run)]
    assert [each["event"] for each in events] == ["metadata", "data", "end"]


async def test_a_failure_stands_in_place_of_the_end(run: Run) -> None:
    run.failure = DependencyUnavailable("PostgreSQL is away").problem()
    *_, last = [each async for each in ended_well(langserve("data", "end"), run)]
    told = json.loads(last["data"])
    assert (last["event"], told["code"], told["status_code"]) == ("error", "dependency_unavailable", 503)
    assert told["message"] == "PostgreSQL is away"


async def test_a_bug_in_a_stream_is_logged_and_told_as_one_typed_event(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        events = [each async for each in ended_well(langserve("data", bug=KeyError("secret")), run)]
    assert [each["event"] for each in events] == ["data", "error"]
    told = json.loads(events[-1]["data"])
    assert (told["code"], told["status_code"]) == ("internal_error", 500)
    assert "secret" not in events[-1]["data"]
    assert isinstance(cast("Any", caplog.records[0].exc_info)[1], KeyError)


async def test_work_tells_what_it_does_and_what_came_of_it() -> None:
    async def work(tell: Tell) -> str:
        tell("status", 1)
        await asyncio.sleep(0)
        tell("status", 2)
        return "result"

    events = [(each["event"], each["data"]) async for each in told_by(work)]
    assert events == [("status", 1), ("status", 2), ("done", "result")]


@pytest.mark.parametrize(
    ("error", "code"),
    [(DependencyUnavailable("away"), "dependency_unavailable"), (ZeroDivisionError("secret"), "internal_error")],
)
async def test_work_that_fails_ends_with_a_problem(error: Exception, code: str) -> None:
    async def work(_: Tell) -> None:
        raise error

    [last] = [each async for each in told_by(work)]
    assert (last["event"], last["data"]["code"]) == ("error", code)
    assert "secret" not in last["data"]["detail"]


async def test_work_that_nobody_listens_to_is_called_off() -> None:
    ended = asyncio.Event()

    async def work(tell: Tell) -> None:
        tell("status", 1)
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    events = told_by(work)
    await anext(events)
    await cast("Any", events).aclose()
    assert ended.is_set()


def test_a_graph_that_is_started_apart_knows_no_callbacks_of_the_run() -> None:
    token = var_child_runnable_config.set({"tags": ["the client's"]})
    try:
        assert apart(var_child_runnable_config.get) is None
        assert var_child_runnable_config.get() == {"tags": ["the client's"]}
    finally:
        var_child_runnable_config.reset(token)


@pytest.mark.parametrize(("status", "failed"), [(404, False), (429, False), (500, True), (503, True)])
def test_refusals_are_chunks_and_failures_are_kept_for_the_end(run: Run, status: int, failed: bool) -> None:
    problem = Problem(type="t", title="t", status=status, code="c", detail="d")
    chunk = Chunks().of(TurnEvent(event="error", data=problem), run)
    assert (chunk is None, run.failure == problem) == (failed, failed)


def test_a_failure_stands_in_a_log_as_well(run: Run) -> None:
    run.logged = True
    problem = Problem(type="t", title="t", status=502, code="c", detail="d")
    assert Chunks().of(TurnEvent(event="error", data=problem), run) == {"error": problem} == {"error": run.failure}


def test_the_schema_that_is_shown_has_no_null_and_no_references() -> None:
    class Sample(GivenModel[dict[str, int | None]]):
        """A sample."""

    shown = Sample.model_json_schema()
    assert shown["additionalProperties"] == {"type": "integer"}
    assert flat(list[Problem])["items"]["properties"]["status"] == {"title": "Status", "type": "integer"}
