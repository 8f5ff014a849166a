"""`/mcp` as an ASGI application: who may call it, and when the SDK behind it is loaded."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tributary.domain.errors import ForeignOrigin, Unauthorized
from tributary.domain.identity import Caller
from tributary.services import Services

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
#: Of a scope: the authenticated caller.
CALLER = "tributary.caller"
#: Headers that clients in browsers send.
HEADERS = ("Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id")


class McpEndpoint:
    """Lets in what has a key and comes from no foreign page. Its server starts with the first call."""

    path = PATH

    def __init__(self) -> None:
        self._starting = asyncio.Lock()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._manager: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # As FastAPI's routes do: the log and the figures call a request by it.
        scope["route"] = self
        request = Request(scope)
        services = cast("Services", request.app.state.services)
        _require_origin(request, services.settings.cors_origins)
        if request.method != "POST":
            # No sessions, so none to end, and nothing to listen to beside a call.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        caller = await _authenticated(request, services)
        manager = await self._started(services)
        await manager.handle_request({**scope, CALLER: caller}, receive, send)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """For as long as the application runs; calls that are under way at its end are cut off."""
        try:
            yield
        finally:
            self._closing.set()
            if self._task is not None:
                await self._task

    async def _started(self, services: Services) -> "StreamableHTTPSessionManager":
        async with self._starting:
            if self._manager is None:
                protocol = await asyncio.to_thread(import_module, "tributary.routes.mcp.protocol")
                manager = protocol.session_manager(services)
                running: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._task = asyncio.create_task(self._run(manager, running), name="mcp")
                await running
                self._manager = manager
            return self._manager

    async def _run(self, manager: "StreamableHTTPSessionManager", running: "asyncio.Future[None]") -> None:
        """The SDK's task group must be left by the task that entered it."""
        async with manager.run():
            running.set_result(None)
            await self._closing.wait()


def _require_origin(request: Request, allowed: list[str]) -> None:
    """Browsers say from which page a call comes, and a page that reaches us under a name of its own (DNS rebinding)
    can't hide it: only origins of the settings may call. Other clients send none."""
    origin = request.headers.get("origin")
    if origin is not None and origin not in allowed:
        raise ForeignOrigin("Pages of this origin may not call; TRIBUTARY_CORS_ORIGINS lists those that may")


async def _authenticated(request: Request, services: Services) -> Caller:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise Unauthorized("Send your API key as `Authorization: Bearer …`")
    return await services.identity.authenticate(key.strip())
