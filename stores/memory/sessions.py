"""Sign-ins in memory."""

from datetime import timedelta

from stores.memory.tables import MemoryTables, SessionRow
from stores.secrets import digest, make_session_secret, opens, organisation_of_session
from tributary.domain.errors import NotFound, Unauthorized
from tributary.domain.identity import Caller


class MemorySessions:
    """`SessionStore` in memory."""

    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def open(self, caller: Caller, *, lifetime: timedelta) -> str:
        return self._keep(caller, lifetime, offered=False)

    async def offer(self, caller: Caller, *, lifetime: timedelta) -> str:
        return self._keep(caller, lifetime, offered=True)

    def _keep(self, caller: Caller, lifetime: timedelta, *, offered: bool) -> str:
        if (caller.organisation_id, caller.key_id) not in self._tables.keys:
            raise NotFound("key", caller.key_id)
        now = self._tables.clock()
        for key, row in list(self._tables.sessions.items()):
            if row.expires_at <= now:
                del self._tables.sessions[key]
        secret = make_session_secret(caller.organisation_id)
        row = SessionRow(caller.key_id, now + lifetime, offered)
        self._tables.sessions[caller.organisation_id, digest(secret)] = row
        return secret

    async def authenticate(self, secret: str) -> Caller:
        return self._caller(secret, "The sign-in has ended; sign in again", offered=False)

    async def redeem(self, secret: str) -> Caller:
        caller = self._caller(secret, "The link was used, or has run out", offered=True)
        del self._tables.sessions[caller.organisation_id, digest(secret)]
        return caller

    def _caller(self, secret: str, otherwise: str, *, offered: bool) -> Caller:
        organisation_id = organisation_of_session(secret)
        for (owner, stored), row in self._tables.sessions.items():
            over = row.expires_at <= self._tables.clock() or row.offered is not offered
            if owner != organisation_id or over or not opens(secret, stored):
                continue
            key, _ = self._tables.keys[owner, row.key_id]
            if key.revoked_at is None:
                return Caller(organisation_id=owner, key_id=key.id, scope=key.scope)
        raise Unauthorized(otherwise)

    async def close(self, secret: str) -> None:
        organisation_id = organisation_of_session(secret)
        if organisation_id is not None:
            self._tables.sessions.pop((organisation_id, digest(secret)), None)
