"""Sign-ins of browsers: each stands for the API key that it was made with."""

from datetime import timedelta
from typing import Protocol

from tributary.domain.identity import Caller


class SessionStore(Protocol):
    async def open(self, caller: Caller, *, lifetime: timedelta) -> str:
        """A new sign-in for the caller's key; its secret, which is not stored and can't be had again. What has run out
        in the caller's organisation is removed on the way.

        Raises:
            NotFound: the caller's key does not exist.
        """
        ...

    async def offer(self, caller: Caller, *, lifetime: timedelta) -> str:
        """A secret that `redeem` takes once and that is no sign-in itself, for a link that somebody opens.

        Raises:
            NotFound: the caller's key does not exist.
        """
        ...

    async def redeem(self, secret: str) -> Caller:
        """Uses up what was offered; of several at the same time one succeeds. Raises `Unauthorized` where the secret is
        unknown, malformed, a sign-in's, used or run out, and where its key was revoked."""
        ...

    async def authenticate(self, secret: str) -> Caller:
        """Who signed in, with the scope that the key has. Raises `Unauthorized` where the secret is unknown or
        malformed, where the sign-in has ended or run out, and where its key was revoked."""
        ...

    async def close(self, secret: str) -> None:
        """Ends the sign-in for every process at once; ending one that is none is no error."""
        ...
