"""Errors in the form of OpenAI's API, so that its clients raise what they raise there."""

from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from tributary.domain.errors import InvalidRequest, Problem, TributaryError
from tributary.routes.problems import MEDIA_TYPE, response_to

#: Seconds up to which OpenAI's clients wait as they are told; beyond them they would try again too soon.
LONGEST_WAIT = 60
_TYPES = {
    HTTPStatus.UNAUTHORIZED: "authentication_error",
    HTTPStatus.FORBIDDEN: "permission_error",
    HTTPStatus.TOO_MANY_REQUESTS: "rate_limit_error",
}


class BadParameter(InvalidRequest):
    """A part of the request, named as its clients name it: `messages[2].content[0].image_url`."""

    def __init__(self, param: str, detail: str) -> None:
        super().__init__(f"{param}: {detail}")
        self.param = param

    def problem(self) -> Problem:
        return {**super().problem(), "param": self.param}


def envelope(problem: Problem) -> dict[str, Any]:
    """The body: our stable `code`, and what OpenAI calls the kind of the error."""
    status = problem["status"]
    usual = "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error"
    error: dict[str, Any] = {
        "message": problem["detail"],
        "type": _TYPES.get(HTTPStatus(status), usual),
        "param": problem.get("param"),
        "code": problem["code"],
    }
    if "files" in problem:
        error["files"] = problem["files"]
    return {"error": error}


def error_response(problem: Problem) -> JSONResponse:
    """The status is ours, but for a body that is not as described: there OpenAI's is 400."""
    status = problem["status"]
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = int(HTTPStatus.BAD_REQUEST)
    headers: dict[str, str] = {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if "retryAfter" in problem:
        headers["Retry-After"] = str(problem["retryAfter"])
    if status == HTTPStatus.CONFLICT or (
        status == HTTPStatus.TOO_MANY_REQUESTS and not 0 < problem.get("retryAfter", 0) <= LONGEST_WAIT
    ):
        headers["X-Should-Retry"] = "false"
    return JSONResponse(envelope(problem), status_code=status, headers=headers)


class OpenAIRoute(APIRoute):
    """A route whose every refusal has OpenAI's form."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def enveloped(request: Request) -> Response:
            try:
                response = await handle(request)
            except (TributaryError, RequestValidationError, HTTPException) as error:
                response = await response_to(request, error)
            if response.media_type != MEDIA_TYPE:
                return response
            return error_response(orjson.loads(response.body))

        return enveloped
