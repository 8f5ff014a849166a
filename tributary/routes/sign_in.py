"""Signing in with a browser: a page that takes an API key and gives a cookie, and works without scripts."""

import base64
import hashlib
from html import escape
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from tributary.domain.errors import Unauthorized
from tributary.routes.access import COOKIE, ServicesOf
from tributary.routes.origin import require_own_origin

router = APIRouter(include_in_schema=False)

PATH = "/sign-in"
#: Where a sign-in leads that was not asked for by a page.
HOME = "/"

STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 26rem; margin: 15vh auto; padding: 0 1rem }
label, input, button { display: block; width: 100%; box-sizing: border-box; font: inherit }
input { margin: .25rem 0 1rem; padding: .5rem }
button { padding: .5rem; cursor: pointer }
[role=alert] { border-left: .25rem solid #c62828; padding-left: .75rem }
"""
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEADERS = {
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Tributary</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
{content}
</main>
</body>
</html>
"""
_FORM = """{alert}<form method="post" action="{path}">
<input type="hidden" name="next" value="{following}">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Sign in</button>
</form>
<p>An operator makes a key with <code>tributary keys create --org NAME</code>.</p>"""
_SIGNED_IN = """<p>This browser is signed in. <a href="{following}">Go on</a></p>
<form method="post" action="/sign-out"><button>Sign out</button></form>"""
_ALERT = '<p role="alert">{message}</p>\n'


def sign_in_first(following: str) -> Response:
    """To the sign-in, and from there to `following`."""
    return RedirectResponse(f"{PATH}?{urlencode({'next': following})}", status_code=303)


def own_path(following: str) -> str:
    """`following` where it is a path of this server; else the page that people are led to. What looks like a path may
    be another server's address: `//evil.example`, `/\\evil.example`."""
    own = following.startswith("/") and not following.startswith("//") and "\\" not in following
    return following if own and following.isprintable() else HOME


@router.get(PATH)
async def sign_in_page(
    request: Request, services: ServicesOf, following: Annotated[str, Query(alias="next", max_length=2000)] = HOME
) -> Response:
    """A form for the key, or the way out for who is signed in."""
    target = escape(own_path(following))
    if await _signed_in(request, services):
        return page("Signed in", _SIGNED_IN.format(following=target))
    return page("Sign in", _FORM.format(alert="", path=PATH, following=target))


@router.post(PATH)
async def sign_in(
    request: Request,
    services: ServicesOf,
    key: Annotated[str, Form(max_length=500)] = "",
    following: Annotated[str, Form(alias="next", max_length=2000)] = HOME,
) -> Response:
    """Takes the key, gives the cookie, and leads on. A page of another site can't sign its visitors in."""
    require_own_origin(request)
    target = own_path(following)
    try:
        secret = await services.sign_in.begin(key.strip())
    except Unauthorized as error:
        alert = _ALERT.format(message=escape(error.detail))
        return page("Sign in", _FORM.format(alert=alert, path=PATH, following=escape(target)), status=401)
    return await begun(request, services, secret, target)


async def begun(request: Request, services: ServicesOf, secret: str, target: str) -> Response:
    """Gives the cookie of a new sign-in, in place of the one before, and leads on."""
    if previous := request.cookies.get(COOKIE):
        await services.sign_in.end(previous)
    response = RedirectResponse(target, status_code=303, headers=HEADERS)
    response.set_cookie(
        COOKIE,
        secret,
        max_age=int(services.sign_in.lifetime.total_seconds()),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


@router.post("/sign-out")
async def sign_out(request: Request, services: ServicesOf) -> Response:
    """Ends the sign-in here and in the store."""
    require_own_origin(request)
    if secret := request.cookies.get(COOKIE):
        await services.sign_in.end(secret)
    response = RedirectResponse(PATH, status_code=303, headers=HEADERS)
    response.delete_cookie(COOKIE, secure=request.url.scheme == "https", httponly=True, samesite="strict")
    return response


async def _signed_in(request: Request, services: ServicesOf) -> bool:
    secret = request.cookies.get(COOKIE)
    if not secret:
        return False
    try:
        await services.sign_in.caller(secret)
    except Unauthorized:
        return False
    return True


def page(title: str, content: str, *, status: int = 200) -> HTMLResponse:
    return HTMLResponse(_PAGE.format(title=title, style=STYLE, content=content), status_code=status, headers=HEADERS)
