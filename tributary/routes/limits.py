"""How large a body may be that is read as a whole. Forms are streamed, and bounded where they are read."""

import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tributary.domain.errors import MessageTooLarge
from tributary.routes.openai.errors import error_response
from tributary.routes.problems import problem_response

#: The largest that a route takes: a picture of 20 MB in base64, and its JSON.
MAX_BODY_BYTES = 32 * 2**20
#: Where forms are streamed: elsewhere a body that calls itself one is read as a whole, too.
_FORMS = re.compile(r"(?:/api/bot/attachments/upload|/knowledge/kb/[^/]+/documents(?:/[^/]+)?)$")


class BodyLimit:
    """Refuses a JSON body over the limit: by its declared length before it is read, else as soon as it is over."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope.get("headers", ())) if scope["type"] == "http" else {}
        form = headers.get(b"content-type", b"").startswith(b"multipart/") and _FORMS.search(scope["path"])
        if not headers or form:
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
