"""Signing in with an API key: what a browser keeps instead of the key."""

from datetime import timedelta

from stores.protocols.identity import IdentityStore
from stores.protocols.sessions import SessionStore
from tributary.domain.identity import Caller


class SignIn:
    """`lifetime` is how long a sign-in lasts at most. It ends before that when its key is revoked."""

    def __init__(self, *, identity: IdentityStore, sessions: SessionStore, lifetime: timedelta) -> None:
        self._identity = identity
        self._sessions = sessions
        self.lifetime = lifetime

    async def begin(self, key: str) -> str:
        """The secret of a new sign-in, for the browser's cookie. Raises `Unauthorized` where the key opens nothing."""
        return await self._sessions.open(await self._identity.authenticate(key), lifetime=self.lifetime)

    async def caller(self, secret: str) -> Caller:
        """Who signed in. Raises `Unauthorized` where the sign-in has ended."""
        return await self._sessions.authenticate(secret)

    async def end(self, secret: str) -> None:
        """Signs out; the secret opens nothing from then on."""
        await self._sessions.close(secret)
