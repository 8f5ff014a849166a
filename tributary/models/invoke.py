"""One call of a chat model, as a stream of text that ends in usage, with every failure in our tree.

What the libraries let pass as success is a failure here: a stream that stops without a finish reason, a finish
reason `error`, an answer that is empty or only reasoning.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig

from tributary.domain.conversations import Cost, Usage
from tributary.domain.errors import ProviderError, ProviderTimeout, TributaryError
from tributary.domain.usage import UsageKind
from tributary.models.chat import NAME_KEY
from tributary.models.content import wire_messages
from tributary.models.cost import COST_KEY
from tributary.models.faults import cause, provider_failures, translate
from tributary.models.metering import ModelCall, admit, note
from tributary.models.pieces import PieceJoiner
from tributary.models.retry import Attempts, RetryPolicy
from tributary.models.tokens import estimate_message_tokens, estimate_tokens
from tributary.models.transport import noting_responses
from tributary.telemetry.calls import model_call

_FINISH = {"STOP": "stop", "end_turn": "stop", "MAX_TOKENS": "length", "max_tokens": "length"}
_FILTERED = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "content_filter"}


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the answer's text; never empty."""

    text: str


@dataclass(frozen=True, slots=True)
class Finish:
    """The end of an answer. `reason` is `stop`, `length` (cut at the model's limit), `content_filter`, or the
    provider's own word. `estimated`: the provider gave no usage, so it is counted by `tributary.models.tokens`."""

    usage: Usage
    reason: str
    estimated: bool


Piece = Delta | Finish


def name_of(model: BaseChatModel) -> str:
    """The registry name of a model; that of one which no remote provider serves is its class's."""
    return str((model.metadata or {}).get(NAME_KEY) or f"local/{type(model).__name__}")


async def stream_answer(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    *,
    timeout: float,  # noqa: ASYNC109 - the wait for a piece, not for the whole call
    retry: RetryPolicy | None = None,
    config: RunnableConfig | None = None,
    max_output: int | None = None,
) -> AsyncGenerator[Piece, None]:
    """The answer to `messages`, whose contents are text or standard content blocks: deltas, then one `Finish`.

    `max_output` limits the answer, in tokens. `timeout` is the longest wait for a piece, in seconds; no try starts
    later than that after the first. Transient failures are tried again until the first delta is out, and never after
    it: the error is then raised, and what came before it is the caller's to keep. Leave the iterator by exhausting it
    or through `aclosing`.

    Raises:
        ProviderError, ProviderTimeout: the provider failed; see `transient` and `retry_after`.
        MessageTooLarge: the messages don't fit the model's context window.
    """
    name = name_of(model)
    provider = name.partition("/")[0]
    sent = wire_messages(provider, messages)
    attempts = Attempts(retry or RetryPolicy(), within=timeout)
    while True:
        answer = _Answer(name, provider, messages)
        try:
            await admit(name)
            with model_call(name, "chat"):
                chunks = _chunks(model, sent, config, timeout, name, _limit(provider, max_output))
                async with aclosing(chunks):
                    async for chunk in chunks:
                        if text := answer.take(chunk):
                            yield Delta(text)
                if text := answer.rest():
                    yield Delta(text)
                finish = answer.finish()
        except TributaryError as error:
            if answer.begun:
                raise
            await attempts.wait_after(error, name)
            continue
        finally:
            answer.count()
        yield finish
        return


def _limit(provider: str, max_output: int | None) -> dict[str, Any]:
    """The limit of an answer as the provider's class takes it; the built-in model writes little anyway."""
    argument = {"google": "max_output_tokens", "openai": "max_tokens", "openrouter": "max_tokens"}.get(provider)
    return {argument: max_output} if argument and max_output else {}


async def _chunks(
    model: BaseChatModel,
    messages: list[BaseMessage],
    config: RunnableConfig | None,
    idle: float,
    name: str,
    options: dict[str, Any],
) -> AsyncGenerator[AIMessageChunk, None]:
    """The model's chunks, each at most `idle` seconds after the one before; failures in our tree."""
    opened: list[Any] = []
    async with aclosing(cast("Any", model.astream(messages, config, **options))) as stream:
        try:
            while True:
                with noting_responses(opened):
                    chunk = await _next(stream, idle, name)
                if chunk is None:
                    return
                yield chunk
        finally:
            for response in opened:
                await response.aclose()


