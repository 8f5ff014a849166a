"""What providers and their libraries raise, as errors of our tree.

Two libraries, two HTTP clients and LangChain between them raise some thirty types for the same dozen events. Here
is the one place that knows them. No error text leaves it unredacted: a gateway may answer with the request's own
headers, and the key is among them.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.exceptions import ContextOverflowError, LangChainException

from tributary.domain.errors import MessageTooLarge, ProviderError, ProviderTimeout, TributaryError
from tributary.models.refusals import Refusal, refusal_of_body, refusal_of_google, refusal_of_openai

_LONGEST_MESSAGE = 300
_KEYS = re.compile(r"\b(?:sk-[\w*-]{6,}|AIza[\w-]{10,}|lsv2_\w{8,}|org-\w{6,}|proj_\w{6,})|(?i:bearer\s+\S+)")
#: How OpenAI, Anthropic, Gemini, Mistral, vLLM, llama.cpp, LM Studio and others say that a prompt is too long.
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|maximum (?:model|input) length"
    r"|(?:prompt|input|request) (?:is )?too (?:long|large)|too many (?:input )?tokens"
    r"|input token count|reduce the length|context the overflows",
    re.IGNORECASE,
)
_SECRET_HEADERS = ("authorization", "x-goog-api-key", "api-key")

_TIMEOUTS = ("openai:APITimeoutError", "httpx:TimeoutException", "httpx2:TimeoutException")
_CONNECTIONS = ("openai:APIConnectionError", "httpx:TransportError", "httpx2:TransportError", "aiohttp:ClientError")
_PROVIDERS = (
    "openai:OpenAIError",
    "google.genai.errors:APIError",
    "langchain_google_genai.embeddings:GoogleGenerativeAIError",
    "httpx:HTTPError",
    "httpx2:HTTPError",
    "aiohttp:ClientError",
)


class ErrorInBody(Exception):
    """HTTP 200 with an error in place of an answer: what OpenRouter sends once an upstream has failed."""

    def __init__(self, body: Any) -> None:
        super().__init__("the provider answered 200 with an error in the body")
        self.body = body


def _known(names: tuple[str, ...]) -> tuple[type[Exception], ...]:
    """Those exception types whose packages are loaded; one that isn't, or is only half, can't have raised."""
    found = []
    for name in names:
        module, _, attribute = name.partition(":")
        kind = getattr(sys.modules.get(module), attribute, None)
        if kind is not None:
            found.append(kind)
    return tuple(found)


def provider_failures() -> tuple[type[Exception], ...]:
    """What may come out of a call of a provider's library.

    The plain types are how the libraries meet an answer of another shape than they expect: a missing key, a null,
    JSON that is none. They stand for a broken answer only around a call that awaits a provider.
    """
    plain = (OSError, ValueError, TypeError, LookupError, AttributeError)
    return (*plain, LangChainException, ErrorInBody, *_known(_PROVIDERS))


def translate(error: Exception, name: str) -> TributaryError:
    """The error of our tree for what the model `name` raised. Raise it with `raise … from cause(error)`."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, TributaryError):
            return link
    if any(isinstance(link, ContextOverflowError) for link in chain):
        return _too_large(name)
    if any(isinstance(link, (TimeoutError, *_known(_TIMEOUTS))) for link in chain):
        return ProviderTimeout(f"{name} did not answer in time")
    refusal = next(filter(None, map(_refusal, chain)), None)
    if refusal is not None:
        return _judged(refusal, name, secrets_of(error))
    if any(isinstance(link, (OSError, *_known(_CONNECTIONS))) for link in chain):
        return ProviderError(f"The connection to {name} could not be made or was lost", transient=True)
    return ProviderError(f"The answer of {name} could not be read", transient=True)


def cause(error: Exception) -> Exception | None:
    """The error as the cause of its translation, unless its text holds the key: then nothing is chained."""
    secrets = secrets_of(error)
    leaks = any(secret in str(link) for link in _chain(error) for secret in secrets)
    return None if leaks else error


def secrets_of(error: BaseException) -> frozenset[str]:
    """The keys that the failed request carried, so that they can be struck from what came back."""
    found = set()
    for link in _chain(error):
        response = getattr(link, "response", None)
        for holder in (link, response):
            headers = getattr(_request_of(holder), "headers", None) or {}
            found |= {headers[name].removeprefix("Bearer ") for name in _SECRET_HEADERS if name in headers}
    return frozenset(secret for secret in found if secret)


def _request_of(holder: object) -> object | None:
    try:
        return getattr(holder, "request", None)
    except RuntimeError:  # httpx, of a response or an error that was given no request
        return None


def redact(text: str, secrets: frozenset[str]) -> str:
    """The text on one line, cut, without halves of characters, the secrets, and whatever else looks like a key."""
    text = text.encode("utf-8", "replace").decode()
    for secret in secrets:
        text = text.replace(secret, "[key]")
    line = " ".join(_KEYS.sub("[key]", text).split())
    return line if len(line) <= _LONGEST_MESSAGE else line[: _LONGEST_MESSAGE - 1] + "…"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, its cause, the cause's cause and so on."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _refusal(error: BaseException) -> Refusal | None:
    if isinstance(error, ErrorInBody):
        return refusal_of_body(error.body)
    if isinstance(error, _known(("google.genai.errors:APIError",))):
        return refusal_of_google(error)
    if isinstance(error, _known(("openai:APIError",))) and not isinstance(error, _known(_CONNECTIONS)):
        return refusal_of_openai(error)
    return None


def _too_large(name: str) -> MessageTooLarge:
    return MessageTooLarge(f"The message with its files does not fit the context window of {name}")


@dataclass(frozen=True, slots=True)
class _Verdict:
    words: str
    transient: bool
    quotes: bool = True


def _judged(refusal: Refusal, name: str, secrets: frozenset[str]) -> TributaryError:
    """The refusal by its status; what can't be told from it counts as a fault of the server."""
    if refusal.status in (400, 413, 422) and _TOO_LONG.search(f"{refusal.code} {refusal.message}"):
        return _too_large(name)
    if refusal.status in (408, 504, 524):
        return ProviderTimeout(f"{name} did not answer in time", retry_after=refusal.retry_after)
    verdict = _verdict(refusal)
    detail = f"{name} {verdict.words}"
    message = redact(refusal.message, secrets)
    if message and verdict.quotes:
        detail = f"{detail}: {message}"
    return ProviderError(detail, transient=verdict.transient, retry_after=refusal.retry_after)


def _verdict(refusal: Refusal) -> _Verdict:
    status = refusal.status
    if status == 401 or refusal.code in ("API_KEY_INVALID", "invalid_api_key"):
        # Its text quotes the key, in part or whole.
        return _Verdict("refused the API key", transient=False, quotes=False)
    if status == 402 or refusal.code == "insufficient_quota":
        return _Verdict("refused the call for lack of credit", transient=False)
    if status == 403:
        return _Verdict("does not allow the call", transient=False)
    if status == 404:
        return _Verdict("is not known to its provider", transient=False)
    if status == 429:
        return _Verdict("is limited in rate by its provider", transient=True)
    if status in (409, 425) or status >= 500:
        return _Verdict(f"failed at its provider ({status})", transient=True)
    return _Verdict("refused the request", transient=False)
