"""Providers that misbehave, seen from a client: mapped errors, parts of answers that are kept, nothing lost."""

import threading
from typing import Any

import httpx
import pytest

from tests.support.provided import Chatting, events_of, told
from tests.support.provider_faults import (
    Blocked,
    Choices,
    Cut,
    ErrorInside200,
    Fault,
    Garbage,
    Hold,
    Pause,
    Refuse,
    Stall,
    Text,
)

pytest_plugins = ["tests.support.provided_fixtures"]

OPENROUTER, OPENAI, GOOGLE = "openrouter/stub/all", "openai/stub", "google/gemini-2.5-flash"


@pytest.mark.parametrize(
    ("model", "fault", "status", "code"),
    [
        (OPENROUTER, Refuse(503), 502, "provider_error"),
        (OPENROUTER, ErrorInside200(502, whole_body=True), 502, "provider_error"),
        (OPENROUTER, ErrorInside200(502), 502, "provider_error"),
        (OPENROUTER, Choices(None), 502, "provider_error"),
        (OPENAI, Text((), reasoning=("Hm.",)), 502, "provider_error"),
        (OPENAI, Garbage(), 502, "provider_error"),
        (OPENAI, Stall(), 504, "provider_timeout"),
        (GOOGLE, Cut(0), 502, "provider_error"),
        (GOOGLE, Blocked("SAFETY"), 502, "provider_error"),
        (GOOGLE, Text((), finish="content_filter"), 502, "provider_error"),
        (OPENAI, Refuse(400, message="maximum context length is 10 tokens"), 413, "message_too_large"),
    ],
    ids=repr,
)
def test_a_failure_before_the_first_token_is_an_http_error_in_both_ways_of_asking(
    chatting: Chatting, model: str, fault: Fault, status: int, code: str
) -> None:
    bot = chatting.bot(model)
    chatting.provider.next_chat(*[fault] * 9)
    response = chatting.post(bot, "lost?")
    assert (response.status_code, response.json()["code"]) == (status, code)
    [question] = chatting.messages(chatting.conversation())
    assert (question["content"], question["status"], question["error"]["code"]) == ("lost?", "failed", code)
    problem = response.json()
    assert (problem["conversationId"], problem["questionId"]) == (chatting.conversation(), question["id"])
    assert len(chatting.provider.chats) <= 3

    with chatting.streaming(bot, "lost?") as streamed:
        assert (streamed.status_code, streamed.headers["content-type"]) == (status, "application/problem+json")
    chatting.provider.reset()


