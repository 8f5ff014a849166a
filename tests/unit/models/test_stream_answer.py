from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from tributary.domain.errors import ProviderError, ProviderTimeout
from tributary.models.chat import NAME_KEY
from tributary.models.invoke import Delta, Finish, name_of, stream_answer
from tributary.models.retry import RetryPolicy
from tributary.models.tokens import estimate_message_tokens

QUESTION = [HumanMessage("A question of some words?")]
AT_ONCE = RetryPolicy(first_delay=0.0)


class Scripted(BaseChatModel):
    """Plays one script a call: chunks are sent, exceptions raised."""

    scripts: list[list[Any]]
    seen: list[list[BaseMessage]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise AssertionError("it streams")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        self.seen.append(messages)
        for step in self.scripts.pop(0):
            if isinstance(step, Exception):
                raise step
            yield ChatGenerationChunk(message=step)


def _model(*scripts: list[Any], name: str = "") -> Scripted:
    return Scripted(scripts=list(scripts), seen=[], metadata={NAME_KEY: name} if name else None)


def _said(text: str, **facts: Any) -> AIMessageChunk:
    return AIMessageChunk(content=text, **facts)


def _end(reason: str = "stop") -> AIMessageChunk:
    return AIMessageChunk(content="", response_metadata={"finish_reason": reason})


def _counted(asked: int, said: int) -> AIMessageChunk:
    usage = {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said}
    return AIMessageChunk(content="", usage_metadata=usage)


async def _pieces(model: BaseChatModel) -> list[Any]:
    return [piece async for piece in stream_answer(model, QUESTION, timeout=5, retry=AT_ONCE)]


async def test_a_local_model_needs_no_finish_reason() -> None:
    *deltas, finish = await _pieces(_model([_said("One "), _said("two."), _counted(5, 2)]))

    assert deltas == [Delta("One "), Delta("two.")]
    assert finish == Finish({"inputTokens": 5, "outputTokens": 2, "totalTokens": 7}, "stop", estimated=False)


async def test_a_bug_in_a_local_model_is_not_called_a_provider_error() -> None:
    with pytest.raises(KeyError, match="ours"):
        await _pieces(_model([KeyError("ours")]))


async def test_the_same_from_a_provider_is_a_provider_error() -> None:
    with pytest.raises(ProviderError):
        await _pieces(_model([KeyError("x")], [KeyError("x")], [KeyError("x")], name="openai/m"))


async def test_blank_text_before_the_first_word_is_kept_and_is_no_first_token() -> None:
    model = _model(
        [_said("\n"), ConnectionResetError()], [_said("\n"), _said(" "), _said("Word"), _end()], name="openai/m"
    )

    *deltas, _ = await _pieces(model)

    assert deltas == [Delta("\n Word")]


async def test_without_usage_the_tokens_are_estimated_and_marked() -> None:
    *_, finish = await _pieces(_model([_said("x" * 40), _end()], name="openai/m"))

    asked = estimate_message_tokens(QUESTION)
    assert finish == Finish({"inputTokens": asked, "outputTokens": 10, "totalTokens": asked + 10}, "stop", True)


async def test_running_sums_of_usage_are_not_added_up() -> None:
    *_, finish = await _pieces(_model([_counted(9, 1), _said("Word"), _counted(9, 2), _end()], name="openai/m"))

    assert finish.usage == {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11}


async def test_differences_of_usage_are_added_up() -> None:
    *_, finish = await _pieces(_model([_counted(9, 1), _said("Word"), _counted(0, 3), _end("STOP")], name="google/m"))

    assert finish.usage == {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13}


@pytest.mark.parametrize(
    ("given", "told"),
    [("stop", "stop"), ("STOP", "stop"), ("MAX_TOKENS", "length"), ("length", "length"), ("SAFETY", "content_filter")],
)
async def test_the_reasons_of_all_providers_have_one_spelling(given: str, told: str) -> None:
    *_, finish = await _pieces(_model([_said("Word"), _end(given)], name="google/m"))

    assert finish.reason == told


async def test_reasoning_blocks_are_not_part_of_the_answer() -> None:
    thought = _said([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "So."}])  # type: ignore[arg-type]

    *deltas, _ = await _pieces(_model([thought, _end("STOP")], name="google/m"))

    assert deltas == [Delta("So.")]


async def test_a_timeout_of_the_library_is_a_provider_timeout() -> None:
    with pytest.raises(ProviderTimeout):
        await _pieces(_model(*[[TimeoutError()]] * 3, name="openai/m"))


async def test_an_answer_can_be_left_at_any_piece() -> None:
    model = _model([_said("One"), _said("two"), _end()], name="openai/m")

    async with aclosing(stream_answer(model, QUESTION, timeout=5)) as pieces:
        assert await anext(pieces) == Delta("One")

    assert len(model.seen) == 1


def test_a_model_of_the_registry_goes_by_its_registry_name() -> None:
    assert name_of(_model(name="openrouter/a/b")) == "openrouter/a/b"
    assert name_of(_model()) == "local/Scripted"
