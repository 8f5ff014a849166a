"""Rows of uploaded files: `message_attachments`, quotas and billing events."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from tributary.domain.attachments import Attachment, AttachmentClaim


@dataclass(frozen=True, slots=True)
class BillingEvent:
    id: UUID
    organisation_id: UUID
    kind: str
    bytes: int
    created_at: datetime


class AttachmentStore(Protocol):
    async def add(self, attachment: Attachment, *, token_hash: bytes) -> None:
        """Inserts the row if the organisation's quota in bytes and its files a day allow it, counted in the same
        transaction, so that simultaneous uploads can't pass a limit together; with `on_s3`, also its billing event.

        Raises:
            QuotaExceeded: nothing was stored.
        """
        ...

    async def check_quota(self, organisation_id: UUID, size: int) -> None:
        """Raises `QuotaExceeded` when a file of `size` bytes more would be refused by `add`: the early answer,
        before the bytes are read; `add` stays the one that decides."""
        ...

    async def resolve(
        self, organisation_id: UUID, claims: Sequence[AttachmentClaim], *, conversation_id: UUID | None
    ) -> Sequence[Attachment]:
        """The attachments that the claims open, in their order, in one round trip. A claim without a token opens
        an attachment that `conversation_id` already used.

        Raises:
            NotFound: one is unknown, or another organisation's.
            WrongToken: the token is not the one that was given out, or is missing. Compared in constant time.
        """
        ...

    async def get(self, organisation_id: UUID, attachment_id: UUID) -> Attachment: ...

    async def delete(self, organisation_id: UUID, attachment_ids: Sequence[UUID]) -> Sequence[Attachment]:
        """Removes the rows and returns them, so that their blobs can be deleted; unknown ids are left out.

        Raises:
            Conflict: a message uses one of them; nothing was removed.
        """
        ...

    async def take_unused(self, organisation_id: UUID, before: datetime) -> Sequence[Attachment]:
        """Removes and returns the rows that no message used and that were made before `before`."""
        ...

    async def billing_events(self, organisation_id: UUID) -> Sequence[BillingEvent]:
        """Oldest first."""
        ...
