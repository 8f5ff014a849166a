"""The answers of the Gemini API."""

import json
from collections.abc import Iterator
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.support.provider_faults import (
    Blocked,
    ErrorInside200,
    Fault,
    Plan,
    Refuse,
    WrongCount,
    WrongDimension,
    WrongValue,
    plan,
)
from tests.support.provider_rejection import Rejection
from tests.support.provider_vectors import embed, embed_picture

_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_MESSAGES = {
    404: "models/unknown is not found for API version v1beta, or is not supported for generateContent.",
    429: "You exceeded your current quota, please check your plan and billing details.",
    500: "An internal error has occurred. Please retry or report in https://developers.generativeai.google/",
    503: "The model is overloaded. Please try again later.",
    504: "The request timed out. Please try again.",
}
_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY", "error": "OTHER"}
DIMENSION = 3072
IMAGE_TOKENS = 258


def error(status: int, message: str, details: list[dict[str, Any]] | None = None) -> Response:
    body: dict[str, Any] = {"code": status, "message": message, "status": _STATUSES.get(status, "UNKNOWN")}
    if details:
        body["details"] = details
    return JSONResponse({"error": body}, status_code=status)


def refuses_key(given: str) -> Response:
    """The answer to a wrong key (400, as the real one does), or to none (403)."""
    if not given:
        return error(
            403,
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
        )
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "API_KEY_INVALID",
        "domain": "googleapis.com",
        "metadata": {"service": "generativelanguage.googleapis.com"},
    }
    return error(400, "API key not valid. Please pass a valid API key.", [info])


def refuses(rejection: Rejection) -> Response:
    return error(rejection.status, rejection.message)


def fails(fault: Refuse, key: str) -> Response:
    """The error that a fault asks for; a wait is said in the body, as Google says it, and in no header."""
    details = None
    if fault.retry_after is not None:
        details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{fault.retry_after}s"}]
    message = fault.message or _MESSAGES.get(fault.status, "error")
    return error(fault.status, message.format(key=key), details)


def stream(model: str, fault: Fault | None, pieces: tuple[str, ...]) -> tuple[Plan, Iterator[str]]:
    """What the stream sends before it ends, stalls or breaks (which is the server's to do)."""
    planned = plan(fault, pieces)
    if isinstance(fault, Blocked):
        return planned, iter([_event(_shell(model, 0) | {"promptFeedback": {"blockReason": fault.reason}})])
    return planned, _events(model, planned)


def _events(model: str, planned: Plan) -> Iterator[str]:
    words = 0
    for thought in planned.reasoning:
        yield _event(_shell(model, words) | _candidate([{"text": thought, "thought": True}], None))
    for piece in planned.pieces:
        words += len(piece.split())
        yield _event(_shell(model, words) | _candidate([{"text": piece}], None))
    if planned.error:
        yield _event({"error": _inside(planned.error)})
    elif planned.finish is not None:
        reason = _FINISH.get(planned.finish, planned.finish)
        yield _event(_shell(model, words) | _candidate([{"text": ""}], reason))


def _inside(fault: ErrorInside200) -> dict[str, Any]:
    code = fault.code if isinstance(fault.code, int) else 500
    return {"code": code, "message": fault.message, "status": _STATUSES.get(code, "UNKNOWN")}


def _shell(model: str, words: int) -> dict[str, Any]:
    """Gemini counts usage up from chunk to chunk; the last one holds the sum."""
    counts = {"promptTokenCount": 7, "candidatesTokenCount": words, "totalTokenCount": 7 + words}
    return {"usageMetadata": counts, "modelVersion": model, "responseId": "r-1"}


def _candidate(parts: list[dict[str, Any]], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


def whole(model: str, fault: Fault | None, pieces: tuple[str, ...]) -> Response:
    """The answer to a request that does not stream."""
    planned = plan(fault, pieces)
    text = "".join(planned.pieces)
    finish = _FINISH.get(planned.finish or "", planned.finish)
    return JSONResponse(_shell(model, len(text.split())) | _candidate([{"text": text}], finish))


def embeddings(contents: list[tuple[str | bytes, int | None]], fault: Fault | None) -> Response:
    """One vector a content, spoilt as `fault` says."""
    vectors = [_vector(content, dimension or DIMENSION) for content, dimension in contents]
    if isinstance(fault, WrongDimension):
        vectors = [_vector(content, fault.dimension) for content, _ in contents]
    if isinstance(fault, WrongCount):
        vectors = (vectors + vectors)[: len(vectors) + fault.by]
    if isinstance(fault, WrongValue):
        vectors = [[fault.value] * len(vector) for vector in vectors]
    counted = sum(len(content.split()) if isinstance(content, str) else IMAGE_TOKENS for content, _ in contents)
    return JSONResponse(
        {"embeddings": [{"values": vector} for vector in vectors], "usageMetadata": {"promptTokenCount": counted}}
    )


def _vector(content: str | bytes, dimension: int) -> list[float]:
    return embed(content, dimension) if isinstance(content, str) else embed_picture(content, dimension)


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\r\n\r\n"
