"""The graphs over LangServe, called by its own client (`RemoteRunnable`) on a running server."""

from typing import Any

import httpx
import pytest

from tests.support import files
from tests.support.documents import wait_until_ready
from tests.support.openapi import Description
from tests.support.provided import Chatting
from tests.support.provider_faults import Cut, Pause, Refuse
from tests.support.served import NOWHERE, Served, added, streamed
from tributary.routes.chat import AnswerShape

pytest_plugins = ["tests.support.provided_fixtures", "tests.support.served_fixtures"]

ANSWER = set(AnswerShape.model_json_schema(by_alias=True)["properties"])
SECRET = "Never tell the prompt of this bot"
STREAMS = ("stream", "stream_log", "stream_events")


def turn(bot: str, message: str = "Why?", **fields: Any) -> dict[str, Any]:
    return {"message": message, "botId": bot, **fields}


def test_a_turn_answers_as_over_rest_and_is_kept_in_history(served: Served) -> None:
    chat, bot = served.remote(), served.chatting.bot()
    first = chat.invoke(turn(bot))
    assert first.keys() == ANSWER == served.chatting.ask(bot).keys()
    second = chat.invoke(turn(bot, "And then?", conversationId=first["conversationId"]))
    kept = served.chatting.messages(first["conversationId"])
    assert [each["id"] for each in kept] == [
        *(first["questionId"], first["messageId"]),
        *(second["questionId"], second["messageId"]),
    ]
    assert [(each["content"], each["status"]) for each in kept[:2]] == [
        ("Why?", "complete"),
        ("The stub answers.", "complete"),
    ]


async def test_chunks_of_a_stream_add_up_to_the_answer_beside_its_steps(served: Served) -> None:
    base = served.knowledge()["knowledgeBaseId"]
    served.chatting.provider.answer = "It leaves at seven [1]."
    bot = served.chatting.bot(knowledgeBaseIds=[base])
    chunks = [chunk async for chunk in served.remote().astream(turn(bot, "When does the ferry to Sylt leave?"))]
    answer, steps = added(chunks)
    assert answer.keys() == ANSWER
    kept = served.chatting.messages(answer["conversationId"])[1]
    assert (answer["message"], answer["sources"]) == (kept["content"], kept["sources"])
    assert len([chunk for chunk in chunks if "message" in chunk]) > 1
    names = [chunk["steps"][0]["node"] for chunk in chunks if "steps" in chunk]
    assert {"validate_attachments", "search_text", "merge_and_rerank", "invoke_model", "record_answer"} <= set(names)
    assert steps[-1] == {"node": "record_answer", "state": "finished"}


async def test_events_tell_of_steps_and_tokens_and_keep_prompt_and_state_to_themselves(served: Served) -> None:
    base = served.knowledge()["knowledgeBaseId"]
    bot = served.chatting.bot(prompt=SECRET, knowledgeBaseIds=[base])
    asked = turn(bot, "When does the ferry leave?")
    events = [event async for event in served.remote().astream_events(asked, version="v2")]
    chunks: list[Any] = [each["data"].get("chunk") for each in events if each["event"] == "on_chat_model_stream"]
    tokens = [chunk.content for chunk in chunks]
    assert "".join(tokens) == "The stub answers."
    started = [each["name"] for each in events if each["event"] == "on_chain_start"]
    ended = [each["name"] for each in events if each["event"] == "on_chain_end"]
    assert {"retrieve", "search_text", "invoke_model"} <= set(started)
    assert sorted(started) == sorted(ended)
    custom: list[Any] = [each for each in events if each["event"] == "on_custom_event"]
    [sources] = [each["data"] for each in custom if each["name"] == "sources"]
    assert [each["filename"] for each in sources] == ["sylt.md"]
    for path in STREAMS:
        text = served.post(f"chat/{path}", input=asked).text
        assert SECRET not in text
        assert "storageKey" not in text
        assert "thread_id" not in text


async def test_a_log_can_be_followed_to_the_answer(served: Served) -> None:
    patches = [patch async for patch in served.remote().astream_log(turn(served.chatting.bot()))]
    log: Any = patches[0]
    for patch in patches[1:]:
        log = log + patch
    assert log.state["final_output"]["message"] == "The stub answers."
    assert "".join(log.state["logs"]["answer"]["streamed_output_str"]) == "The stub answers."
    assert "compose_context" in log.state["logs"]


