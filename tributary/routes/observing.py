"""What every request leaves behind, whoever answers it: an id, figures, a span, and one line in the log.

None of them holds a query, a header or a body: an attachment's token stands in an address. Paths are told by their
template, beside those ids in them that are ids of ours."""

import logging
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id
from tributary.routes.problems import REQUEST_ID, REQUEST_KEY, problem_response
from tributary.telemetry import tracing
from tributary.telemetry.context import about, subject
from tributary.telemetry.logs import fields
from tributary.telemetry.metrics import REQUEST_SECONDS, REQUESTS, REQUESTS_AT_WORK, STREAMS

logger = logging.getLogger("tributary.access")

#: What a client may call its request; of any other name nothing is taken over.
_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))
#: Of all paths that no route has.
NOWHERE = "unknown"
#: Asked every few seconds by machines, and answered to the end.
PROBES = frozenset(("/healthz", "/readyz", "/metrics"))
#: Seconds after which a request is better sent again, to whoever serves then.
COME_AGAIN = 2.0


class Observing:
    """The outermost middleware. Once `app.state.stopping` is set it refuses what is new."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get(REQUEST_ID, "")
        seen = _Seen(scope, given if _NAME.fullmatch(given) else new_id().hex)
        with about(request=seen.id), tracing.request_span(seen.method, headers) as span, seen.counted():
            if _is_stopping(scope) and scope["path"] not in PROBES:
                await _refuse(scope, receive, seen.telling(send))
            else:
                await self._app(scope, receive, seen.telling(send))
            if span is not None:
                seen.describe(span)


def _is_stopping(scope: Scope) -> bool:
    # Another application that serves our routes knows of no stop.
    stopping = getattr(scope["app"].state, "stopping", None)
    return stopping is not None and stopping.is_set()


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    error = DependencyUnavailable("The server is stopping; send it again", retry_after=COME_AGAIN)
    response = problem_response(error.problem())
    response.headers["Connection"] = "close"
    await response(scope, receive, send)


class _Seen:
    """One request, as it is answered."""

    def __init__(self, scope: Scope, request_id: str) -> None:
        self.id = request_id
        self.method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._scope = scope
        self._root = scope.get("root_path", "")
        self._began = time.perf_counter()
        self._answered = 0.0
        self._status = 0
        self._streams = False
        # For the answer to a bug, which is given outside of this.
        scope[REQUEST_KEY] = request_id

    @contextmanager
    def counted(self) -> Iterator[None]:
        REQUESTS_AT_WORK.inc()
        try:
            yield
        except BaseException:
            self._status = self._status or 500
            raise
        finally:
            REQUESTS_AT_WORK.dec()
            if self._streams:
                STREAMS.dec()
            self._tell()

    def telling(self, send: Send) -> Send:
        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._answered = time.perf_counter() - self._began
                self._status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = self.id
                if headers.get("content-type", "").startswith("text/event-stream"):
                    self._streams = True
                    STREAMS.inc()
            await send(message)

        return told

    @property
    def route(self) -> str:
        """The template of the path. What is mounted has the path under which it is."""
        below = self._scope.get("root_path", "").removeprefix(self._root)
        route = getattr(self._scope.get("route"), "path", "")
        return f"{below}{route}" or NOWHERE

    def describe(self, span: Any) -> None:
        span.update_name(f"{self.method} {self.route}")
        span.set_attributes(
            {
                "http.request.method": self.method,
                "http.route": self.route,
                "http.response.status_code": self._status,
                **{f"tributary.{name}": value for name, value in subject().items()},
            }
        )

    def _tell(self) -> None:
        route, status = self.route, self._status
        REQUESTS.labels(route, self.method, status).inc()
        REQUEST_SECONDS.labels(route, self.method).observe(self._answered or time.perf_counter() - self._began)
        took = round((time.perf_counter() - self._began) * 1000, 1)
        logger.log(
            logging.DEBUG if route in PROBES else logging.INFO,
            "%s %s %d in %.0f ms",
            self.method,
            route,
            status,
            took,
            extra=fields(
                method=self.method,
                route=route,
                status=status,
                milliseconds=took,
                **_ids(self._scope.get("path_params") or {}),
            ),
        )


def _ids(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Those parts of a path that are ids; any other may be a secret."""
    return {name: str(value) for name, value in parameters.items() if _is_id(str(value))}


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
