"""Model names as bots, knowledge bases and settings spell them: `<provider>/<name>`."""

import re
from dataclasses import dataclass

from tributary.domain.errors import InvalidRequest, ProviderError
from tributary.settings import E5, EXTRACTIVE, MINILM, Settings

GEMINI_EMBEDDING = "gemini/gemini-embedding-2"
IMAGE_DESCRIPTOR = "local/image-descriptor"

_LONGEST = 200
#: A Google name becomes part of a URL's path, so it may hold nothing that means something there.
_CHAT = {
    "local": re.compile(re.escape(EXTRACTIVE.partition("/")[2])),
    "openrouter": re.compile(r"[\w~@][\w.~@-]*/[\w~@][\w.~@-]*(:[\w.-]+)?", re.ASCII),
    "google": re.compile(r"\w[\w.-]*", re.ASCII),
    "openai": re.compile(r"\w[\w.:@+-]*(/[\w.:@+-]+)*", re.ASCII),
}
_EMBEDDING = {
    "local": re.compile("|".join(re.escape(name.partition("/")[2]) for name in (E5, MINILM))),
    "gemini": re.compile(re.escape(GEMINI_EMBEDDING.partition("/")[2])),
    "openai": _CHAT["openai"],
}
_FORMS = {
    "a chat model": "local/extractive, openrouter/<author>/<model>, google/<name> or openai/<name>",
    "an embedding": f"{E5}, {MINILM}, {GEMINI_EMBEDDING} or openai/<name>",
}


def image_embedding_of(embedding: str) -> str:
    """Which model sees the pictures of a knowledge base whose texts `embedding` embeds: the same one where it sees
    pictures, else the local descriptor."""
    return embedding if embedding == GEMINI_EMBEDDING else IMAGE_DESCRIPTOR


@dataclass(frozen=True, slots=True)
class ModelName:
    """A well-formed name in its two parts; `name` is what the provider itself calls the model."""

    provider: str
    name: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


def parse_chat_model(text: str) -> ModelName:
    """Raises `InvalidRequest` for an unknown provider or a name that the provider can't have."""
    return _parse(text, _CHAT, "a chat model")


def parse_embedding(text: str) -> ModelName:
    """Raises `InvalidRequest` for an unknown provider or a name that the provider can't have."""
    return _parse(text, _EMBEDDING, "an embedding")


def _parse(text: str, patterns: dict[str, re.Pattern[str]], kind: str) -> ModelName:
    provider, _, name = text.partition("/")
    pattern = patterns.get(provider)
    if pattern is None or len(text) > _LONGEST or not pattern.fullmatch(name):
        raise InvalidRequest(f"{text[:_LONGEST]!r} is not {kind}; expected {_FORMS[kind]}")
    return ModelName(provider, name)


def require_key(settings: Settings, provider: str) -> str:
    """The provider's API key.

    Raises:
        ProviderError: none is set. That is the operator's to mend, so it is said when the model is called and
            not when a bot names it: a bot may be made before the key is.
    """
    variable, secret = {
        "openrouter": ("OPENROUTER_API_KEY", settings.openrouter_api_key),
        "openai": ("OPENAI_API_KEY", settings.openai_api_key),
        "google": ("GOOGLE_API_KEY", settings.google_api_key),
        "gemini": ("GOOGLE_API_KEY", settings.google_api_key),
    }[provider]
    key = secret.get_secret_value().strip() if secret else ""
    if not key:
        raise ProviderError(f"{variable} is not set")
    return key


def providers_with_key(settings: Settings) -> tuple[str, ...]:
    """The remote providers whose models can be called."""
    secrets = {
        "openrouter": settings.openrouter_api_key,
        "google": settings.google_api_key,
        "openai": settings.openai_api_key,
    }
    return tuple(name for name, secret in secrets.items() if secret and secret.get_secret_value().strip())
