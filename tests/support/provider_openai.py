"""The answers of an OpenAI-compatible server, in OpenAI's dialect and in OpenRouter's."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from starlette.responses import JSONResponse, Response

from tests.support.provider_faults import (
    MISSING,
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
from tests.support.provider_vectors import as_base64, embed

_MESSAGES = {
    401: "Incorrect API key provided: {key}. You can find your API key at https://platform.openai.com/account/api-keys.",
    402: "This request requires more credits, or fewer max_tokens.",
    404: "The model does not exist or you do not have access to it.",
    408: "Request timed out.",
    429: "Rate limit reached for requests.",
    500: "The server had an error while processing your request. Sorry about that!",
    502: "Provider returned error",
    503: "The engine is currently overloaded, please try again later.",
}
_TYPES = {400: "invalid_request_error", 401: "invalid_request_error", 404: "invalid_request_error", 429: "requests"}


@dataclass(frozen=True)
class OpenAIDialect:
    """One family of OpenAI-compatible servers. `dimension` is that of its embeddings."""

    openrouter: bool
    dimension: int = 1536
    #: What a call costs, in US dollars; None: the server does not say.
    cost: float | None = None

    def refuses_key(self, given: str) -> Response:
        """The answer to a wrong key, or to none."""
        if self.openrouter:
            return self.error(401, "User not found." if given else "No auth credentials found")
        if not given:
            return self.error(
                401,
                "You didn't provide an API key. You need to provide your API key in an Authorization header using "
                "Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            )
        return self.error(401, _MESSAGES[401].format(key=given), code="invalid_api_key")

    def refuses(self, rejection: Rejection) -> Response:
        return self.error(rejection.status, rejection.message, param=rejection.param, code=rejection.code)

    def fails(self, fault: Refuse, key: str) -> Response:
        message = (fault.message or _MESSAGES.get(fault.status, "error")).format(key=key)
        response = self.error(fault.status, message, code=fault.code)
        if fault.retry_after is not None:
            response.headers["retry-after"] = fault.retry_after
        return response

    def error(self, status: int, message: str, *, param: str | None = None, code: str | None = None) -> Response:
        if self.openrouter:
            body: dict[str, Any] = {"error": {"message": message, "code": status}}
        else:
            kind = _TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
            body = {"error": {"message": message, "type": kind, "param": param, "code": code}}
        return JSONResponse(body, status_code=status)

    def whole_error(self, fault: ErrorInside200) -> Response:
        return JSONResponse({"error": {"message": fault.message, "code": fault.code}})

    def stream(self, body: dict[str, Any], fault: Fault | None, pieces: tuple[str, ...]) -> tuple[Plan, Iterator[str]]:
        """What the stream sends before it ends, stalls or breaks (which is the server's to do)."""
        planned = plan(fault, pieces)
        return planned, self._events(body, planned)

    def _events(self, body: dict[str, Any], planned: Plan) -> Iterator[str]:
        if self.openrouter:
            yield ": OPENROUTER PROCESSING\n\n"
        yield _event(self._chunk(body, planned, {"role": "assistant", "content": ""}))
        for thought in planned.reasoning:
            yield _event(self._chunk(body, planned, {"content": "", "reasoning": thought}))
        for piece in planned.pieces:
            yield _event(self._chunk(body, planned, {"content": piece}))
        if planned.error:
            yield _event(self._error_chunk(body, planned.error))
            return
        if planned.finish is None:
            return
        yield _event(self._chunk(body, planned, {}, planned.finish))
        if (body.get("stream_options") or {}).get("include_usage"):
            counted = self.usage(body, planned)
            yield _event(self._shell(body, "chat.completion.chunk") | {"choices": [], "usage": counted})
        yield "data: [DONE]\n\n"

    def _shell(self, body: dict[str, Any], kind: str) -> dict[str, Any]:
        shell = {"id": "gen-1", "object": kind, "created": 1764600000, "model": body["model"]}
        return shell | ({"provider": "Stub"} if self.openrouter else {"service_tier": "default"})

    def _chunk(
        self, body: dict[str, Any], planned: Plan, delta: dict[str, str], finish: str | None = None
    ) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        if self.openrouter:
            choice["native_finish_reason"] = finish
        return _with_choices(self._shell(body, "chat.completion.chunk"), planned, [choice])

    def _error_chunk(self, body: dict[str, Any], fault: ErrorInside200) -> dict[str, Any]:
        choice = {"index": 0, "delta": {"content": ""}, "finish_reason": "error"}
        error = {"code": fault.code, "message": fault.message}
        return self._shell(body, "chat.completion.chunk") | {"error": error, "choices": [choice]}

    def whole(self, body: dict[str, Any], fault: Fault | None, pieces: tuple[str, ...]) -> Response:
        """The answer to a request that does not stream."""
        planned = plan(fault, pieces)
        message = {"role": "assistant", "content": "".join(planned.pieces) or None, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": planned.finish, "logprobs": None}
        answer = _with_choices(self._shell(body, "chat.completion"), planned, [choice])
        return JSONResponse(answer | {"usage": self.usage(body, planned)})

    def usage(self, body: dict[str, Any], planned: Plan) -> dict[str, Any]:
        """The counts; OpenRouter tells the cost beside them to who asks for it."""
        counted: dict[str, Any] = usage(body, planned)
        asked = isinstance(body.get("usage"), dict) and body["usage"].get("include")
        if self.openrouter and asked and self.cost is not None:
            counted |= {"cost": self.cost, "is_byok": False, "cost_details": {"upstream_inference_cost": None}}
        return counted

    def embeddings(self, body: dict[str, Any], texts: list[str], fault: Fault | None) -> Response:
        """The vectors of `texts`, spoilt as `fault` says."""
        dimension = fault.dimension if isinstance(fault, WrongDimension) else body.get("dimensions", self.dimension)
        vectors = [embed(text, dimension) for text in texts]
        if isinstance(fault, WrongCount):
            vectors = (vectors + vectors)[: len(vectors) + fault.by]
        if isinstance(fault, WrongValue):
            vectors = [[fault.value] * dimension for _ in vectors]
        encode = as_base64 if body.get("encoding_format") == "base64" else list
        data = [{"object": "embedding", "index": i, "embedding": encode(v)} for i, v in enumerate(vectors)]
        tokens = sum(len(text.split()) for text in texts)
        return JSONResponse(
            {
                "object": "list",
                "data": data,
                "model": body["model"],
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            }
        )


def _with_choices(shell: dict[str, Any], planned: Plan, choices: list[dict[str, Any]]) -> dict[str, Any]:
    if not planned.respell_choices:
        return shell | {"choices": choices}
    return shell if planned.choices is MISSING else shell | {"choices": planned.choices}


def usage(body: dict[str, Any], planned: Plan) -> dict[str, int]:
    """Words count as tokens here: enough to tell that the provider's own numbers are reported."""
    prompt = len(json.dumps(body["messages"]).split())
    completion = len("".join(planned.pieces).split())
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _event(data: dict[str, Any]) -> str:
    return f"data: {json.dumps(data)}\n\n"
