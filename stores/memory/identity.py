"""Organisations and API keys in memory."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from stores.memory.tables import MemoryTables
from stores.requirements import require_limits, require_name
from stores.secrets import digest, make_key_secret, opens, organisation_of
from tributary.domain.errors import NotFound, Unauthorized
from tributary.domain.identity import ApiKey, Caller, Limits, Organisation, Scope
from tributary.domain.ids import new_id


class MemoryIdentity:
    """`IdentityStore` in memory."""

    def __init__(self, tables: MemoryTables) -> None:
        self._tables = tables

    async def ensure_organisation(self, name: str) -> Organisation:
        require_name("organisation", name)
        found = self._named(name)
        if found is None:
            found = Organisation(id=new_id(), name=name)
            self._tables.organisations[found.id] = found
        return found

    async def organisation_named(self, name: str) -> Organisation:
        found = self._named(name)
        if found is None:
            raise NotFound("organisation", name)
        return found

    async def organisation(self, organisation_id: UUID) -> Organisation:
        return self._tables.organisation(organisation_id)

    async def list_organisations(self) -> Sequence[Organisation]:
        return sorted(self._tables.organisations.values(), key=lambda each: each.name)

    async def set_limits(self, organisation_id: UUID, limits: Limits) -> Organisation:
        require_limits(limits)
        changed = replace(self._tables.organisation(organisation_id), limits=limits)
        self._tables.organisations[organisation_id] = changed
        return changed

    async def create_key(self, organisation_id: UUID, *, scope: Scope = Scope.FULL) -> tuple[ApiKey, str]:
        self._tables.organisation(organisation_id)
        secret = make_key_secret(organisation_id)
        key = ApiKey(id=new_id(), organisation_id=organisation_id, scope=scope, created_at=self._tables.clock())
        self._tables.keys[organisation_id, key.id] = (key, digest(secret))
        return key, secret

    async def list_keys(self, organisation_id: UUID) -> Sequence[ApiKey]:
        found = [key for key, _ in self._tables.keys.values() if key.organisation_id == organisation_id]
        return sorted(found, key=lambda key: key.id, reverse=True)

    async def revoke_key(self, organisation_id: UUID, key_id: UUID) -> ApiKey:
        if (organisation_id, key_id) not in self._tables.keys:
            raise NotFound("key", key_id)
        key, stored = self._tables.keys[organisation_id, key_id]
        key = replace(key, revoked_at=key.revoked_at or self._tables.clock())
        self._tables.keys[organisation_id, key_id] = (key, stored)
        return key

    async def authenticate(self, secret: str) -> Caller:
        organisation_id = organisation_of(secret)
        if organisation_id is None:
            raise Unauthorized("This is no API key of this server")
        for key, stored in self._tables.keys.values():
            if key.organisation_id == organisation_id and key.revoked_at is None and opens(secret, stored):
                return Caller(organisation_id=organisation_id, key_id=key.id, scope=key.scope)
        raise Unauthorized("The API key is unknown or revoked")

    def _named(self, name: str) -> Organisation | None:
        return next((each for each in self._tables.organisations.values() if each.name == name), None)
