"""The chat models by name. Who calls one goes through `tributary.models.invoke`."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.language_models import BaseChatModel

from tributary.models.names import ModelName, parse_chat_model, providers_with_key, require_key
from tributary.models.transport import http_timeout, note_response, open_client
from tributary.settings import Settings

logger = logging.getLogger(__name__)

#: Under this key of a model's `metadata` stands its registry name.
NAME_KEY = "tributary_model"
#: What the Gemini API documents all its models under; the SDK's own default changes between its versions.
GOOGLE_API_VERSION = "v1beta"
#: Models kept. Bots name what they like, so without a bound one caller could fill the memory.
_KEPT = 64
#: By these OpenRouter attributes calls to an application. Every installation has an address of its own, and none of
#: them is OpenRouter's business: it takes this one where a title stands beside it.
_ATTRIBUTION = {"HTTP-Referer": "http://localhost", "X-Title": "Tributary"}


class ChatModels:
    """The registry. `local` makes the built-in model; it is called once, in a thread.

    Provider packages are imported when the first model of theirs is asked for: together they take 0.9 s and 60 MB
    that a local installation does without. Models of one name are one object; OpenAI-compatible ones share a pool
    of connections. The pool belongs to the event loop that first used it: one registry a loop.
    """

    def __init__(self, settings: Settings, local: Callable[[], BaseChatModel]) -> None:
        self._settings = settings
        self._local = local
        self._models: OrderedDict[str, BaseChatModel] = OrderedDict()
        self._building = asyncio.Lock()
        self._client: Any = None

    def validate(self, name: str) -> None:
        """Raises `InvalidRequest` for a name of no known provider or form. A missing key is no fault of the name:
        the call tells."""
        parse_chat_model(name)

    def available(self) -> tuple[str, ...]:
        """The providers whose models can be called: `local`, and those with a key."""
        return ("local", *providers_with_key(self._settings))

    async def get(self, name: str) -> BaseChatModel:
        """The model of that name.

        Raises:
            InvalidRequest: no provider has such a name.
            ProviderError: the provider's key is not set.
        """
        parsed = parse_chat_model(name)
        async with self._building:
            model = self._models.get(name)
            if model is None:
                model = self._models[name] = await asyncio.to_thread(self._build, parsed)
            self._models.move_to_end(name)
            if len(self._models) > _KEPT:
                self._models.popitem(last=False)
            return model

    async def profile(self, name: str) -> Mapping[str, Any] | None:
        """What LangChain knows of the model: `image_inputs`, `max_input_tokens` and so on; None for nothing.
        Raises as `get` does."""
        return (await self.get(name)).profile

    def _build(self, name: ModelName) -> BaseChatModel:
        if name.provider == "local":
            return self._local()
        key = require_key(self._settings, name.provider)
        logger.info("opening chat model %s", name)
        return self._google(name, key) if name.provider == "google" else self._openai(name, key)

    def _openai(self, name: ModelName, key: str) -> BaseChatModel:
        openrouter = name.provider == "openrouter"
        kind = _openrouter_class() if openrouter else _openai_class(self._settings.openai_base_url)
        if self._client is None:
            self._client = open_client(self._settings.provider_timeout)

        async def api_key() -> str:
            # As a coroutine the key stays out of the model's fields, and no synchronous client is made beside.
            return key

        model: BaseChatModel = kind(
            model=name.name,
            api_key=api_key,
            base_url=self._settings.openrouter_base_url if openrouter else self._settings.openai_base_url,
            default_headers=_ATTRIBUTION if openrouter else None,
            # Else OpenRouter does not say what a call cost.
            extra_body={"usage": {"include": True}} if openrouter else None,
            http_async_client=self._client,
            # The library reads a proxy of its own from the environment, and then refuses our client.
            openai_proxy="",
            timeout=http_timeout(self._settings.provider_timeout),
            max_retries=0,
            # Without it no usage comes back from any server but OpenAI's own.
            stream_usage=True,
            # By the model's name alone it would go to an endpoint that only OpenAI has.
            use_responses_api=False,
            stream_chunk_timeout=None,
            metadata={NAME_KEY: str(name)},
        )
        return model

    def _google(self, name: ModelName, key: str) -> BaseChatModel:
        from langchain_google_genai import ChatGoogleGenerativeAI

        return ChatGoogleGenerativeAI(
            model=name.name,
            google_api_key=key,
            base_url=self._settings.google_base_url,
            api_version=GOOGLE_API_VERSION,
            vertexai=False,
            # One attempt in all; 0 would mean the SDK's default of five.
            max_retries=1,
            client_args={"event_hooks": {"response": [note_response]}},
            metadata={NAME_KEY: str(name)},
        )

    async def aclose(self) -> None:
        """Closes the connections, on the event loop that used them."""
        for model in self._models.values():
            if hasattr(model, "aclose"):
                await model.aclose()
        self._models.clear()
        if self._client is not None:
            await self._client.aclose()
            self._client = None


def _openai_class(base_url: str) -> Any:
    from tributary.models.compatible import CompatibleChat, is_openai
    from tributary.models.direct import DirectChat

    return DirectChat if is_openai(base_url) else CompatibleChat


def _openrouter_class() -> Any:
    from tributary.models.openrouter import OpenRouterChat

    return OpenRouterChat
