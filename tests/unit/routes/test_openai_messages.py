"""The messages of OpenAI's clients as instructions, a past and a question."""

import json
from typing import Any

import pytest

from tributary.completions import GivenFile, GivenMessage
from tributary.domain.conversations import Role
from tributary.domain.errors import InvalidRequest
from tributary.routes.openai.body import read_body
from tributary.routes.openai.conversation import Asked, read_messages
from tributary.routes.openai.errors import BadParameter, error_response


def read(*messages: dict[str, Any]) -> Asked:
    return read_messages(read_body(json.dumps({"model": "b", "messages": messages}).encode()).messages)


def say(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_instructions_come_from_wherever_they_stand() -> None:
    asked = read(say("system", "One."), say("user", "Hi"), say("developer", [{"type": "text", "text": "Two."}]))
    assert asked.instructions == "One.\n\nTwo."
    assert asked.question == GivenMessage(Role.USER, "Hi")


def test_no_two_questions_and_no_empty_answer_stand_in_a_row() -> None:
    asked = read(
        say("assistant", "Welcome!"),
        say("user", "A?"),
        say("assistant", ""),
        say("assistant", None),
        say("user", "B?"),
        say("assistant", "C."),
        say("assistant", "D."),
        say("user", ""),
        say("user", "E?"),
    )
    assert [(each.role.value, each.text) for each in asked.past] == [("user", "A?\n\nB?"), ("assistant", "C.\n\nD.")]
    assert asked.question.text == "E?"


def test_a_blank_message_at_the_end_is_no_question() -> None:
    for last in ("", "  ", None, [], [{"type": "text", "text": " "}]):
        with pytest.raises(BadParameter, match="the last message"):
            read(say("user", "A?"), say("user", last))


def test_files_are_named_by_what_their_sender_says_of_them() -> None:
    parts = [
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,QQ=="}},
        {"type": "image_url", "image_url": "data:image/x-odd;charset=a;base64,QQ=="},
        {"type": "input_audio", "input_audio": {"data": "QQ==", "format": "mp3"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,QQ=="}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": "QQ=="}},
    ]
    files = read(say("user", parts)).question.files
    assert [file.filename for file in files] == ["image-1.jpg", "image-2", "audio-3.mp3", "file-4.pdf", "a.pdf"]
    assert {file.base64 for file in files} == {"QQ=="}


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/a.png",
        "file:///etc/passwd",
        "data:image/png,abc",
        "data:image/png;base64",
        "ftp://x",
        "QQ==",
        "",
    ],
)
def test_addresses_are_not_fetched(url: str) -> None:
    with pytest.raises(BadParameter, match=r"messages\[0\]\.content\[0\]\.image_url: must be a data URL"):
        read(say("user", [{"type": "image_url", "image_url": {"url": url}}]))


@pytest.mark.parametrize(
    ("message", "param"),
    [
        (say("tool", "4"), "messages[0].role"),
        (say("robot", "4"), "messages[0].role"),
        ({**say("assistant", "x"), "tool_calls": [{"id": "1"}]}, "messages[0].tool_calls"),
        (say("assistant", [{"type": "file", "file": {"file_data": "QQ=="}}]), "messages[0].content"),
        (say("system", [{"type": "file", "file": {"file_data": "QQ=="}}]), "messages[0].content"),
        (say("user", [{"type": "text"}]), "messages[0].content[0]"),
        (say("user", [{"type": "text", "text": "nul\x00"}]), "messages[0].content[0].text"),
        (say("user", 4), "messages[0].content"),
        (say("user", [{"type": "text", "text": "a"}] * 101), "messages[0].content"),
        (say("user", [{"type": "file", "file": {"file_id": "x"}}]), "messages[0].content[0].file"),
    ],
)
def test_a_refusal_names_the_part(message: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        read(message, say("user", "Hi"))
    assert caught.value.problem()["param"] == param


def test_what_is_ignored_needs_no_sense_and_what_changes_the_answer_is_refused() -> None:
    body: dict[str, Any] = {"model": "b", "messages": [say("user", "Hi")]}
    harmless = {"temperature": 99, "seed": "x", "user": 4, "tools": [], "tool_choice": "none", "n": 1, "stop": None}
    assert read_body(json.dumps({**body, **harmless, "max_tokens": 5}).encode()).longest == 5
    for field, value in (("n", 2), ("stop", ["\n"]), ("functions", [{}]), ("modalities", ["audio"]), ("audio", {})):
        with pytest.raises(BadParameter) as caught:
            read_body(json.dumps({**body, field: value}).encode())
        assert caught.value.param == field


def test_a_wait_that_clients_would_cut_short_is_none() -> None:
    problem = InvalidRequest("x").problem()
    for status, wait, retried in ((429, 30, True), (429, 3600, False), (429, None, False), (409, None, False)):
        told = error_response({**problem, "status": status, **({"retryAfter": wait} if wait else {})})
        assert ("x-should-retry" not in told.headers) == retried
    assert error_response(problem).status_code == 400


def test_a_file_is_what_came_behind_the_comma() -> None:
    part = {"type": "image_url", "image_url": {"url": "DATA:image/png;base64,QUJD"}}
    assert read(say("user", [part])).question.files == (GivenFile("image-1.png", "QUJD"),)