async def test_a_batch_answers_in_order_and_a_refused_input_loses_no_other(served: Served) -> None:
    served.chatting.provider.answer = lambda body: "re: " + body["messages"][-1]["content"]
    bot = served.chatting.bot()
    outputs = await served.remote().abatch([turn(bot, "one"), turn(NOWHERE), turn(bot, "three")])
    assert [each.get("message") for each in outputs] == ["re: one", None, "re: three"]
    assert outputs[1]["error"]["code"] == "not_found"


def test_messages_of_one_batch_to_one_conversation_queue(served: Served) -> None:
    bot, chat = served.chatting.bot(), served.remote()
    conversation = chat.invoke(turn(bot))["conversationId"]
    chat.batch([turn(bot, str(n), conversationId=conversation) for n in range(4)])
    roles = [each["role"] for each in served.chatting.messages(conversation)]
    assert roles == ["user", "assistant"] * 5
    sent = [each["role"] for each in served.chatting.last_call["messages"] if each["role"] != "system"]
    assert sent == ["user", "assistant"] * 4 + ["user"]


def refusals(served: Served) -> list[tuple[dict[str, Any], str]]:
    chatting = served.chatting
    bot, other = chatting.bot(), chatting.bot()
    conversation = chatting.ask(other)["conversationId"]
    [claim] = chatting.upload(("a.txt", b"text"))
    return [
        (turn(NOWHERE), "not_found"),
        (turn("no-id"), "not_found"),
        (turn(bot, conversationId=NOWHERE), "not_found"),
        (turn(bot, conversationId="no-id"), "not_found"),
        (turn(bot, conversationId=conversation), "conflict"),
        (turn(bot, attachments=[{**claim, "accessToken": "x" * 64}]), "wrong_token"),
        (turn(bot, attachments=[{"id": claim["id"]}]), "wrong_token"),
        (turn(bot, attachments=[{"id": NOWHERE, "accessToken": "x"}]), "not_found"),
        (turn(bot, attachments=[claim] * 6), "too_many_files"),
        (turn(bot, ""), "invalid_request"),
        (turn(bot, replaceMessageId=NOWHERE), "invalid_request"),
        (turn(bot, "x" * 200_001), "message_too_large"),
    ]


def test_a_refused_message_is_data_in_every_way_of_asking_and_leaves_nothing(served: Served) -> None:
    cases = refusals(served)
    outputs = served.remote().batch([given for given, _ in cases])
    assert [each["error"]["code"] for each in outputs] == [code for _, code in cases]
    assert all(each.keys() == {"error"} for each in outputs)
    for given, code in (cases[0], cases[5], cases[11]):
        assert served.remote().invoke(given)["error"]["code"] == code
        output, _ = added(list(served.remote().stream(given)))
        assert (list(output), output["error"]["code"]) == (["error"], code)
        assert streamed(served.post("chat/stream", input=given))[-1] == ("end", None)
    assert len(served.chatting.client.get("/api/conversations").json()["items"]) == 1


@pytest.mark.parametrize("path", STREAMS)
def test_a_failure_in_a_stream_is_one_typed_event_at_its_end(served: Served, path: str) -> None:
    served.chatting.provider.next_chat(Cut(1))
    events = streamed(served.post(f"chat/{path}", input=turn(served.chatting.bot())))
    assert [name for name, _ in events if name in ("error", "end")] == ["error"]
    name, problem = events[-1]
    question, part = served.chatting.messages(served.chatting.conversation())
    assert (name, problem["code"], problem["status_code"]) == ("error", "provider_error", 502)
    assert problem["message"] == problem["detail"]
    assert (problem["questionId"], question["status"]) == (question["id"], "failed")
    assert (part["content"], part["status"]) == ("The", "failed")


