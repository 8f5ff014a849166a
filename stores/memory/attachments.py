"""Attachments, quotas and billing events in memory."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from stores.memory.tables import AttachmentRow, MemoryTables
from stores.protocols.attachments import BillingEvent
from stores.protocols.knowledge import KnowledgeReader
from stores.quotas import Usage, require_room
from stores.secrets import opens
from stores.texts import require_storable
from tributary.domain.attachments import Attachment, AttachmentClaim
from tributary.domain.errors import Conflict, NotFound, WrongToken
from tributary.domain.ids import new_id, parse_id

_EVERYTHING = 2**31


class MemoryAttachments:
    """`AttachmentStore` in memory; the quota also counts the documents of `knowledge`."""

    def __init__(self, tables: MemoryTables, knowledge: KnowledgeReader) -> None:
        self._tables = tables
        self._knowledge = knowledge

    async def add(self, attachment: Attachment, *, token_hash: bytes) -> None:
        organisation_id = attachment.organisation_id
        require_storable(attachment.filename)
        require_room(await self._usage(organisation_id), attachment.size)
        self._tables.attachments[organisation_id, attachment.id] = AttachmentRow(attachment, token_hash)
        self._tables.upload_days[organisation_id, self._tables.clock().astimezone(UTC).date()] += 1
        if attachment.on_s3:
            event = BillingEvent(
                id=new_id(),
                organisation_id=organisation_id,
                kind="s3_upload",
                bytes=attachment.size,
                created_at=self._tables.clock(),
            )
            self._tables.billing_events.append(event)

    async def check_quota(self, organisation_id: UUID, size: int) -> None:
        require_room(await self._usage(organisation_id), size)

    async def require_document_room(self, organisation_id: UUID, size: int) -> None:
        """As `check_quota`, for a document: the files of a day are those of messages."""
        require_room(replace(await self._usage(organisation_id), files_per_day=None), size)

    async def resolve(
        self, organisation_id: UUID, claims: Sequence[AttachmentClaim], *, conversation_id: UUID | None
    ) -> Sequence[Attachment]:
        return [self._open(organisation_id, claim, conversation_id) for claim in claims]

    async def get(self, organisation_id: UUID, attachment_id: UUID) -> Attachment:
        return self._tables.attachment(self._row(organisation_id, attachment_id))

    async def delete(self, organisation_id: UUID, attachment_ids: Sequence[UUID]) -> Sequence[Attachment]:
        keys = [key for each in attachment_ids if (key := (organisation_id, each)) in self._tables.attachments]
        for key in keys:
            if self._tables.attachments[key].used:
                raise Conflict(f"A message uses the attachment {key[1]}")
        return [self._tables.attachments.pop(key).attachment for key in keys]

    async def take_unused(self, organisation_id: UUID, before: datetime) -> Sequence[Attachment]:
        keys = [
            key
            for key, row in self._tables.attachments.items()
            if key[0] == organisation_id and not row.used and row.attachment.created_at < before
        ]
        return [self._tables.attachments.pop(key).attachment for key in keys]

    async def billing_events(self, organisation_id: UUID) -> Sequence[BillingEvent]:
        return [event for event in self._tables.billing_events if event.organisation_id == organisation_id]

    def _row(self, organisation_id: UUID, attachment_id: UUID) -> AttachmentRow:
        if (organisation_id, attachment_id) not in self._tables.attachments:
            raise NotFound("attachment", attachment_id)
        return self._tables.attachments[organisation_id, attachment_id]

    def _open(self, organisation_id: UUID, claim: AttachmentClaim, conversation_id: UUID | None) -> Attachment:
        attachment_id = parse_id("attachment", claim.get("id"))
        row = self._row(organisation_id, attachment_id)
        token = claim.get("accessToken")
        owned = (organisation_id, conversation_id, attachment_id) in self._tables.uses
        if not (opens(token, row.token_hash) if token else owned):
            raise WrongToken(f"The access token does not open the attachment {attachment_id}")
        return self._tables.attachment(row)

    async def _usage(self, organisation_id: UUID) -> Usage:
        limits = self._tables.organisation(organisation_id).limits
        now = self._tables.clock().astimezone(UTC)
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        return Usage(
            quota_bytes=limits.quota_bytes,
            bytes=await self._bytes(organisation_id),
            files_per_day=limits.files_per_day,
            files_today=self._tables.upload_days[organisation_id, now.date()],
            until_midnight=(midnight - now).total_seconds(),
        )

    async def _bytes(self, organisation_id: UUID) -> int:
        total = sum(row.attachment.size for key, row in self._tables.attachments.items() if key[0] == organisation_id)
        for base in await self._knowledge.list_knowledge_bases(organisation_id, after=None, limit=_EVERYTHING):
            documents = await self._knowledge.list_documents(organisation_id, base.id, after=None, limit=_EVERYTHING)
            total += sum(document.size for document in documents)
        return total
