"""Organisations and API keys in PostgreSQL."""

from collections.abc import Sequence
from uuid import UUID

from psycopg.errors import ForeignKeyViolation
from psycopg.rows import DictRow

from stores.postgres.database import Database
from stores.postgres.statements import Rows, query
from stores.requirements import require_limits, require_name
from stores.secrets import digest, make_key_secret, opens, organisation_of
from tributary.domain.errors import NotFound, Unauthorized
from tributary.domain.identity import ApiKey, Caller, Limits, Organisation, Scope
from tributary.domain.ids import new_id

_ORGANISATION = "id, name, quota_bytes, files_per_day, monthly_budget"
_MAKE = "INSERT INTO organisations (id, name) VALUES (%(id)s, %(name)s) ON CONFLICT (name) DO NOTHING"
_NAMED = f"SELECT {_ORGANISATION} FROM organisations WHERE name = %(name)s"
_ONE = f"SELECT {_ORGANISATION} FROM organisations WHERE id = %(organisation)s"
_ALL = f"""SELECT {_ORGANISATION} FROM organisations ORDER BY name COLLATE "C" """
_SET_LIMITS = f"""
UPDATE organisations
SET quota_bytes = %(quota_bytes)s, files_per_day = %(files_per_day)s, monthly_budget = %(monthly_budget)s
WHERE id = %(organisation)s
RETURNING {_ORGANISATION}
"""

_KEY = "id, organisation_id, scope, created_at, revoked_at"
_CREATE_KEY = f"""
INSERT INTO api_keys (organisation_id, id, hash, scope) VALUES (%(organisation)s, %(id)s, %(hash)s, %(scope)s)
RETURNING {_KEY}
"""
_KEYS = f"SELECT {_KEY} FROM api_keys WHERE organisation_id = %(organisation)s ORDER BY id DESC"
_REVOKE = f"""
UPDATE api_keys SET revoked_at = coalesce(revoked_at, now())
WHERE organisation_id = %(organisation)s AND id = %(id)s
RETURNING {_KEY}
"""
_AUTHENTICATE = """
SELECT id, hash, scope FROM api_keys
WHERE organisation_id = %(organisation)s AND hash = %(hash)s AND revoked_at IS NULL
"""


class PostgresIdentity:
    """`IdentityStore` on PostgreSQL. Nothing is cached: a revoked key is refused by every process from then on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ensure_organisation(self, name: str) -> Organisation:
        require_name("organisation", name)
        found = await self._named(name)
        if found is None:
            async with self._database.upkeep() as connection:
                await connection.execute(_MAKE, {"id": new_id(), "name": name})
            # Somebody else may have made it meanwhile; by now it is there either way.
            found = await self._named(name)
        if found is None:
            raise NotFound("organisation", name)
        return found

    async def organisation_named(self, name: str) -> Organisation:
        found = await self._named(name)
        if found is None:
            raise NotFound("organisation", name)
        return found

    async def organisation(self, organisation_id: UUID) -> Organisation:
        rows = await query(self._database, organisation_id, _ONE, {})
        return _organisation(_only(rows, "organisation", organisation_id))

    async def list_organisations(self) -> Sequence[Organisation]:
        async with self._database.upkeep() as connection:
            rows = await (await connection.execute(_ALL)).fetchall()
        return [_organisation(row) for row in rows]

    async def set_limits(self, organisation_id: UUID, limits: Limits) -> Organisation:
        require_limits(limits)
        rows = await query(
            self._database,
            organisation_id,
            _SET_LIMITS,
            {
                "quota_bytes": limits.quota_bytes,
                "files_per_day": limits.files_per_day,
                "monthly_budget": limits.monthly_budget,
            },
        )
        return _organisation(_only(rows, "organisation", organisation_id))

    async def create_key(self, organisation_id: UUID, *, scope: Scope = Scope.FULL) -> tuple[ApiKey, str]:
        secret = make_key_secret(organisation_id)
        values = {"id": new_id(), "hash": digest(secret), "scope": scope.value}
        try:
            [row] = await query(self._database, organisation_id, _CREATE_KEY, values)
        except ForeignKeyViolation as error:
            raise NotFound("organisation", organisation_id) from error
        return _key(row), secret

    async def list_keys(self, organisation_id: UUID) -> Sequence[ApiKey]:
        return [_key(row) for row in await query(self._database, organisation_id, _KEYS, {})]

    async def revoke_key(self, organisation_id: UUID, key_id: UUID) -> ApiKey:
        rows = await query(self._database, organisation_id, _REVOKE, {"id": key_id})
        return _key(_only(rows, "key", key_id))

    async def authenticate(self, secret: str) -> Caller:
        organisation_id = organisation_of(secret)
        if organisation_id is None:
            raise Unauthorized("This is no API key of this server")
        for row in await query(self._database, organisation_id, _AUTHENTICATE, {"hash": digest(secret)}):
            if opens(secret, row["hash"]):
                return Caller(organisation_id=organisation_id, key_id=row["id"], scope=Scope(row["scope"]))
        raise Unauthorized("The API key is unknown or revoked")

    async def _named(self, name: str) -> Organisation | None:
        async with self._database.upkeep() as connection:
            row = await (await connection.execute(_NAMED, {"name": name})).fetchone()
        return _organisation(row) if row else None


def _only(rows: Rows, kind: str, identifier: UUID) -> DictRow:
    if not rows:
        raise NotFound(kind, identifier)
    return rows[0]


def _organisation(row: DictRow) -> Organisation:
    budget = row["monthly_budget"]
    limits = Limits(
        quota_bytes=row["quota_bytes"],
        files_per_day=row["files_per_day"],
        monthly_budget=None if budget is None else float(budget),
    )
    return Organisation(id=row["id"], name=row["name"], limits=limits)


def _key(row: DictRow) -> ApiKey:
    return ApiKey(
        id=row["id"],
        organisation_id=row["organisation_id"],
        scope=Scope(row["scope"]),
        created_at=row["created_at"],
        revoked_at=row["revoked_at"],
    )