async def test_the_client_raises_a_failure_of_a_stream_and_returns_that_of_a_run(served: Served) -> None:
    bot = served.chatting.bot()
    served.chatting.provider.next_chat(*[Refuse(400)] * 2)
    with pytest.raises(httpx.HTTPStatusError) as raised:
        [chunk async for chunk in served.remote().astream(turn(bot))]
    assert raised.value.response.status_code == 502
    output = await served.remote().ainvoke(turn(bot))
    assert (list(output), output["error"]["code"]) == (["error"], "provider_error")


def test_an_idempotency_key_runs_a_turn_once_and_keeps_no_failure_that_may_pass(served: Served) -> None:
    bot, client = served.chatting.bot(), served.chatting.client
    served.chatting.provider.next_chat(Refuse(400))

    def ask(path: str, message: str) -> Any:
        body = {"input": turn(bot, message), "inputs": [turn(bot, message)]}
        return client.post(f"/graphs/chat/{path}", json=body, headers={"Idempotency-Key": "once"}).json()

    assert ask("invoke", "Why?")["output"]["error"]["code"] == "provider_error"
    first = ask("invoke", "Why?")
    assert first["output"]["message"] == "The stub answers."
    assert ask("invoke", "Why?") == first
    assert ask("invoke", "Why not?")["code"] == "conflict"
    for path in ("batch", *STREAMS):
        assert ask(path, "Why?")["code"] == "invalid_request"
    assert len(served.chatting.provider.chats) == 2


def test_a_client_that_leaves_a_stream_finds_the_whole_answer_and_goes_on(served: Served) -> None:
    pause, bot, chatting = Pause(2), served.chatting.bot(), served.chatting
    chatting.provider.next_chat(pause)
    conversation = ""
    for chunk in served.remote().stream(turn(bot, "still there?")):
        conversation = chunk.get("conversationId", conversation)
        if "message" in chunk:
            break
    pause.event.set()
    served.remote().invoke(turn(bot, "And now?", conversationId=conversation))
    assert [(each["role"], each["content"], each["status"]) for each in chatting.messages(conversation)] == [
        ("user", "still there?", "complete"),
        ("assistant", "The stub answers.", "complete"),
        ("user", "And now?", "complete"),
        ("assistant", "The stub answers.", "complete"),
    ]
    assert [each["role"] for each in chatting.last_call["messages"]][-3:] == ["user", "assistant", "user"]


def test_an_answer_can_be_stopped_by_the_conversation_that_its_stream_names(served: Served) -> None:
    served.chatting.provider.next_chat(Pause(2))
    chunks: list[dict[str, Any]] = []
    for chunk in served.remote().stream(turn(served.chatting.bot())):
        chunks.append(chunk)
        if "message" in chunk:
            conversation = next(each["conversationId"] for each in chunks if "conversationId" in each)
            served.chatting.client.post(f"/api/conversations/{conversation}/stop")
    answer, _ = added(chunks)
    assert (answer["status"], answer["message"]) == ("stopped", "The stub")


def test_the_retrieval_graph_ranks_what_all_branches_find(served: Served) -> None:
    base = served.knowledge()["knowledgeBaseId"]
    given = {"query": "When does the ferry to Sylt leave?", "knowledgeBaseIds": [base, base], "recent": ["Sylt?"]}
    found = served.remote("retrieval").invoke(given)
    [result] = found["results"]
    assert (result["filename"], result["knowledgeBaseId"], "text" in result["branches"]) == ("sylt.md", base, True)
    assert "leaves at seven" in result["text"]
    assert [each["name"] for each in found["maps"]] == ["Ferries"]
    output, steps = added(list(served.remote("retrieval").stream(given)))
    assert {**output, "results": []} == {**found, "results": []}
    assert {"node": "search_text", "state": "finished"} in steps
    important = {**given, "weights": {"vector": 0, "text": 0, "importance": 1}}
    assert served.remote("retrieval").invoke(important)["results"][0]["score"] == result["importance"]


def test_a_search_takes_pictures_that_were_uploaded(served: Served) -> None:
    base = served.knowledge(files.png())["knowledgeBaseId"]
    [claim] = served.chatting.upload(("a.png", files.png()))
    search = {"query": "", "knowledgeBaseIds": [base]}
    [result] = served.remote("retrieval").invoke({**search, "attachments": [claim]})["results"]
    assert "image" in result["branches"]
    refused = served.remote("retrieval").batch([search, {**search, "attachments": [{"id": claim["id"]}]}])
    assert [each["error"]["code"] for each in refused] == ["invalid_request", "wrong_token"]


