"""What a model takes: which kinds of files, and how much text."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx

from tributary.domain.errors import ProviderError
from tributary.models.catalogue import Capabilities, Catalogue, read_catalogue, write_catalogue
from tributary.models.names import ModelName, parse_chat_model
from tributary.models.pricing import Price
from tributary.settings import Settings

__all__ = ["Capabilities", "ModelCapabilities"]

logger = logging.getLogger(__name__)

_FRESH_SECONDS = 3_600.0
#: After a failed refresh the next one waits this long, so that an outage costs no turn a timeout of its own.
_RETRY_SECONDS = 60.0
_LIST_TIMEOUT = 10.0
#: Of a model that nothing is known about. Too small a window loses history, too large a one loses the answer.
_UNKNOWN_CONTEXT = 32_768
#: The built-in model has no window; this holds all that a message may carry, and its history.
_LOCAL_CONTEXT = 2_000_000
_DEFAULTS = {
    "local": Capabilities(images=False, pdfs=False, audio=False, context_tokens=_LOCAL_CONTEXT),
    "openrouter": Capabilities(images=False, pdfs=False, audio=False, context_tokens=_UNKNOWN_CONTEXT),
    "openai": Capabilities(images=True, pdfs=False, audio=False, context_tokens=_UNKNOWN_CONTEXT),
    "google": Capabilities(images=True, pdfs=True, audio=True, context_tokens=1_048_576),
}

Profile = Mapping[str, Any]


class ModelCapabilities:
    """Answers from OpenRouter's model list, LangChain's model profiles, or a documented default, in this order.

    The list is asked for when the first `openrouter/` model is, kept for an hour, and kept on disk, so that it
    outlives a restart and an outage. An expired list still answers while it is being refreshed. `profile` gives
    LangChain's profile of a model, as `ChatModels.profile` does; it may raise `ProviderError`.
    """

    def __init__(
        self,
        settings: Settings,
        profile: Callable[[str], Awaitable[Profile | None]],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._url = f"{settings.openrouter_base_url.rstrip('/')}/models"
        self._path = settings.data / "capabilities.json"
        self._profile = profile
        self._clock = clock
        self._catalogue: Catalogue | None = None
        self._loaded = False
        self._not_before = 0.0
        self._refreshing: asyncio.Task[None] | None = None

    async def of(self, name: str) -> Capabilities:
        """The capabilities of a model. A list that can't be had is no error: a default answers.

        Raises:
            InvalidRequest: no provider has such a name.
        """
        model = parse_chat_model(name)
        default = _DEFAULTS[model.provider]
        if model.provider == "openrouter":
            catalogue = await self._current()
            return (catalogue.find(model.name) if catalogue else None) or default
        if model.provider == "local":
            return default
        return await self._profiled(model, default)

    def price(self, name: str) -> Price | None:
        """What the list says a call costs, as far as it has been read; it is when the model's capabilities are asked
        for, and nobody waits for it here."""
        provider, _, slug = name.partition("/")
        return self._catalogue.price(slug) if self._catalogue and provider == "openrouter" else None

    async def _profiled(self, model: ModelName, default: Capabilities) -> Capabilities:
        try:
            profile = await self._profile(str(model))
        except ProviderError:
            return default  # No key: the call itself will say so.
        if not profile or not profile.get("max_input_tokens"):
            return default
        longest = profile.get("max_output_tokens")
        return Capabilities(
            images=bool(profile.get("image_inputs")),
            pdfs=bool(profile.get("pdf_inputs")),
            audio=bool(profile.get("audio_inputs")),
            context_tokens=int(profile["max_input_tokens"]),
            max_output_tokens=int(longest) if longest else None,
        )

    async def _current(self) -> Catalogue | None:
        """The list, as fresh as can be had without waiting where an older one is there."""
        if not self._loaded:
            stored = await asyncio.to_thread(read_catalogue, self._path, self._url)
            if not self._loaded:
                self._catalogue, self._loaded = stored, True
        if self._catalogue is not None and self._clock() - self._catalogue.fetched_at < _FRESH_SECONDS:
            return self._catalogue
        refresh = self._refresh()
        if self._catalogue is None and refresh is not None:
            # Shielded: who gives up waiting must not take the list from the others.
            await asyncio.shield(refresh)
        return self._catalogue

    def _refresh(self) -> asyncio.Task[None] | None:
        """The refresh under way, a new one, or none so soon after a failure."""
        if self._refreshing is None and self._clock() >= self._not_before:
            self._refreshing = asyncio.create_task(self._fetch(), name="refresh model list")
        return self._refreshing

    async def _fetch(self) -> None:
        try:
            # In a thread, since it reads the certificates of the system.
            opened = await asyncio.to_thread(httpx.AsyncClient, timeout=_LIST_TIMEOUT, follow_redirects=True)
            async with opened as client:
                response = (await client.get(self._url)).raise_for_status()
            catalogue = Catalogue.parse(response.json(), url=self._url, fetched_at=self._clock())
        except (httpx.HTTPError, ValueError) as error:
            self._not_before = self._clock() + _RETRY_SECONDS
            logger.warning("the model list could not be refreshed: %s", type(error).__name__)
            return
        else:
            self._catalogue = catalogue
            await asyncio.to_thread(write_catalogue, self._path, catalogue)
        finally:
            self._refreshing = None

    async def settled(self) -> None:
        """Returns when no refresh is under way."""
        if self._refreshing is not None:
            await asyncio.shield(self._refreshing)

    async def aclose(self) -> None:
        """Ends a refresh that is under way."""
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)
