"""LangChain's client for OpenRouter: with what each call cost."""

from typing import Any

from langchain_core.outputs import ChatGenerationChunk

from tributary.models.cost import COST_KEY, cost_of
from tributary.models.direct import DirectChat


class OpenRouterChat(DirectChat):
    """The class of LangChain keeps the tokens of `usage` and drops the cost beside them."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        cost = cost_of(chunk.get("usage"))
        if made is not None and cost is not None:
            made.message.response_metadata[COST_KEY] = cost
        return made
