"""ChatOpenAI without the client's walk through every message."""

from typing import Any

from langchain_core.language_models import LanguageModelInput
from langchain_openai import ChatOpenAI


class DirectChat(ChatOpenAI):
    """LangChain writes messages as they go over the wire. The client of OpenAI looks at each part of each once more,
    for Python names to rename and files to encode, of which there are none: a seventh of a turn's time where the
    history is long. What stands in `extra_body` it takes as it is, in the place of what has the same name."""

    def _get_request_payload(
        self, input_: LanguageModelInput, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload = super()._get_request_payload(input_, stop=stop, **kwargs)
        payload["extra_body"] = {**(payload.get("extra_body") or {}), "messages": payload["messages"]}
        payload["messages"] = []
        return payload
