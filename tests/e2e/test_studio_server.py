"""LangGraph Studio's server on the embedded default, driven by LangGraph's own client: what a person does in Studio."""

import json
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk.client import LangGraphClient

from tests.support.studio import Studio, World, left_behind, make_world, run_studio, wait_until_settled
from tributary.domain.identity import Scope

ASKED = "What is the captain of the ship Aurora called?"
PREPARATIONS = ["check_capabilities", "enhance_query", "record_question", "route_attachments"]
BRANCHES = ["read_map", "search_graph", "search_text"]
STATE_BYTES = 20_000
SECRET = "q7" * 32


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    data = Path(tempfile.mkdtemp(prefix="tributary-studio-"))
    with run_studio(data, TRIBUTARY_ORG="yard") as running:
        yield running
    assert running.process.returncode in {0, -2, 130}, "".join(running.lines[-40:])
    assert not left_behind(running)
    blocked = [line for line in running.lines if "BlockingError" in line]
    assert not blocked, "".join(running.lines)
    assert not any(SECRET in line for line in running.lines), "tokens of attachments stand in no log"
    shutil.rmtree(data)


@pytest.fixture(scope="module")
def world(studio: Studio) -> World:
    return make_world(studio, "yard")


@pytest.fixture(scope="module")
def stranger(studio: Studio) -> World:
    """Another organisation's, under names that are the same."""
    return make_world(studio, "other yard")


@pytest.fixture
async def client(studio: Studio) -> AsyncIterator[LangGraphClient]:
    """Without a key, as Studio comes."""
    async with studio.client() as client:
        yield client


@pytest.fixture
async def others(studio: Studio, stranger: World) -> AsyncIterator[LangGraphClient]:
    async with studio.client(stranger.key) as client:
        yield client


def asking(world: World, message: str = ASKED) -> dict[str, Any]:
    return {"message": message, "botId": world.bot}


async def assistant(client: LangGraphClient, graph: str) -> str:
    [found] = await client.assistants.search(graph_id=graph)
    return found["assistant_id"]


async def thread(client: LangGraphClient) -> str:
    return (await client.threads.create())["thread_id"]


async def stops(client: LangGraphClient, thread_id: str) -> tuple[list[str], dict[str, Any]]:
    """Where the thread stands, in the innermost graph, and the values there."""
    state: Any = await client.threads.get_state(thread_id, subgraphs=True)
    while inner := next((task["state"] for task in state["tasks"] if task["state"] and task["state"]["next"]), None):
        state = inner
    return sorted(state["next"]), state["values"]


async def held_before_the_rerank(client: LangGraphClient, world: World) -> tuple[str, dict[str, Any]]:
    """A thread that stands before the rerank, and the state of the retrieval there."""
    thread_id = await thread(client)
    await client.runs.wait(thread_id, "chat", input=asking(world), interrupt_before=["merge_and_rerank"])
    state: Any = await client.threads.get_state(thread_id, subgraphs=True)
    assert state["next"] == ["retrieve"]
    inner: dict[str, Any] = state["tasks"][0]["state"]
    assert inner["next"] == ["merge_and_rerank"]
    return thread_id, inner


async def test_the_graphs_are_listed_described_and_drawn(client: LangGraphClient) -> None:
    listed = {each["graph_id"]: each for each in await client.assistants.search()}
    assert set(listed) == {"chat", "retrieval", "ingest"}
    assert all(each["description"] for each in listed.values())
    drawn: Any = await client.assistants.get_graph(listed["chat"]["assistant_id"], xray=True)
    names = {each["id"] for each in drawn["nodes"]}
    assert {"validate_attachments", "retrieve:merge_and_rerank", "record_answer"} <= names
    drawn = await client.assistants.get_graph(listed["ingest"]["assistant_id"])
    assert [each["id"] for each in drawn["nodes"]][1:4] == ["claim_document", "parse_document", "split_document"]


async def test_a_form_asks_for_what_a_turn_needs(client: LangGraphClient) -> None:
    schemas: Any = await client.assistants.get_schemas(await assistant(client, "chat"))
    asked = schemas["input_schema"]
    assert asked["required"] == ["message", "botId"]
    assert {name: asked["properties"][name]["type"] for name in asked["required"]} == {
        "message": "string",
        "botId": "string",
    }
    assert "attachments" not in schemas["output_schema"]["properties"], "access tokens are shown to nobody"
    schemas = await client.assistants.get_schemas(await assistant(client, "ingest"))
    assert schemas["input_schema"]["required"] == ["knowledgeBaseId", "documentId"]


