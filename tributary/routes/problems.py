"""Errors as RFC 9457 problem+json: the one place where an error becomes a status."""

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tributary.domain.errors import InvalidRequest, Problem, TributaryError
from tributary.telemetry.context import about
from tributary.telemetry.redaction import words_of

MEDIA_TYPE = "application/problem+json"
REQUEST_ID = "X-Request-ID"
#: Of a scope: the request's id.
REQUEST_KEY = "tributary.request_id"

logger = logging.getLogger(__name__)


def problem_response(problem: Problem, **extra: Any) -> JSONResponse:
    """The problem as a response, with Retry-After where waiting helps."""
    headers = {"Retry-After": str(problem["retryAfter"])} if "retryAfter" in problem else {}
    if problem["status"] == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    return JSONResponse({**problem, **extra}, status_code=problem["status"], media_type=MEDIA_TYPE, headers=headers)


async def _on_our_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, TributaryError)
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.warning("%s", words_of(error), exc_info=error)
    return problem_response(error.problem())


async def _on_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    details = "; ".join(_place(each) for each in error.errors()[:5])
    return problem_response(InvalidRequest(details or "The request is not as described").problem())


def _place(error: dict[str, Any]) -> str:
    where = ".".join(str(part) for part in error["loc"] if part != "body")
    return f"{where}: {error['msg']}" if where else str(error["msg"])


async def _on_http(_: Request, error: Exception) -> JSONResponse:
    """What the framework refuses by itself: unknown paths, wrong methods."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    if status == HTTPStatus.BAD_REQUEST:  # a body that the framework could not even parse
        return problem_response(InvalidRequest(str(error.detail)).problem())
    problem = Problem(
        type="about:blank",
        title=status.phrase,
        status=status.value,
        code="not_found" if status == HTTPStatus.NOT_FOUND else status.name.lower(),
        detail=str(error.detail),
    )
    response = problem_response(problem)
    response.headers.update(error.headers or {})
    return response


async def _on_leaving(_: Request, __: Exception) -> JSONResponse:
    """A client that left while it was still sending hears no answer, and did nothing wrong."""
    logger.info("the client left while it was sending")
    return problem_response(InvalidRequest("The request ended before its body was whole").problem())


async def _on_bug(request: Request, error: Exception) -> JSONResponse:
    # Outside of all that is ours, where the request's id is put into lines and answers.
    request_id = request.scope.get(REQUEST_KEY, "")
    with about(request=request_id):
        logger.error("a request failed on a bug", exc_info=error)
    response = problem_response(TributaryError("Something failed on our side; the log says what").problem())
    response.headers[REQUEST_ID] = request_id
    return response


async def response_to(request: Request, error: Exception) -> JSONResponse:
    """The problem of an error that a route handles itself: one of ours, or of the framework's."""
    match error:
        case TributaryError():
            return await _on_our_error(request, error)
        case RequestValidationError():
            return await _on_invalid(request, error)
        case _:
            return await _on_http(request, error)


def install(app: FastAPI) -> None:
    """Maps every error of the application to a problem."""
    app.add_exception_handler(TributaryError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(ClientDisconnect, _on_leaving)
    app.add_exception_handler(Exception, _on_bug)
