"""Attachments, quotas and billing events in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import DictRow

from stores.postgres.chat_rows import ATTACHMENT, attachment
from stores.postgres.database import Database
from stores.postgres.statements import pipelined, query, run
from stores.protocols.attachments import BillingEvent
from stores.quotas import Usage, require_room
from stores.secrets import opens
from tributary.domain.attachments import Attachment, AttachmentClaim
from tributary.domain.errors import Conflict, NotFound, WrongToken
from tributary.domain.ids import new_id, parse_id

# Uploads of one organisation pass one by one from here to the end of their transaction; nothing else waits for it.
_LOCK = "SELECT id FROM organisations WHERE id = %(organisation)s FOR NO KEY UPDATE"
# What has no limit is not counted.
_USAGE = """
SELECT o.quota_bytes, o.files_per_day,
       CASE WHEN o.quota_bytes IS NOT NULL THEN
           coalesce((SELECT sum(size) FROM message_attachments WHERE organisation_id = %(organisation)s), 0)
           + coalesce((SELECT sum(size) FROM documents WHERE organisation_id = %(organisation)s), 0)
       END AS bytes,
       coalesce((SELECT files FROM upload_days
                 WHERE organisation_id = %(organisation)s AND day = (now() AT TIME ZONE 'UTC')::date), 0) AS today,
       extract(epoch FROM date_trunc('day', now(), 'UTC') + interval '24 hours' - now())::float8 AS until_midnight
FROM organisations o
WHERE o.id = %(organisation)s
"""
_ADD = f"""
WITH used AS ({_USAGE}), added AS (
    INSERT INTO message_attachments (
        organisation_id, id, filename, content_type, size, sha256, storage_key, on_s3, token_hash, created_at
    )
    SELECT %(organisation)s, %(id)s, %(filename)s, %(content_type)s, %(size)s, %(sha256)s, %(storage_key)s, %(on_s3)s,
           %(token_hash)s, %(created_at)s
    FROM used
    WHERE (quota_bytes IS NULL OR bytes + %(size)s <= quota_bytes)
      AND (files_per_day IS NULL OR today < files_per_day)
    RETURNING organisation_id, size, on_s3, created_at
), counted AS (
    INSERT INTO upload_days AS d (organisation_id, day, files)
    SELECT organisation_id, (now() AT TIME ZONE 'UTC')::date, 1 FROM added
    ON CONFLICT (organisation_id, day) DO UPDATE SET files = d.files + 1
), billed AS (
    INSERT INTO billing_events (organisation_id, id, kind, bytes, created_at)
    SELECT organisation_id, %(event_id)s, 's3_upload', size, now() FROM added WHERE on_s3
)
SELECT used.*, EXISTS (SELECT FROM added) AS added FROM used
"""
_GET = f"SELECT {ATTACHMENT} FROM message_attachments a WHERE a.organisation_id = %(organisation)s AND a.id = %(id)s"
_RESOLVE = f"""
SELECT {ATTACHMENT}, a.token_hash, EXISTS (
    SELECT FROM attachment_uses u
    WHERE u.organisation_id = a.organisation_id AND u.attachment_id = a.id AND u.conversation_id = %(conversation)s
) AS owned
FROM message_attachments a
WHERE a.organisation_id = %(organisation)s AND a.id = ANY(%(ids)s)
"""
_DELETE = f"""
DELETE FROM message_attachments a
WHERE a.organisation_id = %(organisation)s AND a.id = ANY(%(ids)s) AND a.used_at IS NULL
RETURNING {ATTACHMENT}
"""
# Runs after the deletion, and so sees what a turn has begun to use meanwhile.
_LEFT = "SELECT id FROM message_attachments WHERE organisation_id = %(organisation)s AND id = ANY(%(ids)s)"
_TAKE_UNUSED = f"""
DELETE FROM message_attachments a
WHERE a.organisation_id = %(organisation)s AND a.used_at IS NULL AND a.created_at < %(before)s
RETURNING {ATTACHMENT}
"""
_BILLING = """
SELECT id, organisation_id, kind, bytes, created_at FROM billing_events
WHERE organisation_id = %(organisation)s ORDER BY id
"""


class PostgresAttachments:
    """`AttachmentStore` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, attachment: Attachment, *, token_hash: bytes) -> None:
        values: dict[str, Any] = {
            "id": attachment.id,
            "filename": attachment.filename,
            "content_type": attachment.file_type.value,
            "size": attachment.size,
            "sha256": attachment.sha256,
            "storage_key": attachment.storage_key,
            "on_s3": attachment.on_s3,
            "token_hash": token_hash,
            "created_at": attachment.created_at,
            "event_id": new_id(),
        }
        organisation_id = attachment.organisation_id
        _, rows = await run(self._database, organisation_id, [(_LOCK, {}), (_ADD, values)])
        if not rows:
            raise NotFound("organisation", organisation_id)
        if not rows[0]["added"]:
            require_room(_usage(rows[0]), attachment.size)

    async def check_quota(self, organisation_id: UUID, size: int) -> None:
        rows = await query(self._database, organisation_id, _USAGE, {})
        if not rows:
            raise NotFound("organisation", organisation_id)
        require_room(_usage(rows[0]), size)

    async def resolve(
        self, organisation_id: UUID, claims: Sequence[AttachmentClaim], *, conversation_id: UUID | None
    ) -> Sequence[Attachment]:
        ids = [parse_id("attachment", claim.get("id")) for claim in claims]
        rows = await query(self._database, organisation_id, _RESOLVE, {"ids": ids, "conversation": conversation_id})
        found = {row["id"]: row for row in rows}
        return [_open(found.get(each), each, claim) for each, claim in zip(ids, claims, strict=True)]

    async def get(self, organisation_id: UUID, attachment_id: UUID) -> Attachment:
        rows = await query(self._database, organisation_id, _GET, {"id": attachment_id})
        if not rows:
            raise NotFound("attachment", attachment_id)
        return attachment(rows[0])

    async def delete(self, organisation_id: UUID, attachment_ids: Sequence[UUID]) -> Sequence[Attachment]:
        values = {"ids": list(attachment_ids)}
        async with self._database.organisation(organisation_id) as connection:
            deleted, left = await pipelined(connection, organisation_id, [(_DELETE, values), (_LEFT, values)])
            if left:
                raise Conflict(f"A message uses the attachment {left[0]['id']}")
        return [attachment(row) for row in deleted]

    async def take_unused(self, organisation_id: UUID, before: datetime) -> Sequence[Attachment]:
        rows = await query(self._database, organisation_id, _TAKE_UNUSED, {"before": before})
        return [attachment(row) for row in rows]

    async def billing_events(self, organisation_id: UUID) -> Sequence[BillingEvent]:
        return [BillingEvent(**row) for row in await query(self._database, organisation_id, _BILLING, {})]


def _open(row: DictRow | None, attachment_id: UUID, claim: AttachmentClaim) -> Attachment:
    if row is None:
        raise NotFound("attachment", attachment_id)
    token = claim.get("accessToken")
    if not (opens(token, row["token_hash"]) if token else row["owned"]):
        raise WrongToken(f"The access token does not open the attachment {attachment_id}")
    return attachment(row)


def _usage(row: DictRow) -> Usage:
    return Usage(
        quota_bytes=row["quota_bytes"],
        bytes=int(row["bytes"] or 0),
        files_per_day=row["files_per_day"],
        files_today=row["today"],
        until_midnight=row["until_midnight"],
    )
