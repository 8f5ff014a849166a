"""Whether a browser asks for a page of ours: what a cookie is worth depends on it."""

from fastapi import Request

from tributary.domain.errors import ForeignOrigin

#: Methods that change nothing.
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_OURS = frozenset({"", "same-origin", "none"})


def require_own_origin(request: Request) -> None:
    """A cookie travels along with whatever page makes its browser ask. So it counts only for requests of our own pages
    and of the browser's user; and what changes something must say that it is one.

    Raises:
        ForeignOrigin: the request comes from elsewhere, or does not say where it comes from and would change something.
    """
    site = request.headers.get("sec-fetch-site", "")
    if request.method in SAFE:
        if site not in _OURS and request.headers.get("sec-fetch-mode") != "navigate":
            raise ForeignOrigin("A page of another site asked for this")
        return
    origin = request.headers.get("origin", "")
    # Behind a proxy the scheme may differ from the browser's; host and port do not.
    same = origin.partition("://")[2] == request.headers.get("host", "") if origin else site == "same-origin"
    if not same or site not in _OURS:
        raise ForeignOrigin("What is signed in by cookie can be changed by pages of this server alone")