async def test_a_turn_runs_node_by_node_and_each_state_can_be_read(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    thread_id = await thread(client)
    await client.runs.wait(thread_id, "chat", input=asking(world), interrupt_before="*")
    stood = []
    while True:
        where, values = await stops(client, thread_id)
        assert len(json.dumps(values)) < STATE_BYTES
        if not where:
            break
        stood.append(where)
        await client.runs.wait(thread_id, "chat", input=None, interrupt_before="*")
    assert [each for each in stood if each != ["retrieve"]] == [
        ["validate_attachments"],
        PREPARATIONS,
        BRANCHES,
        ["merge_and_rerank"],
        ["compose_context"],
        ["invoke_model"],
        ["record_answer"],
    ]
    assert "Meyer" in values["response"]["message"]
    assert values["response"]["sources"][0]["filename"] == "ships.txt"


async def test_a_turn_can_be_held_behind_any_node_too(client: LangGraphClient, studio: Studio, world: World) -> None:
    thread_id = await thread(client)
    held = {"interrupt_after": ["enhance_query", "search_text", "compose_context"]}
    await client.runs.wait(thread_id, "chat", input=asking(world), **held)  # type: ignore[call-overload]
    assert (await stops(client, thread_id))[0] == ["retrieve"]
    await client.runs.wait(thread_id, "chat", input=None, **held)  # type: ignore[call-overload]
    where, values = await stops(client, thread_id)
    assert where == ["merge_and_rerank"]
    assert values["hits"]
    await client.runs.wait(thread_id, "chat", input=None, **held)  # type: ignore[call-overload]
    where, values = await stops(client, thread_id)
    assert where == ["invoke_model"]
    assert "KNOWLEDGE BASE CONTEXT" in values["context"]


async def test_hits_that_are_edited_before_the_rerank_decide_the_answer(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    thread_id, retrieval = await held_before_the_rerank(client, world)
    crane = world.documents["cranes.txt"]
    turned = [
        hit
        | ({"vector": 1.0, "text": 1.0} if hit["documentId"] == crane else {"vector": 0.0, "text": 0.0, "evidence": 0})
        for hit in retrieval["values"]["hits"]
    ]
    await client.threads.update_state(
        thread_id, {"hits": turned}, as_node="search_text", checkpoint=retrieval["checkpoint"]
    )
    answered: Any = await client.runs.wait(thread_id, "chat", input=None)
    assert [source["filename"] for source in answered["sources"]] == ["cranes.txt", "ships.txt"]


async def test_hits_can_be_taken_away(client: LangGraphClient, studio: Studio, world: World) -> None:
    thread_id, retrieval = await held_before_the_rerank(client, world)
    crane = [hit for hit in retrieval["values"]["hits"] if hit["documentId"] == world.documents["cranes.txt"]]
    left: Any = {"hits": {"__overwrite__": crane}, "facts": {"__overwrite__": []}}
    await client.threads.update_state(thread_id, left, as_node="search_text", checkpoint=retrieval["checkpoint"])
    answered: Any = await client.runs.wait(thread_id, "chat", input=None)
    assert [source["filename"] for source in answered["sources"]] == ["cranes.txt"]
    assert "Meyer" not in answered["answer"]


async def test_a_fork_from_an_old_checkpoint_is_a_branch_of_the_conversation(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    thread_id = await thread(client)
    first: Any = await client.runs.wait(thread_id, "chat", input=asking(world))
    history: Any = await client.threads.get_history(thread_id, limit=50)
    before = next(each for each in history if each["next"] == ["validate_attachments"])
    again: Any = await client.runs.wait(thread_id, "chat", input=None, checkpoint=before["checkpoint"])
    assert again["response"]["message"] == first["response"]["message"], "time travel comes to the same"
    late = next(each for each in history if each["next"] == ["invoke_model"])
    forked = await client.threads.update_state(
        thread_id, {"message": "Which colour is the crane painted?"}, checkpoint=late["checkpoint"]
    )
    answered: Any = await client.runs.wait(thread_id, "chat", input=None, checkpoint=forked["checkpoint"])
    assert answered["error"] is None
    assert "green" in answered["response"]["message"]
    with studio.http(world.key) as http:
        kept = http.get(f"/api/conversations/{first['response']['conversationId']}/messages").json()["items"]
    ids = {each["id"] for each in kept}
    assert {answered["response"]["questionId"], answered["response"]["messageId"]} <= ids
    assert first["response"]["questionId"] not in {answered["response"]["questionId"]}


async def test_a_thread_goes_on_with_its_conversation(client: LangGraphClient, studio: Studio, world: World) -> None:
    thread_id = await thread(client)
    first: Any = await client.runs.wait(thread_id, "chat", input=asking(world))
    second: Any = await client.runs.wait(thread_id, "chat", input=asking(world, "Which coal does she carry?"))
    assert second["response"]["conversationId"] == first["response"]["conversationId"]
    with studio.http(world.key) as http:
        kept = http.get(f"/api/conversations/{first['response']['conversationId']}/messages").json()["items"]
    assert [each["role"] for each in kept] == ["user", "assistant"] * 2


async def test_a_turn_is_streamed_in_every_way(client: LangGraphClient, studio: Studio, world: World) -> None:
    modes: Any = ["values", "updates", "messages-tuple", "events", "custom"]
    parts: dict[str, list[Any]] = {}
    async for part in client.runs.stream(
        await thread(client), "chat", input=asking(world), stream_mode=modes, stream_subgraphs=True
    ):
        parts.setdefault(part.event.partition("|")[0], []).append(part.data)
    assert {"values", "updates", "messages", "events", "custom"} <= set(parts)
    assert "error" not in parts
    answer = parts["values"][-1]["answer"]
    told = "".join(each["text"] for each in parts["custom"] if each["type"] == "token")
    assert told == answer
    assert {name for each in parts["updates"] for name in each} >= {"search_text", "merge_and_rerank", "record_answer"}
    assert any(each[0]["content"] for each in parts["messages"])
    assert any(each["event"] == "on_chat_model_stream" for each in parts["events"])
    assert "accessToken" not in json.dumps(parts)


async def test_a_retrieval_runs_alone(client: LangGraphClient, studio: Studio, world: World) -> None:
    plan: Any = {
        "query": "crane",
        "recent": [],
        "knowledgeBases": [{"id": world.base, "name": "Yard", "embedding": "local/multilingual-e5-small"}],
        "images": [],
        "weights": {"vector": 0.6, "text": 0.25, "importance": 0.15},
    }
    found: Any = await client.runs.wait(None, "retrieval", input={"plan": plan})
    assert found["ranked"][0]["documentId"] == world.documents["cranes.txt"]
    assert found["degraded"] == []


async def test_a_document_is_ingested_step_by_step_beside_the_workers(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    document = {"knowledgeBaseId": world.base, "documentId": world.documents["cranes.txt"]}
    thread_id = await thread(client)
    await client.runs.wait(thread_id, "ingest", input=document, interrupt_before=["embed_chunks"])
    where, values = await stops(client, thread_id)
    assert where == ["embed_chunks"]
    assert values["chunkCount"] == 1
    with studio.http(world.key) as http:
        held = http.get(f"/knowledge/kb/{world.base}/documents/{document['documentId']}").json()
        assert held["status"] == "processing", "no worker takes it meanwhile"
        ended: Any = await client.runs.wait(thread_id, "ingest", input=None)
        assert (ended["outcome"], ended["error"]) == ("indexed", None)
        assert {each["status"] for each in wait_until_settled(http, world.base)} == {"ready"}


async def test_a_run_that_is_cancelled_leaves_its_thread_usable(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    thread_id = await thread(client)
    run = await client.runs.create(thread_id, "chat", input=asking(world))
    await client.runs.cancel(thread_id, run["run_id"], wait=True)
    answered: Any = await client.runs.wait(thread_id, "chat", input=asking(world))
    assert "Meyer" in answered["response"]["message"]


async def test_nonsense_in_a_state_fails_its_run_and_nothing_else(
    client: LangGraphClient, studio: Studio, world: World
) -> None:
    thread_id = await thread(client)
    await client.runs.wait(thread_id, "chat", input=asking(world), interrupt_before=["compose_context"])
    nonsense: Any = {"ranked": [{"chunkId": "nonsense"}], "turn": {"model": 7}}
    await client.threads.update_state(thread_id, nonsense)
    failed: Any = await client.runs.wait(thread_id, "chat", input=None, raise_error=False)
    assert "__error__" in failed
    answered: Any = await client.runs.wait(await thread(client), "chat", input=asking(world))
    assert "Meyer" in answered["response"]["message"]


async def test_a_refusal_is_a_value(client: LangGraphClient, world: World, stranger: World) -> None:
    for wrong in ("no id", stranger.bot):
        refused: Any = await client.runs.wait(None, "chat", input=asking(world) | {"botId": wrong})
        assert refused["error"]["code"] == "not_found"


async def test_what_another_organisation_made_is_out_of_reach(
    client: LangGraphClient, others: LangGraphClient, world: World, stranger: World
) -> None:
    own, other = client, others
    thread_id = await thread(own)
    await own.runs.wait(thread_id, "chat", input=asking(world))
    [run] = await own.runs.list(thread_id)
    made = await own.assistants.create("chat", name="mine", metadata={"created_by": "system"})
    await own.store.put_item(["notes"], "secret", {"text": "ours"})

    assert await other.threads.search() == []
    assert (await own.store.get_item(["notes"], "secret"))["value"] == {"text": "ours"}
    assert (await other.store.search_items([]))["items"] == []
    assert made["assistant_id"] not in {each["assistant_id"] for each in await other.assistants.search()}
    reaching: list[Callable[[], Awaitable[object]]] = [
        lambda: other.threads.get(thread_id),
        lambda: other.threads.get_state(thread_id),
        lambda: other.threads.get_history(thread_id),
        lambda: other.threads.update_state(thread_id, {"message": "x"}),
        lambda: other.threads.update(thread_id, metadata={"organisation": "mine now"}),
        lambda: other.runs.get(thread_id, run["run_id"]),
        lambda: other.runs.wait(thread_id, "chat", input=asking(stranger)),
        lambda: other.runs.wait(None, made["assistant_id"], input=asking(stranger)),
        lambda: other.assistants.get(made["assistant_id"]),
        lambda: other.assistants.update(made["assistant_id"], name="theirs"),
        lambda: other.assistants.delete(made["assistant_id"]),
        lambda: other.threads.delete(thread_id),
    ]
    for each in reaching:
        with pytest.raises(httpx.HTTPStatusError) as refused:
            await each()
        assert refused.value.response.status_code == 404
    with pytest.raises(httpx.HTTPStatusError):
        await other.threads.copy(thread_id)
    with pytest.raises(httpx.HTTPStatusError):
        await other.threads.create(thread_id=thread_id, if_exists="do_nothing")
    assert (await own.threads.get(thread_id))["thread_id"] == thread_id


async def test_a_key_says_for_whom_a_run_works(
    client: LangGraphClient, others: LangGraphClient, world: World, stranger: World
) -> None:
    answered: Any = await others.runs.wait(None, "chat", input=asking(stranger))
    assert "Meyer" in answered["response"]["message"]
    given = asking(world) | {"organisation_id": "x"}
    made: Any = await client.threads.create()
    context = {"organisation_id": made["metadata"]["organisation"]}
    refused: Any = await others.runs.wait(None, "chat", input=given, context=context)
    assert refused["error"]["code"] == "not_found", "a context changes nothing about it"


def test_without_a_key_only_the_own_machine_is_let_in(studio: Studio, world: World) -> None:
    with studio.http() as http:
        search = {"url": "/threads/search", "json": {}}
        assert http.post(**search).status_code == 200  # type: ignore[arg-type]
        for headers in (
            {"x-forwarded-for": "192.0.2.1"},
            {"host": "tributary.example"},
            {"origin": "https://example.org"},
            {"authorization": "Bearer tributary_nonsense"},
            {"authorization": "Basic eDp5"},
        ):
            assert http.post(**search, headers=headers).status_code == 401  # type: ignore[arg-type]
        for origin in ("https://smith.langchain.com", "http://localhost:3000"):
            seen = http.post(**search, headers={"origin": origin})  # type: ignore[arg-type]
            assert (seen.status_code, seen.headers["access-control-allow-origin"]) == (200, origin)
        chat_only = studio.key("yard", Scope.CHAT)
        refused = http.post(**search, headers={"authorization": f"Bearer {chat_only}"})  # type: ignore[arg-type]
        assert refused.status_code == 403
        cron = {"assistant_id": "chat", "schedule": "* * * * *", "input": {}}
        assert http.post("/runs/crons", json=cron).status_code in {403, 404, 422}


def test_our_own_routes_are_served_beside_the_graphs(studio: Studio, world: World) -> None:
    with studio.http() as http:
        assert http.get("/healthz").status_code == 200
        assert http.get("/api/bots").status_code == 401, "Studio's way in is none to our routes"
        paths = http.get("/openapi.json").json()["paths"]
        http.get(f"/api/bot/attachments/{world.bot}", params={"token": SECRET})
    assert {"/api/bots", "/threads/{thread_id}/runs/stream"} <= set(paths)
