"""Our HTTP application inside LangGraph's server, over the services that the graphs use."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server import create_app
from tributary.studio.opened import opened


class UnloggedQueries:
    """Takes queries out of requests once they have been read: LangGraph's server logs them when the response has ended,
    and an attachment's token stands in one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and b"token" in scope.get("query_string", b""):
                scope["query_string"] = b""
            await send(message)

        await self._app(scope, receive, sending)


app = create_app(opening=opened.closing)
app.add_middleware(UnloggedQueries)
