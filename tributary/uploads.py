"""Attachments from their received bytes to their stored row, and back."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

from stores.protocols.attachments import AttachmentStore
from stores.protocols.blobs import BlobStore
from stores.secrets import digest
from tributary.domain.attachments import Attachment, AttachmentClaim
from tributary.domain.ids import new_id
from tributary.files.durable import in_thread, remove_leftovers
from tributary.files.receive import Received
from tributary.files.sandbox import Sandbox
from tributary.files.soundness import inspect_file

#: 48 random bytes in URL-safe base64: the 64 characters of SPEC §1.
TOKEN_BYTES = 48
#: Nobody receives a file for longer than this.
LEFTOVER_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A stored attachment, and the token that opens it: shown once."""

    attachment: Attachment
    access_token: str


class Uploads:
    """Validates, stores and removes attachments."""

    def __init__(self, *, attachments: AttachmentStore, blobs: BlobStore, sandbox: Sandbox, incoming: Path) -> None:
        self._attachments = attachments
        self._blobs = blobs
        self._sandbox = sandbox
        #: Where bodies are received before they are known to be sound.
        self.incoming = incoming

    async def store(self, organisation_id: UUID, filename: str, path: Path, received: Received) -> Uploaded:
        """Takes a received file in: the bytes under `path` are moved or copied, never kept there.

        Raises:
            UnsupportedType, DamagedFile: decided from the bytes.
            QuotaExceeded: the organisation's limits.
        Whatever is raised, nothing of the file is left behind.
        """
        await self._attachments.check_quota(organisation_id, received.size)
        facts = await inspect_file(path, filename, self._sandbox)
        attachment_id = new_id()
        attachment = Attachment(
            id=attachment_id,
            organisation_id=organisation_id,
            filename=filename,
            file_type=facts.file_type,
            size=received.size,
            sha256=received.sha256,
            storage_key=f"attachments/{organisation_id}/{attachment_id}",
            on_s3=self._blobs.remote,
            created_at=datetime.now(UTC),
        )
        token = secrets.token_urlsafe(TOKEN_BYTES)
        await self._blobs.put_file(attachment.storage_key, path)
        stored = False
        try:
            await self._attachments.add(attachment, token_hash=digest(token))
            stored = True
        finally:
            if not stored:
                await asyncio.shield(self._blobs.delete([attachment.storage_key]))
        return Uploaded(attachment, token)

    async def open(
        self, organisation_id: UUID, claim: AttachmentClaim, *, used: bool
    ) -> tuple[Attachment, AsyncIterator[bytes]]:
        """The attachment and its bytes in pieces. With `used`, one that a message has used needs no token."""
        attachment = await self._find(organisation_id, claim, used=used)
        return attachment, self._blobs.stream(attachment.storage_key)

    async def delete(self, organisation_id: UUID, claim: AttachmentClaim) -> None:
        """Removes an attachment that no message used.

        Raises:
            NotFound, WrongToken: as for reading.
            Conflict: a message uses it.
        """
        attachment = await self._find(organisation_id, claim, used=True)
        await self._attachments.delete(organisation_id, [attachment.id])
        await self.forget([attachment])

    async def discard(self, organisation_id: UUID, attachments: Sequence[Attachment]) -> None:
        """Removes attachments that no message used, in one step; those that are gone are no error.

        Raises:
            Conflict: a message uses one of them; nothing was removed.
        """
        if attachments:
            await self._attachments.delete(organisation_id, [attachment.id for attachment in attachments])
            await self.forget(attachments)

    async def _find(self, organisation_id: UUID, claim: AttachmentClaim, *, used: bool) -> Attachment:
        if used and not claim.get("accessToken"):
            attachment = await self._attachments.get(organisation_id, UUID(claim["id"]))
            if attachment.conversation_id is not None:
                return attachment
        [attachment] = await self._attachments.resolve(organisation_id, [claim], conversation_id=None)
        return attachment

    async def forget(self, attachments: Sequence[Attachment]) -> None:
        """Deletes the bytes of attachments whose rows are gone."""
        if attachments:
            await self._blobs.delete([attachment.storage_key for attachment in attachments])

    async def remove_unused(self, organisation_id: UUID, *, hours: float) -> int:
        """Removes uploads that no message used within `hours`; how many."""
        gone = await self._attachments.take_unused(organisation_id, datetime.now(UTC) - timedelta(hours=hours))
        await self.forget(gone)
        return len(gone)

    async def remove_leftovers(self) -> int:
        """Removes what killed processes left half received; how many files."""
        return await in_thread(lambda: remove_leftovers(self.incoming, older_than=LEFTOVER_SECONDS))
