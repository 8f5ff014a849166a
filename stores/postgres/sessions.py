"""Sign-ins in PostgreSQL."""

from datetime import timedelta

from psycopg.errors import ForeignKeyViolation

from stores.postgres.database import Database
from stores.postgres.statements import query, run
from stores.secrets import digest, make_session_secret, opens, organisation_of_session
from tributary.domain.errors import NotFound, Unauthorized
from tributary.domain.identity import Caller, Scope
from tributary.domain.ids import new_id

_PURGE = """
DELETE FROM browser_sessions WHERE organisation_id = %(organisation)s AND expires_at <= now() RETURNING id
"""
_OPEN = """
INSERT INTO browser_sessions (organisation_id, id, hash, key_id, expires_at, offered)
VALUES (%(organisation)s, %(id)s, %(hash)s, %(key)s, now() + %(lifetime)s, %(offered)s)
RETURNING id
"""
_AUTHENTICATE = """
SELECT s.hash, k.id AS key_id, k.scope
FROM browser_sessions s
JOIN api_keys k ON k.organisation_id = s.organisation_id AND k.id = s.key_id AND k.revoked_at IS NULL
WHERE s.organisation_id = %(organisation)s AND s.hash = %(hash)s AND s.expires_at > now() AND NOT s.offered
"""
_REDEEM = """
DELETE FROM browser_sessions s USING api_keys k
WHERE k.organisation_id = s.organisation_id AND k.id = s.key_id AND k.revoked_at IS NULL
  AND s.organisation_id = %(organisation)s AND s.hash = %(hash)s AND s.expires_at > now() AND s.offered
RETURNING s.hash, k.id AS key_id, k.scope
"""
_CLOSE = "DELETE FROM browser_sessions WHERE organisation_id = %(organisation)s AND hash = %(hash)s RETURNING id"


class PostgresSessions:
    """`SessionStore` on PostgreSQL. Nothing is cached: what ends here has ended for every process."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, caller: Caller, *, lifetime: timedelta) -> str:
        return await self._keep(caller, lifetime, offered=False)

    async def offer(self, caller: Caller, *, lifetime: timedelta) -> str:
        return await self._keep(caller, lifetime, offered=True)

    async def _keep(self, caller: Caller, lifetime: timedelta, *, offered: bool) -> str:
        secret = make_session_secret(caller.organisation_id)
        values = {
            "id": new_id(),
            "hash": digest(secret),
            "key": caller.key_id,
            "lifetime": lifetime,
            "offered": offered,
        }
        try:
            await run(self._database, caller.organisation_id, [(_PURGE, {}), (_OPEN, values)])
        except ForeignKeyViolation as error:
            raise NotFound("key", caller.key_id) from error
        return secret

    async def authenticate(self, secret: str) -> Caller:
        return await self._caller(secret, _AUTHENTICATE, "The sign-in has ended; sign in again")

    async def redeem(self, secret: str) -> Caller:
        return await self._caller(secret, _REDEEM, "The link was used, or has run out")

    async def _caller(self, secret: str, statement: str, otherwise: str) -> Caller:
        organisation_id = organisation_of_session(secret)
        if organisation_id is not None:
            for row in await query(self._database, organisation_id, statement, {"hash": digest(secret)}):
                if opens(secret, row["hash"]):
                    return Caller(organisation_id=organisation_id, key_id=row["key_id"], scope=Scope(row["scope"]))
        raise Unauthorized(otherwise)

    async def close(self, secret: str) -> None:
        organisation_id = organisation_of_session(secret)
        if organisation_id is not None:
            await query(self._database, organisation_id, _CLOSE, {"hash": digest(secret)})
