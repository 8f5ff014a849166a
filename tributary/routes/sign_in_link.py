"""Signing in by a link, once: what a server prints for whoever started it."""

from typing import Annotated

from fastapi import APIRouter, Form, Query, Request, Response

from tributary.domain.errors import Unauthorized
from tributary.routes.access import ServicesOf
from tributary.routes.origin import require_own_origin
from tributary.routes.sign_in import HEADERS, HOME, begun, page

router = APIRouter(include_in_schema=False)

PATH = "/sign-in/link"

_CONFIRM = """<p>This link signs this browser in.</p>
<form method="post" action="{path}">
<input type="hidden" name="secret" value="{secret}">
<button>Sign in</button>
</form>"""
_OVER = """<p role="alert">{message}.</p>
<p>The server prints a new link when it starts, and <code>tributary link</code> makes one.
<a href="/sign-in">Sign in with an API key</a></p>"""


@router.get(PATH)
async def open_link(
    request: Request, services: ServicesOf, secret: Annotated[str, Query(max_length=200, pattern="^[\\w-]*$")]
) -> Response:
    """Signs in whoever opened the link themselves. Who was led here by another page is asked first, so that nobody is
    signed in unawares; and what looks ahead for a browser does not use the link up."""
    sent = request.headers
    ahead = sent.get("sec-purpose", "") or sent.get("purpose", "")
    if sent.get("sec-fetch-site") == "none" and sent.get("sec-fetch-mode") == "navigate" and not ahead:
        return await _signed_in(request, services, secret)
    return page("Sign in", _CONFIRM.format(path=PATH, secret=secret))


@router.post(PATH)
async def use_link(
    request: Request, services: ServicesOf, secret: Annotated[str, Form(max_length=200)] = ""
) -> Response:
    require_own_origin(request)
    return await _signed_in(request, services, secret)


async def _signed_in(request: Request, services: ServicesOf, secret: str) -> Response:
    try:
        session = await services.sign_in.redeem(secret)
    except Unauthorized as error:
        return page("Sign in", _OVER.format(message=error.detail), status=401)
    response = await begun(request, services, session, HOME)
    # The address holds the secret, used up as it is.
    response.headers.update({**HEADERS, "Referrer-Policy": "no-referrer"})
    return response