@pytest.mark.parametrize("retry_after", ["90", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_provider_that_asks_for_a_long_wait_is_told_with_retry_after(chatting: Chatting, retry_after: str) -> None:
    chatting.provider.next_chat(Refuse(429, retry_after=retry_after))
    response = chatting.post(chatting.bot())
    assert (response.status_code, response.json()["code"]) == (502, "provider_error")
    assert int(response.headers["retry-after"]) == response.json()["retryAfter"] >= 90
    assert len(chatting.provider.chats) == 1


@pytest.mark.parametrize(
    "fault",
    [
        ErrorInside200(502, after=1),
        ErrorInside200(429, after=1),
        Cut(1),
        Cut(1, abrupt=True),
        Stall(1),
        Text(("The",), finish="error"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("model", [OPENROUTER, GOOGLE])
def test_a_failure_after_the_first_token_ends_the_stream_with_one_error_and_keeps_the_part(
    chatting: Chatting, model: str, fault: Fault
) -> None:
    if model == GOOGLE and isinstance(fault, Text):
        fault = Text(("The",), finish=None)
    bot = chatting.bot(model)
    chatting.provider.next_chat(fault)
    events = chatting.stream(bot, "half?")
    names = [name for name, _ in events]
    assert told(events) == "The"
    assert (names.count("error"), names[-1], "done" in names) == (1, "error", False)
    assert events[-1][1]["code"] == ("provider_timeout" if isinstance(fault, Stall) else "provider_error")
    assert len(chatting.provider.chats) == 1

    question, part = chatting.messages(chatting.conversation())
    assert (question["status"], part["status"], part["content"]) == ("failed", "failed", "The")
    ids = {"conversationId": chatting.conversation(), "questionId": question["id"]}
    assert part["error"] == question["error"]
    assert {**part["error"], **ids} == events[-1][1]
    assert part["finishReason"] == "error"


def test_a_part_of_an_answer_is_never_shown_to_a_model_and_the_question_can_be_asked_again(chatting: Chatting) -> None:
    bot = chatting.bot()
    chatting.provider.next_chat(Cut(2))
    failed = chatting.post(bot, "first")
    assert (failed.status_code, failed.json()["code"]) == (502, "provider_error")
    conversation, asked = failed.json()["conversationId"], failed.json()["questionId"]
    chatting.ask(bot, "second", conversationId=conversation)
    assert [message["content"] for message in chatting.last_call["messages"]] == ["second"]

    [question, part, *_] = chatting.messages(conversation)
    assert part["content"] == "The stub"
    assert question["id"] == asked
    chatting.ask(bot, "first", conversationId=conversation, replaceMessageId=asked)
    history = chatting.messages(conversation)
    assert [(message["content"], message["status"]) for message in history] == [
        ("first", "complete"),
        ("The stub answers.", "complete"),
    ]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize("model", [OPENROUTER, GOOGLE])
def test_an_answer_that_the_provider_cut_short_says_so(chatting: Chatting, model: str, reason: str) -> None:
    chatting.provider.next_chat(Text(("As far", " as this"), finish=reason))
    answer = chatting.ask(chatting.bot(model))
    assert (answer["message"], answer["status"], answer["finishReason"]) == ("As far as this", "complete", reason)
    assert chatting.messages(answer["conversationId"])[1]["finishReason"] == reason


def test_thoughts_are_no_part_of_an_answer(chatting: Chatting) -> None:
    for model in (OPENROUTER, GOOGLE):
        chatting.provider.next_chat(Text(("Four.",), reasoning=("Two and two", " are four.")))
        events = chatting.stream(chatting.bot(model))
        assert (told(events), events[-1][1]["message"]) == ("Four.", "Four.")


def test_a_client_that_leaves_while_the_model_thinks_finds_the_answer_later(chatting: Chatting) -> None:
    hold, bot = Hold(), chatting.bot()
    chatting.provider.next_chat(hold)
    with pytest.raises(httpx.ReadTimeout):
        chatting.client.post(f"/api/bots/{bot}/chat", json={"message": "still there?"}, timeout=0.7)
    hold.event.set()
    assert _settled(chatting)[1]["content"] == "The stub answers."


def test_a_client_that_leaves_a_stream_takes_nothing_along_and_may_join_again(chatting: Chatting) -> None:
    pause, bot = Pause(2), chatting.bot()
    chatting.provider.next_chat(pause)
    with chatting.streaming(bot) as response:
        names = [name for name, _ in _until(response, "token")]
    assert names[-1] == "token"
    conversation = chatting.conversation()
    with chatting.client.stream("GET", f"/api/conversations/{conversation}/stream") as joined:
        events = events_of(joined)
        heard = [next(events)]
        pause.event.set()
        heard += events
    assert (told(heard), heard[-1][0]) == ("The stub answers.", "done")
    assert _settled(chatting)[1]["content"] == "The stub answers."


def test_a_stop_keeps_what_was_said_and_ends_the_call_at_the_provider(chatting: Chatting) -> None:
    pause, bot = Pause(2), chatting.bot()
    chatting.provider.next_chat(pause)
    with chatting.streaming(bot, "tell me all") as response:
        events = []
        for event in events_of(response):
            events.append(event)
            if told(events) == "The stub" and event[0] == "token":
                stopped = chatting.client.post(f"/api/conversations/{response.headers['X-Conversation-Id']}/stop")
                assert stopped.status_code == 202
    assert chatting.provider.wait_for_streams(0)
    done = events[-1][1]
    assert (events[-1][0], done["message"], done["status"], done["finishReason"]) == (
        "done",
        "The stub",
        "stopped",
        "stopped",
    )
    assert done["usage"]["outputTokens"] > 0
    question, answer = chatting.messages(done["conversationId"])
    assert (question["status"], answer["status"], answer["content"]) == ("complete", "stopped", "The stub")
    chatting.ask(bot, "and then?", conversationId=done["conversationId"])
    assert [message["content"] for message in chatting.last_call["messages"]] == [
        "tell me all",
        "The stub",
        "and then?",
    ]


def test_turns_go_on_side_by_side_while_a_provider_stalls(chatting: Chatting) -> None:
    chatting.provider.next_chat(Stall())
    bot = chatting.bot()
    slow: list[httpx.Response] = []
    waiting = threading.Thread(target=lambda: slow.append(chatting.post(bot, "slow")))
    waiting.start()
    assert chatting.provider.wait_for_requests(1)
    assert chatting.ask(bot, "quick")["message"] == "The stub answers."
    waiting.join()
    assert slow[0].status_code == 504


def _until(response: httpx.Response, name: str) -> list[tuple[str, Any]]:
    heard = []
    for event in events_of(response):
        heard.append(event)
        if event[0] == name:
            break
    return heard


def _settled(chatting: Chatting) -> list[dict[str, Any]]:
    """The messages once nothing runs any more: a message to the conversation waits for its turn."""
    conversation = chatting.conversation()
    bot = chatting.client.get(f"/api/conversations/{conversation}").json()["botId"]
    chatting.ask(bot, "are you done?", conversationId=conversation)
    return chatting.messages(conversation)


@pytest.mark.parametrize("model", [OPENROUTER, GOOGLE])
def test_characters_that_come_in_halves_are_whole_in_stream_answer_and_history(chatting: Chatting, model: str) -> None:
    pieces = ("Well \ud83d", "\ude00 done\x00", " \ud83d")
    chatting.provider.next_chat(Text(pieces), Text(pieces))
    bot = chatting.bot(model)
    events = chatting.stream(bot)
    assert told(events) == events[-1][1]["message"] == "Well 😀 done� �"
    answer = chatting.ask(bot, conversationId=events[-1][1]["conversationId"])
    assert answer["message"] == "Well 😀 done� �"
    assert [each["content"] for each in chatting.messages(answer["conversationId"])[1::2]] == ["Well 😀 done� �"] * 2
