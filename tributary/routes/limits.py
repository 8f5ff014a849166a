"""How large a body may be that is read as a whole. Forms are streamed, and bounded where they are read."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tributary.domain.errors import MessageTooLarge
from tributary.routes.openai.errors import error_response
from tributary.routes.problems import problem_response

#: The largest that a route takes: a picture of 20 MB in base64, and its JSON.
MAX_BODY_BYTES = 32 * 2**20


class BodyLimit:
    """Refuses a JSON body over the limit: by its declared length before it is read, else as soon as it is over."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ())) if scope["type"] == "http" else {}
        if not headers or headers.get(b"content-type", b"").startswith(b"multipart/"):
            await self._app(scope, receive, send)
            return
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
            problem = _too_large().problem()
            refusal = error_response(problem) if scope["path"].startswith("/v1/") else problem_response(problem)
            await refusal(scope, receive, send)
            return
        await self._app(scope, _counted(receive), send)


def _counted(receive: Receive) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MAX_BODY_BYTES:
            raise _too_large()
        return message

    return counted


def _too_large() -> MessageTooLarge:
    return MessageTooLarge(f"A body has at most {MAX_BODY_BYTES >> 20} MB; send files as uploads")
