"""The quota of bytes, kept where a document's bytes are added: in the transaction that stores its row."""

from uuid import UUID

from stores.postgres.database import Connection
from stores.quotas import Usage, require_room

# What is added for one organisation passes one by one from here to the end of its transaction, uploads included.
_LOCK = "SELECT quota_bytes FROM organisations WHERE id = %(organisation)s FOR NO KEY UPDATE"
_BYTES = """
SELECT coalesce((SELECT sum(size) FROM message_attachments WHERE organisation_id = %(organisation)s), 0)
       + coalesce((SELECT sum(size) FROM documents WHERE organisation_id = %(organisation)s), 0) AS bytes
"""


async def require_document_room(connection: Connection, organisation_id: UUID, size: int) -> None:
    """Raises `QuotaExceeded` where `size` bytes more than now would pass the organisation's quota. Without a quota
    nothing is counted."""
    place = {"organisation": organisation_id}
    row = await (await connection.execute(_LOCK, place)).fetchone()
    if row is None or row["quota_bytes"] is None or size <= 0:
        return
    # A statement of its own: it sees what was added while the lock was waited for.
    counted = await (await connection.execute(_BYTES, place)).fetchone()
    assert counted is not None
    usage = Usage(
        quota_bytes=row["quota_bytes"],
        bytes=int(counted["bytes"]),
        files_per_day=None,
        files_today=0,
        until_midnight=0.0,
    )
    require_room(usage, size)
