"""The rows that the in-memory twins of the chat's stores share, as those on PostgreSQL share its tables."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from stores.protocols.attachments import BillingEvent
from stores.protocols.idempotency import Stored
from tributary.domain.attachments import Attachment
from tributary.domain.bots import Bot
from tributary.domain.conversations import Conversation, Message
from tributary.domain.errors import NotFound
from tributary.domain.identity import ApiKey, Organisation
from tributary.domain.usage import Bill, Spent

#: An organisation's id and the row's.
RowKey = tuple[UUID, UUID]


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class AttachmentRow:
    attachment: Attachment
    token_hash: bytes
    used: bool = False


@dataclass(slots=True)
class ConversationRow:
    conversation: Conversation
    #: The last message of the active branch.
    head: UUID | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    #: US dollars.
    amount: Decimal
    made_at: datetime
    #: The process that made it.
    owner: UUID | None


@dataclass(slots=True)
class RequestRow:
    fingerprint: bytes
    owner: UUID
    begun: datetime
    stored: Stored | None = None


@dataclass(frozen=True, slots=True)
class SessionRow:
    key_id: UUID
    expires_at: datetime
    #: By a link, to be used once; no sign-in before.
    offered: bool = False


@dataclass(frozen=True, slots=True)
class UsageRow:
    spent: Spent
    bill: Bill
    made_at: datetime


@dataclass(slots=True)
class MemoryTables:
    """`clock` says what time it is."""

    clock: Callable[[], datetime] = _now
    organisations: dict[UUID, Organisation] = field(default_factory=dict)
    #: Each key with the digest of its secret.
    keys: dict[RowKey, tuple[ApiKey, bytes]] = field(default_factory=dict)
    #: By organisation and digest of the secret.
    sessions: dict[tuple[UUID, bytes], SessionRow] = field(default_factory=dict)
    bots: dict[RowKey, Bot] = field(default_factory=dict)
    conversations: dict[RowKey, ConversationRow] = field(default_factory=dict)
    messages: dict[RowKey, Message] = field(default_factory=dict)
    traces: dict[RowKey, dict[str, Any]] = field(default_factory=dict)
    attachments: dict[RowKey, AttachmentRow] = field(default_factory=dict)
    #: Organisation, conversation, attachment.
    uses: set[tuple[UUID, UUID, UUID]] = field(default_factory=set)
    upload_days: Counter[tuple[UUID, date]] = field(default_factory=Counter)
    billing_events: list[BillingEvent] = field(default_factory=list)
    requests: dict[tuple[UUID, str], RequestRow] = field(default_factory=dict)
    #: Owners of requests whose process is gone.
    dead: set[UUID] = field(default_factory=set)

    usage: dict[RowKey, UsageRow] = field(default_factory=dict)
    reservations: dict[RowKey, Reservation] = field(default_factory=dict)

    def organisation(self, organisation_id: UUID) -> Organisation:
        """Raises `NotFound` where it is unknown."""
        if organisation_id not in self.organisations:
            raise NotFound("organisation", organisation_id)
        return self.organisations[organisation_id]

    def attachment(self, row: AttachmentRow) -> Attachment:
        """The attachment with the first conversation that used it."""
        found = row.attachment
        users = [
            conversation
            for organisation, conversation, attachment in self.uses
            if (organisation, attachment) == (found.organisation_id, found.id)
        ]
        return replace(found, conversation_id=min(users, default=None))
