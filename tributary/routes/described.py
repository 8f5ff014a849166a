"""What OpenAPI says of routes beyond their answers: the problems and how they look, events, and what turns hold."""

from http import HTTPStatus
from typing import Annotated, Any

from pydantic import TypeAdapter, WithJsonSchema

from tributary.domain.conversations import NotSent, Usage
from tributary.domain.retrieval import Degradation, Source
from tributary.routes.problems import MEDIA_TYPE

PROBLEM: dict[str, Any] = {
    "type": "object",
    "title": "Problem",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string", "examples": ["urn:tributary:problem:not_found"]},
        "title": {"type": "string", "examples": ["Not found"]},
        "status": {"type": "integer", "examples": [404]},
        "code": {"type": "string", "examples": ["not_found"], "description": "Stable: for programs"},
        "detail": {"type": "string", "examples": ["Knowledge base 0198… does not exist"], "description": "For people"},
        "retryAfter": {"type": "integer", "description": "Seconds; also in the header Retry-After"},
        "files": {
            "type": "array",
            "items": {"type": "object"},
            "description": "Of a message that is too large, its files as `{id, filename, size}`, texts first; "
            "of an upload that was refused, a result for each file",
        },
        "conversationId": {"type": "string", "description": "Of a turn whose question was stored"},
        "questionId": {"type": "string", "description": "The stored question: `replaceMessageId` asks it again"},
    },
}


def _flat(kind: Any) -> WithJsonSchema:
    """The schema of a dictionary of known fields. What is stored is told as it is, and not checked on its way out."""
    return WithJsonSchema(TypeAdapter(kind).json_schema())


SourceDict = Annotated[dict[str, Any], _flat(Source)]
UsageDict = Annotated[dict[str, Any], _flat(Usage)]
DegradationDict = Annotated[dict[str, Any], _flat(Degradation)]
NotSentDict = Annotated[dict[str, Any], _flat(NotSent)]
ProblemDict = Annotated[dict[str, Any], WithJsonSchema(PROBLEM)]


_TEXT = {"type": "string"}


def events(description: str) -> dict[str, Any]:
    """The content of a response in server-sent events."""
    event = {"type": "object", "required": ["event", "data"], "properties": {"event": _TEXT, "data": _TEXT}}
    return {"text/event-stream": {"itemSchema": {**event, "description": description}}}


_WHEN = {
    401: "No valid API key",
    403: "The key may not do this, or a page of another site asks with the cookie of a sign-in",
    404: "Unknown, or another organisation's",
    409: "A conflict with what is stored",
    413: "Too large",
    415: "A type that is not taken; the detail says what was found",
    422: "Not as described",
    429: "A quota, a budget or a rate is used up",
    502: "A provider failed",
    503: "A dependency is away",
    504: "A provider did not answer in time",
}
#: What any route of an organisation may answer.
_ALWAYS = (401, 403, 404, 422, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """`responses` of a route or a router: the problems of these statuses, and those that are always possible."""
    return {
        status: {
            "description": _WHEN.get(status, HTTPStatus(status).phrase),
            "content": {MEDIA_TYPE: {"schema": PROBLEM}},
        }
        for status in sorted({*_ALWAYS, *statuses})
    }
