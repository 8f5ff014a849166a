"""Who calls: organisations, their limits, and API keys."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID


class Scope(StrEnum):
    """What a key may do. `CHAT` can't change bots or knowledge bases, nor read traces."""

    FULL = "full"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Limits:
    """What an organisation may use. `None` is no limit."""

    quota_bytes: int | None = None
    files_per_day: int | None = None
    #: In US dollars a calendar month (UTC).
    monthly_budget: float | None = None


@dataclass(frozen=True, slots=True)
class Organisation:
    id: UUID
    name: str
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is listed: the secret itself is shown once, when it is made, and never stored."""

    id: UUID
    organisation_id: UUID
    scope: Scope
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated sender of a request."""

    organisation_id: UUID
    key_id: UUID
    scope: Scope
