"""How a failing provider looks from inside: an error of our tree, tried again only before the first token."""

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage

from tests.support.provider import Provider
from tests.support.provider_faults import (
    MISSING,
    Blocked,
    Choices,
    Cut,
    ErrorInside200,
    Fault,
    Garbage,
    Refuse,
    Stall,
    Text,
)
from tributary.domain.errors import MessageTooLarge, ProviderError, ProviderTimeout, TributaryError
from tributary.models.chat import ChatModels
from tributary.models.invoke import Delta, Finish, Piece, stream_answer
from tributary.models.retry import RetryPolicy

AT_ONCE = RetryPolicy(attempts=3, first_delay=0.001, longest_delay=0.001)
OPENAI_LIKE = ["openrouter/stub/all", "openai/gpt-5-mini"]
ALL = [*OPENAI_LIKE, "google/gemini-2.5-flash"]


def _no_local() -> BaseChatModel:
    raise AssertionError("no test here asks for the local model")


@pytest.fixture
async def models(provider: Provider, tmp_path: Path) -> AsyncIterator[ChatModels]:
    registry = ChatModels(provider.settings(tmp_path), _no_local)
    yield registry
    await registry.aclose()


async def _ask(models: ChatModels, name: str, *, timeout: float = 10.0) -> tuple[str, Finish | TributaryError]:
    """The text that came, and how it ended."""
    text = ""
    end: Piece | TributaryError | None = None
    try:
        stream = stream_answer(await models.get(name), [HumanMessage("Hello?")], timeout=timeout, retry=AT_ONCE)
        async for piece in stream:
            if isinstance(piece, Delta):
                text += piece.text
            else:
                end = piece
    except TributaryError as error:
        end = error
    assert isinstance(end, Finish | TributaryError)
    return text, end


async def _failure(models: ChatModels, name: str, *, timeout: float = 10.0) -> TributaryError:
    text, end = await _ask(models, name, timeout=timeout)
    assert text == ""
    assert isinstance(end, TributaryError)
    return end


TRANSIENT: list[Fault] = [
    Refuse(429),
    Refuse(500),
    Refuse(503),
    ErrorInside200(502),
    ErrorInside200(429),
    Cut(0),
    Cut(0, abrupt=True),
    Text(()),
    Text(("\n", "  ")),
    Text((), reasoning=("Let me think.",)),
    Text((), finish="error"),
    Garbage(),
]


@pytest.mark.parametrize("fault", TRANSIENT, ids=repr)
@pytest.mark.parametrize("name", ALL)
async def test_a_transient_fault_is_tried_again_and_then_answered(
    models: ChatModels, provider: Provider, name: str, fault: Fault
) -> None:
    provider.next_chat(fault, fault)

    text, end = await _ask(models, name)

    assert text == "The stub answers."
    assert isinstance(end, Finish)
    assert len(provider.chats) == 3


@pytest.mark.parametrize("fault", [Refuse(503), ErrorInside200(502, whole_body=True), Text(()), Cut(0)], ids=repr)
@pytest.mark.parametrize("name", OPENAI_LIKE)
async def test_tries_are_bounded(models: ChatModels, provider: Provider, name: str, fault: Fault) -> None:
    provider.next_chat(*[fault] * 9)

    error = await _failure(models, name)

    assert isinstance(error, ProviderError)
    assert error.transient
    assert len(provider.chats) == 3


@pytest.mark.parametrize("choices", [None, MISSING, []], ids=["null", "missing", "empty"])
@pytest.mark.parametrize("name", OPENAI_LIKE)
async def test_an_answer_without_choices_is_a_provider_error(
    models: ChatModels, provider: Provider, name: str, choices: object
) -> None:
    provider.next_chat(*[Choices(choices)] * 3)

    error = await _failure(models, name)

    assert isinstance(error, ProviderError)
    assert error.transient


@pytest.mark.parametrize(
    ("status", "says"),
    [(400, "refused the request"), (402, "lack of credit"), (403, "does not allow"), (404, "not known")],
)
@pytest.mark.parametrize("name", ALL)
async def test_a_refusal_is_final(models: ChatModels, provider: Provider, name: str, status: int, says: str) -> None:
    provider.next_chat(Refuse(status))

    error = await _failure(models, name)

    assert isinstance(error, ProviderError)
    assert not error.transient
    assert says in error.detail
    assert len(provider.chats) == 1