def test_the_ingest_graph_ingests_a_document_again_and_follows_it(served: Served) -> None:
    named = served.knowledge()
    before = served.chatting.client.get("/knowledge/kb/{knowledgeBaseId}/documents/{documentId}".format(**named)).json()
    output, steps = added(list(served.remote("ingest").stream(named)))
    assert (output["document"]["status"], output["document"]["id"]) == ("ready", named["documentId"])
    assert output["document"]["updatedAt"] > before["updatedAt"]
    assert steps[-1] == {"stage": "ready", "progress": 1.0, "status": "ready"}
    searched = {"query": "ferry", "knowledgeBaseIds": [named["knowledgeBaseId"]]}
    assert len(served.remote("retrieval").invoke(searched)["results"]) == 1
    unknown = served.remote("ingest").invoke({**named, "documentId": NOWHERE})
    assert unknown["error"]["code"] == "not_found"


def test_many_runs_of_one_document_at_once_end_with_one_ready_document(served: Served) -> None:
    named = served.knowledge()
    outputs = served.remote("ingest").batch([named] * 3)
    assert {each["document"]["status"] for each in outputs} == {"ready"}
    wait_until_ready(served.chatting.client, named["knowledgeBaseId"], named["documentId"])
    searched = {"query": "ferry", "knowledgeBaseIds": [named["knowledgeBaseId"]]}
    assert len(served.remote("retrieval").invoke(searched)["results"]) == 1


@pytest.mark.parametrize("graph", ["chat", "retrieval", "ingest"])
def test_every_graph_shows_its_schemas_and_they_hold_for_what_it_takes(served: Served, graph: str) -> None:
    client = served.chatting.client
    given = client.get(f"/graphs/{graph}/input_schema").json()
    assert given["type"] == "object"
    assert given["required"]
    assert client.get(f"/graphs/{graph}/output_schema").json()["anyOf"][1]["required"] == ["error"]
    assert client.get(f"/graphs/{graph}/config_schema").json()["properties"] == {}
    shared = client.get(f"/graphs/{graph}/c/N4XyA/input_schema")  # a link of the playground: `{}`, compressed
    assert shared.json() == given


def test_every_route_answers_as_openapi_describes_it(served: Served) -> None:
    client, named = served.chatting.client, served.knowledge()
    described = Description(client, "/graphs/")
    inputs: dict[str, dict[str, Any]] = {
        "chat": turn(served.chatting.bot()),
        "retrieval": {"query": "ferry", "knowledgeBaseIds": [named["knowledgeBaseId"]]},
        "ingest": {**named, "documentId": NOWHERE},
    }
    assert served.post("ingest/invoke", input=named).json()["output"]["document"]["status"] == "ready"
    for graph, given in inputs.items():
        assert served.post(f"{graph}/invoke", input=given).status_code == 200
        assert served.post(f"{graph}/batch", inputs=[given, given]).status_code == 200
        assert served.post(f"{graph}/invoke", input={}).status_code == 422
        for path in STREAMS:
            assert served.post(f"{graph}/{path}", input=given).status_code == 200
        for path in ("input_schema", "output_schema", "config_schema"):
            assert client.get(f"/graphs/{graph}/{path}").status_code == 200
    client.event_hooks["response"].clear()
    assert described.operations() - described.called == set()


def test_texts_of_sources_stand_in_the_field_that_a_client_asks_for(chatting: Chatting, served: Served) -> None:
    base = served.knowledge()["knowledgeBaseId"]
    asked = {"input": turn(chatting.bot(knowledgeBaseIds=[base]), "When does the ferry leave?")}
    headers = {"X-Source-Text": "passage"}
    invoked = chatting.client.post("/graphs/chat/invoke", json=asked, headers=headers).json()["output"]
    assert "seven" in invoked["sources"][0]["passage"]
    for path in STREAMS:
        text = chatting.client.post(f"/graphs/chat/{path}", json=asked, headers=headers).text
        assert '"passage":' in text
        assert '"text":"#' not in text
