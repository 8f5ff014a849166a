"""What every store of checkpoints promises, one fact a test."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Send
from typing_extensions import TypedDict

from stores.postgres.checkpoints import Checkpoints
from stores.protocols.checkpoints import CheckpointStore
from tests.support.chat_worlds import ChatWorld
from tributary.domain.conversations import Role
from tributary.domain.errors import DependencyUnavailable

pytest_plugins = ["tests.support.chat_fixtures"]


class Notes(TypedDict, total=False):
    said: str
    kept: Any


def config() -> RunnableConfig:
    return {"configurable": {"thread_id": f"{uuid4()}:{uuid4()}"}}


def notebook(checkpoints: CheckpointStore) -> "CompiledStateGraph[Notes, None, Notes, Notes]":
    """A graph that adds what is said to what is kept, on a saver of its own."""

    async def keep(state: Notes) -> Notes:
        return {"kept": [*state.get("kept", []), state["said"]]}

    graph = StateGraph(Notes)
    graph.add_node("keep", keep)
    graph.add_edge(START, "keep")
    graph.add_edge("keep", END)
    return graph.compile(checkpointer=checkpoints.saver())


async def test_state_that_one_saver_wrote_another_reads(chat: ChatWorld) -> None:
    thread = config()
    await notebook(chat.checkpoints).ainvoke({"said": "ein Fluß"}, thread)
    output = await notebook(chat.checkpoints).ainvoke({"said": "“zwei”"}, thread)
    assert output["kept"] == ["ein Fluß", "“zwei”"]
    assert (await notebook(chat.checkpoints).aget_state(thread)).values["kept"] == ["ein Fluß", "“zwei”"]


async def test_threads_know_nothing_of_each_other(chat: ChatWorld) -> None:
    await notebook(chat.checkpoints).ainvoke({"said": "one"}, config())
    output = await notebook(chat.checkpoints).ainvoke({"said": "two"}, config())
    assert output["kept"] == ["two"]


async def test_a_deleted_thread_begins_anew(chat: ChatWorld) -> None:
    thread = config()
    await notebook(chat.checkpoints).ainvoke({"said": "one"}, thread)
    await chat.checkpoints.saver().adelete_thread(thread["configurable"]["thread_id"])
    assert (await notebook(chat.checkpoints).ainvoke({"said": "two"}, thread))["kept"] == ["two"]


async def test_the_steps_of_a_thread_are_listed_newest_first(chat: ChatWorld) -> None:
    thread = config()
    await notebook(chat.checkpoints).ainvoke({"said": "one"}, thread)
    steps = [each.metadata["step"] async for each in chat.checkpoints.saver().alist(thread)]
    assert steps == sorted(steps, reverse=True)
    assert len(steps) > 1


async def test_many_turns_at_once_keep_their_states_apart(chat: ChatWorld) -> None:
    threads = [config() for _ in range(12)]
    outputs = await asyncio.gather(
        *(notebook(chat.checkpoints).ainvoke({"said": str(number)}, thread) for number, thread in enumerate(threads))
    )
    assert [output["kept"] for output in outputs] == [[str(number)] for number in range(12)]


@dataclass
class Parcel:
    content: str


@pytest.mark.parametrize(
    "value",
    [Parcel("x"), [{"deep": (Parcel("x"),)}], {Role.USER: 1}, np.float32(0.5), uuid4(), datetime.now(UTC), frozenset()],
    ids=lambda value: type(value).__name__,
)
async def test_a_value_that_is_not_plain_is_refused_when_it_is_written(chat: ChatWorld, value: object) -> None:
    async def keep(state: Notes) -> Notes:
        return {"kept": value}

    graph = StateGraph(Notes)
    graph.add_node("keep", keep)
    graph.add_edge(START, "keep")
    with pytest.raises(TypeError, match="plain values"):
        await graph.compile(checkpointer=chat.checkpoints.saver()).ainvoke({"said": ""}, config())


@pytest.mark.parametrize("value", [None, True, 1, 0.5, "ß", b"\x00", [1, "a", None], {"a": [{"b": 0.1}]}])
async def test_plain_values_come_back_as_they_were(chat: ChatWorld, value: object) -> None:
    thread = config()

    async def keep(state: Notes) -> Notes:
        return {"kept": value}

    graph = StateGraph(Notes)
    graph.add_node("keep", keep)
    graph.add_edge(START, "keep")
    await graph.compile(checkpointer=chat.checkpoints.saver()).ainvoke({"said": ""}, thread)
    assert (await notebook(chat.checkpoints).aget_state(thread)).values["kept"] == value


async def test_what_langgraph_itself_writes_is_taken(chat: ChatWorld) -> None:
    """Fan-outs are written as `Send`, and the error of a node that failed as its exception."""

    async def fail(state: Notes) -> Notes:
        raise LookupError("lost")

    graph = StateGraph(Notes)
    graph.add_node("fail", fail)
    graph.add_conditional_edges(START, lambda state: [Send("fail", {"said": "x"})], ["fail"])
    with pytest.raises(LookupError):
        await graph.compile(checkpointer=chat.checkpoints.saver()).ainvoke({"said": ""}, config())


async def test_an_edge_that_waits_for_several_nodes_is_kept(chat: ChatWorld) -> None:
    async def keep(state: Notes) -> Notes:
        return {}

    async def join(state: Notes) -> Notes:
        return {"kept": "joined"}

    graph = StateGraph(Notes)
    for name in ("one", "two"):
        graph.add_node(name, keep)
        graph.add_edge(START, name)
    graph.add_node("join", join)
    graph.add_edge(["one", "two"], "join")
    output = await graph.compile(checkpointer=chat.checkpoints.saver()).ainvoke({"said": ""}, config())
    assert output["kept"] == "joined"


async def test_a_type_that_somebody_put_into_the_database_is_not_made(chat: ChatWorld) -> None:
    serializer = chat.checkpoints.saver().serde
    smuggled = JsonPlusSerializer(allowed_msgpack_modules=True).dumps_typed({"kept": Parcel("x")})
    assert serializer.loads_typed(smuggled) == {"kept": {"content": "x"}}


async def test_checkpoints_without_a_server_are_a_dependency_that_is_missing(chat_dsn: str) -> None:
    checkpoints = Checkpoints(chat_dsn, role=None, pool_size=1)
    await checkpoints.open()
    graph = notebook(checkpoints)
    await checkpoints.close()
    with pytest.raises(DependencyUnavailable):
        await graph.ainvoke({"said": "one"}, config())
