"""The graphs over LangServe, called by LangChain's client for JavaScript in Node."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.node import run_script
from tests.support.provider_faults import Cut
from tests.support.served import NOWHERE, Served

pytest_plugins = ["tests.support.provided_fixtures", "tests.support.served_fixtures"]

Call = Callable[..., dict[str, Any]]


@pytest.fixture
def call(served: Served) -> Call:
    """Runs a method of a remote graph in Node."""

    def run(method: str, given: Any, graph: str = "chat", **more: Any) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {served.key}", "X-Source-Text": "passage"}
        request = {"url": f"{served.url}/graphs/{graph}", "headers": headers, "method": method, "input": given}
        return run_script("client.mjs", {**request, **more})

    return run


def test_javascript_runs_a_turn_at_once_and_in_pieces(served: Served, call: Call) -> None:
    base = served.knowledge()["knowledgeBaseId"]
    served.chatting.provider.answer = "It leaves at seven [1]."
    given = {"message": "When does the ferry to Sylt leave?", "botId": served.chatting.bot(knowledgeBaseIds=[base])}
    answer = call("invoke", given)["result"]
    assert (answer["message"], answer["sources"][0]["number"]) == ("It leaves at seven [1].", 1)
    assert "Havneby" in answer["sources"][0]["passage"]
    whole = call("streamed", {**given, "conversationId": answer["conversationId"]})["result"]
    assert (whole["message"], whole["conversationId"]) == (answer["message"], answer["conversationId"])
    assert {"node": "record_answer", "state": "finished"} in whole["steps"]
    assert len(served.chatting.messages(answer["conversationId"])) == 4


def test_javascript_hears_steps_and_tokens(served: Served, call: Call) -> None:
    given = {"message": "Why?", "botId": served.chatting.bot()}
    events = call("events", given)["result"]
    tokens = [each["data"]["chunk"] for each in events if each["event"] == "on_chat_model_stream"]
    assert "".join(each["kwargs"]["content"] for each in tokens) == "The stub answers."
    assert "invoke_model" in [each["name"] for each in events if each["event"] == "on_chain_end"]
    state = call("log", given)["result"]
    assert state["final_output"]["message"] == "The stub answers."
    assert "invoke_model" in state["logs"]


def test_javascript_reads_refusals_as_data_and_failures_as_errors(served: Served, call: Call) -> None:
    given = {"message": "Why?", "botId": served.chatting.bot()}
    outputs = call("batch", [given, {**given, "botId": NOWHERE}])["result"]
    assert [each.get("message") or each["error"]["code"] for each in outputs] == ["The stub answers.", "not_found"]
    served.chatting.provider.next_chat(Cut(1))
    assert '"code":"provider_error"' in call("streamed", given)["error"]
    assert call("invoke", {**given, "message": 3})["error"].startswith("422")


def test_javascript_may_leave_a_stream_and_the_answer_is_kept(served: Served, call: Call) -> None:
    given = {"message": "Why?", "botId": served.chatting.bot()}
    left = call("streamed", given, stopAfter=1)["result"]
    conversation = left["conversationId"]
    served.remote().invoke({**given, "conversationId": conversation})
    kept = served.chatting.messages(conversation)
    assert [each["content"] for each in kept] == ["Why?", "The stub answers."] * 2


def test_javascript_searches_and_ingests(served: Served, call: Call) -> None:
    named = served.knowledge()
    found = call("invoke", {"query": "ferry", "knowledgeBaseIds": [named["knowledgeBaseId"]]}, "retrieval")["result"]
    assert "Havneby" in found["results"][0]["passage"]
    assert call("streamed", named, "ingest")["result"]["document"]["status"] == "ready"
