"""Organisations, their limits and API keys."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

from tributary.domain.identity import ApiKey, Caller, Limits, Organisation, Scope


class IdentityStore(Protocol):
    async def ensure_organisation(self, name: str) -> Organisation:
        """The organisation of that name, made where it is new. Names are compared exactly."""
        ...

    async def organisation_named(self, name: str) -> Organisation:
        """Raises `NotFound` where no organisation has that name."""
        ...

    async def organisation(self, organisation_id: UUID) -> Organisation:
        """Raises `NotFound` where no organisation has that id."""
        ...

    async def list_organisations(self) -> Sequence[Organisation]:
        """All of them, by name. For operators and upkeep, never for a caller."""
        ...

    async def set_limits(self, organisation_id: UUID, limits: Limits) -> Organisation: ...

    async def create_key(self, organisation_id: UUID, *, scope: Scope = Scope.FULL) -> tuple[ApiKey, str]:
        """A new key and its secret. The secret is not stored and can't be had again."""
        ...

    async def list_keys(self, organisation_id: UUID) -> Sequence[ApiKey]:
        """Newest first, the revoked ones included."""
        ...

    async def revoke_key(self, organisation_id: UUID, key_id: UUID) -> ApiKey:
        """Revokes it for every process at once; revoking twice is no error."""
        ...

    async def authenticate(self, secret: str) -> Caller:
        """Who holds `secret`. Raises `Unauthorized` when it is unknown, malformed or revoked."""
        ...