async def test_a_spent_quota_is_final_although_it_comes_as_429(models: ChatModels, provider: Provider) -> None:
    provider.next_chat(Refuse(429, code="insufficient_quota"))

    error = await _failure(models, "openai/gpt-5-mini")

    assert not error.transient
    assert len(provider.chats) == 1


@pytest.mark.parametrize("name", ALL)
async def test_a_wait_that_is_asked_for_is_kept_before_the_next_try(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(Refuse(429, retry_after="0.2"))
    loop = asyncio.get_running_loop()
    await models.get(name)
    began = loop.time()

    text, _ = await _ask(models, name)

    assert text == "The stub answers."
    assert loop.time() - began >= 0.2


@pytest.mark.parametrize("name", ALL)
async def test_a_wait_beyond_patience_is_told_to_the_caller(models: ChatModels, provider: Provider, name: str) -> None:
    provider.next_chat(Refuse(429, retry_after="90"))

    error = await _failure(models, name, timeout=600)

    assert isinstance(error, ProviderError)
    assert error.retry_after == 90
    assert len(provider.chats) == 1


@pytest.mark.parametrize(
    "fault", [ErrorInside200(502, after=1), Cut(1), Cut(1, abrupt=True), Stall(1)], ids=lambda fault: repr(fault)
)
@pytest.mark.parametrize("name", ALL)
async def test_after_the_first_token_nothing_is_tried_again(
    models: ChatModels, provider: Provider, name: str, fault: Fault
) -> None:
    provider.next_chat(fault)

    text, end = await _ask(models, name, timeout=1.5)

    assert text == "The"
    assert isinstance(end, ProviderError | ProviderTimeout)
    assert len(provider.chats) == 1


@pytest.mark.parametrize("name", OPENAI_LIKE)
async def test_a_finish_reason_of_error_is_a_failure_even_after_text(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(Text(("Half an",), finish="error"))

    text, end = await _ask(models, name)

    assert text == "Half an"
    assert isinstance(end, ProviderError)


@pytest.mark.parametrize("name", ALL)
async def test_a_silent_provider_is_a_timeout(models: ChatModels, provider: Provider, name: str) -> None:
    provider.next_chat(Stall())

    error = await _failure(models, name, timeout=0.3)

    assert isinstance(error, ProviderTimeout)
    assert len(provider.chats) == 1


@pytest.mark.parametrize("name", OPENAI_LIKE)
async def test_a_timeout_of_the_upstream_is_told_apart_from_an_error(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(*[Refuse(408)] * 3)

    assert isinstance(await _failure(models, name), ProviderTimeout)


@pytest.mark.parametrize("name", ALL)
async def test_an_answer_cut_at_the_models_limit_is_an_answer_and_says_so(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(Text(("Cut",), finish="length"))

    text, end = await _ask(models, name)

    assert text == "Cut"
    assert isinstance(end, Finish)
    assert end.reason == "length"


@pytest.mark.parametrize("name", ALL)
async def test_all_tokens_spent_on_reasoning_is_final(models: ChatModels, provider: Provider, name: str) -> None:
    provider.next_chat(Text((), finish="length", reasoning=("Hm.",)))

    error = await _failure(models, name)

    assert not error.transient
    assert len(provider.chats) == 1


@pytest.mark.parametrize("name", ALL)
async def test_a_content_filter_that_leaves_nothing_is_final(models: ChatModels, provider: Provider, name: str) -> None:
    provider.next_chat(Text((), finish="content_filter"))

    error = await _failure(models, name)

    assert "content filter" in error.detail
    assert not error.transient


async def test_a_prompt_that_gemini_blocks_is_final(models: ChatModels, provider: Provider) -> None:
    provider.next_chat(Blocked("PROHIBITED_CONTENT"))

    error = await _failure(models, "google/gemini-2.5-flash")

    assert "content filter" in error.detail
    assert not error.transient


@pytest.mark.parametrize(
    "message",
    [
        "This endpoint's maximum context length is 8192 tokens. However, you requested about 90000 tokens.",
        "Input tokens exceed the context window of this model.",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "request (3012 tokens) exceeds the available context size (2048 tokens), try increasing it",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        "Please reduce the length of the messages or completion.",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    ],
)
@pytest.mark.parametrize("name", OPENAI_LIKE)
async def test_a_prompt_over_the_window_is_the_callers_to_mend(
    models: ChatModels, provider: Provider, name: str, message: str
) -> None:
    provider.next_chat(Refuse(400, message=message))

    assert isinstance(await _failure(models, name), MessageTooLarge)


async def test_a_prompt_over_geminis_window_is_the_callers_to_mend(models: ChatModels, provider: Provider) -> None:
    provider.next_chat(
        Refuse(400, message="The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).")
    )

    assert isinstance(await _failure(models, "google/gemini-2.5-flash"), MessageTooLarge)


@pytest.mark.parametrize("name", ALL)
async def test_a_refused_key_is_final_and_never_quoted(
    models: ChatModels, provider: Provider, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.INFO)
    sent, provider.key = provider.key, "another-key"

    error = await _failure(models, name)

    assert error.detail == f"{name} refused the API key"
    assert not error.transient
    assert sent not in caplog.text


@pytest.mark.parametrize("name", ALL)
async def test_a_gateway_that_echoes_the_key_does_not_get_it_into_an_error(
    provider: Provider, tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    caplog.set_level(logging.INFO)
    provider.key = "a plain word of a key"
    registry = ChatModels(provider.settings(tmp_path), _no_local)
    provider.next_chat(Refuse(400, message="bad header: {key}"))

    error = await _failure(registry, name)
    await registry.aclose()

    assert error.detail.endswith("bad header: [key]")
    assert provider.key not in str(error.__cause__)
    assert provider.key not in caplog.text


@pytest.mark.parametrize("name", ALL)
async def test_a_provider_that_is_not_there_is_a_transient_error(provider: Provider, tmp_path: Path, name: str) -> None:
    # Nothing listens on the discard port of this host.
    gone = "http://127.0.0.1:9"
    settings = provider.settings(tmp_path, openrouter_base_url=gone, openai_base_url=gone, google_base_url=gone)
    registry = ChatModels(settings, _no_local)

    error = await _failure(registry, name)
    await registry.aclose()

    assert isinstance(error, ProviderError)
    assert error.transient
    assert "could not be made" in error.detail


@pytest.mark.parametrize("name", ALL)
async def test_leaving_an_answer_ends_the_call_at_the_provider(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(Stall(1))
    async with aclosing(stream_answer(await models.get(name), [HumanMessage("Hello?")], timeout=30)) as pieces:
        assert await anext(pieces) == Delta("The")
        assert provider.open_streams == 1

    assert await asyncio.to_thread(provider.wait_for_streams, 0)


@pytest.mark.parametrize("name", ALL)
async def test_a_provider_that_takes_no_connection_is_a_timeout(provider: Provider, tmp_path: Path, name: str) -> None:
    # Linux lets no more clients in than wait to be accepted: the rest are never answered.
    with socket.socket() as full, contextlib.ExitStack() as waiting:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        gone = f"http://127.0.0.1:{full.getsockname()[1]}"
        settings = provider.settings(
            tmp_path, openrouter_base_url=gone, openai_base_url=gone, google_base_url=gone, provider_timeout=0.3
        )
        registry = ChatModels(settings, _no_local)

        error = await _failure(registry, name, timeout=0.3)
        await registry.aclose()

    assert isinstance(error, ProviderTimeout)


async def test_what_openrouter_read_out_of_a_pdf_is_no_part_of_the_answer(
    models: ChatModels, provider: Provider
) -> None:
    delta = {
        "content": "",
        "annotations": [{"type": "file", "file": {"hash": "abc", "content": [{"type": "text", "text": "of the PDF"}]}}],
    }
    chunks: list[dict[str, Any]] = [
        {"delta": {"role": "assistant", "content": "It says so."}, "finish_reason": None},
        {"delta": delta, "finish_reason": None},
        {"delta": {"content": ""}, "finish_reason": "stop"},
    ]
    events = [
        {
            "id": "gen-1",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, **chunk}],
        }
        for chunk in chunks
    ]
    provider.next_chat(Garbage("".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n"))

    text, end = await _ask(models, "openrouter/stub/all")

    assert text == "It says so."
    assert isinstance(end, Finish)
    assert end.estimated


@pytest.mark.parametrize("name", ALL)
async def test_half_a_character_in_the_words_of_a_provider_does_no_harm(
    models: ChatModels, provider: Provider, name: str
) -> None:
    provider.next_chat(ErrorInside200(400, message="no \ud83d"))

    error = await _failure(models, name)

    assert error.detail.endswith("no ?")
