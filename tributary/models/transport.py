"""The HTTP client that OpenAI-compatible models share, and what is looked at in every response."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tributary.models.faults import ErrorInBody

_CONNECT_SECONDS = 10.0
#: Where the call under way notes the responses it opens.
_opened: ContextVar[list[Any] | None] = ContextVar("opened responses", default=None)


def open_client(timeout: float) -> Any:
    """A pooled async client for langchain-openai; `timeout` is the longest silence in seconds. Close it with
    `aclose()`, on the event loop that used it.

    It is the SDK's own class, since the SDK changed its HTTP library between two of its major versions.
    """
    import openai

    return openai.DefaultAsyncHttpxClient(
        timeout=http_timeout(timeout), event_hooks={"response": [note_response, _refuse_error_in_body]}
    )


def http_timeout(timeout: float) -> Any:
    """The same limits for a single call; the SDK's default would be none at all."""
    import openai

    return openai.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout))


@contextmanager
def noting_responses(opened: list[Any]) -> Iterator[None]:
    """Within it, responses of hooked clients are added to `opened`, to be closed by who leaves a stream early.

    google-genai ties a response into a cycle of references, so that closing the generators above it leaves the
    connection open, and the model at work, until the next garbage collection.
    """
    token = _opened.set(opened)
    try:
        yield
    finally:
        _opened.reset(token)


async def note_response(response: Any) -> None:
    """A response hook for httpx clients."""
    opened = _opened.get()
    if opened is not None:
        opened.append(response)


async def _refuse_error_in_body(response: Any) -> None:
    """A JSON body where a stream was asked for is read by nobody: its error would look like an empty answer."""
    if response.status_code != 200 or "application/json" not in response.headers.get("content-type", ""):
        return
    await response.aread()
    try:
        body = response.json()
    except ValueError:
        return  # The SDK reads it again and says so itself.
    if isinstance(body, dict) and body.get("error"):
        raise ErrorInBody(body)
