"""Repeatable requests in PostgreSQL."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from psycopg.errors import ForeignKeyViolation

from stores.postgres.database import Database
from stores.postgres.jsonb import as_jsonb
from stores.postgres.statements import query, run
from stores.postgres.turns import process_lives
from stores.protocols.idempotency import KEPT, Stored
from stores.repeats import LEASE, WAIT, Found, first_or_result
from stores.requirements import require_request_key
from tributary.domain.errors import NotFound

_BEGIN = f"""
INSERT INTO idempotent_requests AS known (organisation_id, key, fingerprint, owner)
VALUES (%(organisation)s, %(key)s, %(fingerprint)s, %(owner)s)
ON CONFLICT (organisation_id, key) DO UPDATE SET owner = EXCLUDED.owner, created_at = now()
    WHERE known.status IS NULL AND known.fingerprint = EXCLUDED.fingerprint
      AND (known.created_at <= now() - %(lease)s OR NOT {process_lives("known.owner")})
RETURNING key
"""
_FIND = """
SELECT fingerprint, status, body FROM idempotent_requests WHERE organisation_id = %(organisation)s AND key = %(key)s
"""
_OWN = "organisation_id = %(organisation)s AND key = %(key)s AND owner = %(owner)s AND status IS NULL"
_COMPLETE = f"UPDATE idempotent_requests SET status = %(status)s, body = %(body)s WHERE {_OWN} RETURNING key"
_ABANDON = f"DELETE FROM idempotent_requests WHERE {_OWN} RETURNING key"
_PURGE = """
DELETE FROM idempotent_requests
WHERE organisation_id = %(organisation)s AND created_at < now() - %(older_than)s
RETURNING key
"""


class PostgresIdempotency:
    """`IdempotencyStore` on PostgreSQL. `owner` is the process to the others (`PostgresTurnQueue.process_id`): what it
    began, only it completes, and when it is gone anybody may take it over.

    `wait` is in seconds; `lease` is how long a request may take before it counts as dead in any case.
    """

    def __init__(self, database: Database, *, owner: UUID, wait: float = WAIT, lease: timedelta = LEASE) -> None:
        self._database = database
        self._wait = wait
        self._lease = lease
        self._owner = owner

    async def begin(self, organisation_id: UUID, key: str, fingerprint: bytes) -> Stored | None:
        require_request_key(key)
        values = {"key": key, "fingerprint": fingerprint, "owner": self._owner, "lease": self._lease}

        async def attempt() -> Found | bool | None:
            begun, found = await run(self._database, organisation_id, [(_BEGIN, values), (_FIND, values)])
            if begun:
                return True
            if not found:
                return None
            [row] = found
            stored = None if row["status"] is None else Stored(row["status"], row["body"])
            return Found(row["fingerprint"], stored)

        try:
            return await first_or_result(attempt, fingerprint, wait=self._wait)
        except ForeignKeyViolation as error:
            raise NotFound("organisation", organisation_id) from error

    async def complete(self, organisation_id: UUID, key: str, status: int, body: dict[str, Any]) -> None:
        values = {"key": key, "owner": self._owner, "status": status, "body": as_jsonb(body)}
        await query(self._database, organisation_id, _COMPLETE, values)

    async def abandon(self, organisation_id: UUID, key: str) -> None:
        await query(self._database, organisation_id, _ABANDON, {"key": key, "owner": self._owner})

    async def purge(self, organisation_id: UUID, *, older_than: timedelta = KEPT) -> int:
        return len(await query(self._database, organisation_id, _PURGE, {"older_than": older_than}))
