"""Signing in with an API key, or by a link that an operator was given: what a browser keeps instead of the key."""

from datetime import timedelta
from uuid import UUID

from stores.protocols.identity import IdentityStore
from stores.protocols.sessions import SessionStore
from tributary.domain.identity import Caller, Scope

#: Where a link leads, with its secret behind it.
LINK_PATH = "/sign-in/link?secret="
#: A link that is printed is opened soon, or another one is made.
LINK_LIFETIME = timedelta(hours=1)


class SignIn:
    """`lifetime` is how long a sign-in lasts at most. It ends before that when its key is revoked."""

    def __init__(self, *, identity: IdentityStore, sessions: SessionStore, lifetime: timedelta) -> None:
        self._identity = identity
        self._sessions = sessions
        self.lifetime = lifetime

    async def begin(self, key: str) -> str:
        """The secret of a new sign-in, for the browser's cookie. Raises `Unauthorized` where the key opens nothing."""
        return await self._sessions.open(await self._identity.authenticate(key), lifetime=self.lifetime)

    async def offer(self, organisation_id: UUID) -> str | None:
        """The path of a link that signs in once, with the newest key of full scope; None where the organisation has
        none."""
        keys = await self._identity.list_keys(organisation_id)
        key = next((each for each in keys if each.revoked_at is None and each.scope is Scope.FULL), None)
        if key is None:
            return None
        caller = Caller(organisation_id=organisation_id, key_id=key.id, scope=key.scope)
        return LINK_PATH + await self._sessions.offer(caller, lifetime=LINK_LIFETIME)

    async def redeem(self, secret: str) -> str:
        """The secret of a new sign-in, for a link's. Raises `Unauthorized` where that was used or has run out."""
        return await self._sessions.open(await self._sessions.redeem(secret), lifetime=self.lifetime)

    async def caller(self, secret: str) -> Caller:
        """Who signed in. Raises `Unauthorized` where the sign-in has ended."""
        return await self._sessions.authenticate(secret)

    async def end(self, secret: str) -> None:
        """Signs out; the secret opens nothing from then on."""
        await self._sessions.close(secret)