async def _next(stream: Any, idle: float, name: str) -> AIMessageChunk | None:
    """The next chunk, or None at the end."""
    try:
        async with asyncio.timeout(idle):
            return cast("AIMessageChunk", await anext(stream))
    except StopAsyncIteration:
        return None
    except TimeoutError as error:
        raise ProviderTimeout(f"{name} sent nothing for {idle:g} s") from error
    except provider_failures() as error:
        if name.startswith("local/"):
            raise  # Ours: a bug, not an answer of a provider.
        raise translate(error, name) from cause(error)


class _Answer:
    """An answer as it grows, and the verdict on it when it ends."""

    def __init__(self, name: str, provider: str, messages: Sequence[BaseMessage]) -> None:
        self._name = name
        self._provider = provider
        self._messages = messages
        self._joiner = PieceJoiner()
        self._blank = ""
        self._text: list[str] = []
        self._counts: dict[str, int] = {}
        self._reason = "" if provider != "local" else "stop"
        self._blocked = ""
        self._cost: Decimal | None = None
        self._answered = False
        self._usage: Usage | None = None

    @property
    def begun(self) -> bool:
        return bool(self._text)

    def take(self, chunk: AIMessageChunk) -> str:
        """The text to pass on. Blank text at the start is held back: alone it is no answer."""
        self._answered = True
        self._note(chunk)
        return self._pass(self._joiner.feed(str(chunk.text)))

    def rest(self) -> str:
        """The end of the text, once no chunk comes any more."""
        return self._pass(self._joiner.finish())

    def _pass(self, piece: str) -> str:
        text = self._blank + piece
        if not self._text and not text.strip():
            self._blank = text
            return ""
        self._blank = ""
        if text:
            self._text.append(text)
        return text

    def _note(self, chunk: AIMessageChunk) -> None:
        facts = chunk.response_metadata
        self._reason = str(facts.get("finish_reason") or self._reason)
        if facts.get(COST_KEY) is not None:
            self._cost = Decimal(facts[COST_KEY])
        feedback = facts.get("prompt_feedback")
        if isinstance(feedback, dict) and feedback.get("block_reason"):
            self._blocked = str(getattr(feedback["block_reason"], "name", feedback["block_reason"]))
        if chunk.usage_metadata:
            for key in ("input_tokens", "output_tokens", "total_tokens"):
                count = int(chunk.usage_metadata[key])
                # Gemini's counts come as differences; elsewhere each is the sum so far.
                self._counts[key] = self._counts.get(key, 0) + count if self._provider == "google" else count

    def finish(self) -> Finish:
        """The end of an answer that is one; raises `ProviderError` for any other."""
        reason = "content_filter" if self._reason in _FILTERED else _FINISH.get(self._reason, self._reason)
        if self._blocked or (reason == "content_filter" and not self.begun):
            raise ProviderError(f"{self._name} gave no answer: its content filter stopped it")
        if not reason:
            raise ProviderError(f"The answer of {self._name} broke off", transient=True)
        if reason == "error":
            raise ProviderError(f"{self._name} failed while it answered", transient=True)
        if not self.begun:
            # At its limit it spent all tokens on reasoning and would do so again.
            raise ProviderError(f"The answer of {self._name} is empty", transient=reason != "length")
        return Finish(self.count(), reason, self._estimated)

    def count(self) -> Usage:
        """The usage, counted once however the answer ends: what a provider has begun to answer is paid for, also
        when it breaks off, is of no use, or nobody waits for its end."""
        if self._usage is None:
            asked, said, total = self._tokens()
            call = ModelCall(self._name, UsageKind.CHAT, asked, said, total, self._cost, self._estimated)
            cost = note(call) if self._answered else Cost()
            self._usage = Usage(inputTokens=asked, outputTokens=said, totalTokens=total, **cost)
        return self._usage

    @property
    def _estimated(self) -> bool:
        return not (self._counts.get("input_tokens") or self._counts.get("output_tokens"))

    def _tokens(self) -> tuple[int, int, int]:
        """Read, written, and in all."""
        given = self._counts
        if not self._estimated:
            asked, said = given["input_tokens"], given["output_tokens"]
            return asked, said, given["total_tokens"] or asked + said
        asked, said = estimate_message_tokens(self._messages), estimate_tokens("".join(self._text))
        return asked, said, asked + said
