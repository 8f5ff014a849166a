"""LangChain's client for servers other than OpenAI's own: Ollama, vLLM, llama.cpp and their like."""

from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import LanguageModelInput

from tributary.models.direct import DirectChat

_OPENAI_HOSTS = (".openai.com", ".openai.azure.com")


def is_openai(base_url: str) -> bool:
    """Whether an address is OpenAI's own, where the older names of arguments are refused."""
    return f".{urlsplit(base_url).hostname or ''}".endswith(_OPENAI_HOSTS)


class CompatibleChat(DirectChat):
    """LangChain writes the newer name of the limit of an answer, which some of these servers don't know and pass over;
    all know the older one."""

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload = super()._get_request_payload(input_, stop=stop, **kwargs)
        if "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload
