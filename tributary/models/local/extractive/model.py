"""`local/extractive` as a LangChain chat model."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, SkipValidation
from typing_extensions import override

from tributary.domain.errors import DependencyError
from tributary.models.chat import NAME_KEY
from tributary.models.local.extractive.answering import Draft, conclude, draft
from tributary.models.local.extractive.meaning import Meaning, compare, shortlist
from tributary.models.protocols import TextEmbedder
from tributary.models.tokens import estimate_message_tokens, estimate_tokens
from tributary.settings import EXTRACTIVE

logger = logging.getLogger(__name__)

#: Longest wait for the embedder, in seconds: behind a large ingestion an answer by words alone is the better one.
_EMBEDDING_TIMEOUT = 5.0
# A few words a piece: as a stream it reads as well as single ones, at a fraction of the events.
_PIECE = re.compile(r"\S.{0,23}(?:\S{0,24}\s+|$)|\s+|\S{1,48}", re.DOTALL)


class ExtractiveChatModel(BaseChatModel):
    """Answers with the sentences of its sources that best support an answer, each followed by its citation, and says
    so when none does. It reads text: the context of SPEC §3, the conversation, and text files inlined in it.

    `embedder` compares meanings where words are not certain; without one, or while it fails, words alone decide.
    The same call gives the same answer. Usage is estimated, as `tributary.models.tokens` does.
    """

    model_name: str = EXTRACTIVE
    embedder: SkipValidation[TextEmbedder | None] = Field(default=None, exclude=True, repr=False)
    metadata: dict[str, Any] | None = Field(default_factory=lambda: {NAME_KEY: EXTRACTIVE}, exclude=True)

    @property
    def _llm_type(self) -> str:
        return "tributary-extractive"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "embedder": self.embedder.name if self.embedder else None}

    @override
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._result(messages, self._answer_blocking(messages, stop))

    @override
    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._result(messages, await self._answer(messages, stop))

    @override
    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from self._chunks(messages, self._answer_blocking(messages, stop))

    @override
    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._chunks(messages, await self._answer(messages, stop)):
            yield chunk

    def _answer_blocking(self, messages: list[BaseMessage], stop: list[str] | None) -> str:
        if self.embedder is None:
            return cut_at(conclude(draft(messages), None), stop)
        # The caller's thread may run an event loop already, so the embedder gets one in another.
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(asyncio.run, self._answer(messages, stop)).result()

    async def _answer(self, messages: list[BaseMessage], stop: list[str] | None) -> str:
        drafted = await asyncio.to_thread(draft, messages)
        meaning = await self._compare(drafted)
        return cut_at(await asyncio.to_thread(conclude, drafted, meaning), stop)

    async def _compare(self, drafted: Draft) -> Meaning | None:
        if self.embedder is None or not drafted.candidates or not drafted.prompt.question:
            return None
        chosen, foreign = await asyncio.to_thread(
            shortlist, drafted.question, drafted.candidates, drafted.passages, drafted.lexical
        )
        if not chosen:
            return None
        try:
            async with asyncio.timeout(_EMBEDDING_TIMEOUT):
                return await compare(self.embedder, drafted.prompt.question, drafted.candidates, chosen, foreign)
        except (DependencyError, TimeoutError) as error:
            logger.warning("answering by words alone: %s failed with %s", self.embedder.name, type(error).__name__)
            return None

    def _result(self, messages: list[BaseMessage], answer: str) -> ChatResult:
        message = AIMessage(answer, usage_metadata=_usage(messages, answer), response_metadata=self._facts())
        return ChatResult(generations=[ChatGeneration(message=message)], llm_output={"model_name": self.model_name})

    def _chunks(self, messages: list[BaseMessage], answer: str) -> Iterator[ChatGenerationChunk]:
        for piece in pieces(answer):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        last = AIMessageChunk(
            content="", usage_metadata=_usage(messages, answer), response_metadata=self._facts(), chunk_position="last"
        )
        yield ChatGenerationChunk(message=last)

    def _facts(self) -> dict[str, Any]:
        return {"model_name": self.model_name, "model_provider": "local", "finish_reason": "stop"}


def pieces(text: str) -> list[str]:
    """The text in pieces of a few words; joined they are the text."""
    return _PIECE.findall(text)


def cut_at(text: str, stop: list[str] | None) -> str:
    """The text up to the first of the stop sequences."""
    ends = [text.find(mark) for mark in stop or () if mark and mark in text]
    return text[: min(ends)] if ends else text


def _usage(messages: list[BaseMessage], answer: str) -> UsageMetadata:
    read, written = estimate_message_tokens(messages), estimate_tokens(answer)
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)
