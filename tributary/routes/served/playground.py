"""LangServe's playground of a graph: a page and its assets."""

from functools import cache
from pathlib import Path
from typing import cast

from fastapi import Request, Response

from tributary.domain.errors import NotFound
from tributary.routes.served.graph import ServedGraph
from tributary.routes.served.handlers import handler_of

#: The page keeps a script in itself and compiles schemas; it may load and call nothing but this server.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
PAGE = "index.html"


@cache
def _files() -> frozenset[str]:
    import langserve

    folder = Path(langserve.__file__).parent / "playground" / "dist"
    return frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


async def playground(graph: ServedGraph, request: Request, name: str) -> Response:
    """The page, or the asset of that name. Raises `NotFound`."""
    name = name or PAGE
    if name not in _files():
        raise NotFound("page", name)
    # The same for everybody; assets are filled in like the page, and take LangServe some milliseconds.
    key = (graph.path, name, str(request.scope.get("root_path", "")))
    if key not in _rendered:
        found = await (await handler_of(graph)).playground(name, request)
        _rendered[key] = cast("Response", found)
    made = _rendered[key]
    cached = {"Cache-Control": "no-cache" if name == PAGE else "private, max-age=3600"}
    return Response(made.body, media_type=made.media_type, headers={**HEADERS, **cached})


_rendered: dict[tuple[str, str, str], Response] = {}
