"""The page and its files. They are the same for everybody and hold nothing of anybody: what people see in it comes
through the REST routes, with the cookie of their sign-in."""

import asyncio

from fastapi import APIRouter, Request, Response

from tributary.domain.errors import NotFound
from tributary.page.assets import Asset, Page

router = APIRouter(include_in_schema=False)

_PAGE = Page()
#: Only files of this server run, style and draw; nothing is sent anywhere else; and text becomes markup only where the
#: sanitiser made it so.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' blob: data:",
        "media-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types dompurify",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
#: Of an address that names its content.
FOR_GOOD = "public, max-age=31536000, immutable"


@router.get("/")
async def index(request: Request) -> Response:
    assets = await asyncio.to_thread(_PAGE.current)
    return await _served(request, assets.index, "no-cache")


@router.get("/page/{digest}/{name:path}")
async def file(digest: str, name: str, request: Request) -> Response:
    """A file of the page. A browser that still has the page of another version gets ours, and keeps it no longer than
    it must."""
    assets = await asyncio.to_thread(_PAGE.known)
    asset = assets.files.get(name)
    if asset is None:
        raise NotFound("page", name)
    return await _served(request, asset, FOR_GOOD if digest == assets.digest else "no-cache")


async def _served(request: Request, asset: Asset, caching: str) -> Response:
    headers = {**HEADERS, "Cache-Control": caching, "ETag": asset.tag, "Vary": "Accept-Encoding"}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        packed = await asyncio.to_thread(lambda: asset.packed)
        if packed is not None:
            headers["Content-Encoding"] = "gzip"
            return Response(packed, media_type=asset.media_type, headers=headers)
    return Response(asset.body, media_type=asset.media_type, headers=headers)
