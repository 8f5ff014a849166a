"""The chat models as the graph's nodes see them: by name, with what each can take."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from langchain_core.messages import BaseMessage

from tributary.models.capabilities import ModelCapabilities
from tributary.models.catalogue import Capabilities
from tributary.models.chat import ChatModels
from tributary.models.invoke import Piece, stream_answer
from tributary.models.tokens import estimate_tokens


class ModelGateway:
    """`timeout` is the longest silence of a provider, in seconds."""

    def __init__(self, *, models: ChatModels, capabilities: ModelCapabilities, timeout: float) -> None:
        self._models = models
        self._capabilities = capabilities
        self._timeout = timeout

    async def capabilities(self, model: str) -> Capabilities:
        return await self._capabilities.of(model)

    async def stream(
        self, model: str, messages: Sequence[BaseMessage], *, max_output: int | None = None
    ) -> AsyncGenerator[Piece, None]:
        """One call, its answer limited to `max_output` tokens. Raises as `stream_answer` does."""
        opened = await self._models.get(model)
        answer = stream_answer(opened, messages, timeout=self._timeout, max_output=max_output)
        async with aclosing(answer) as pieces:
            async for piece in pieces:
                yield piece

    def count_tokens(self, text: str) -> int:
        return estimate_tokens(text)
