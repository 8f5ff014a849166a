"""What an operator asks PostgreSQL: cheap statements, none of them over an organisation's rows."""

import asyncio
from collections.abc import Mapping

from stores.postgres.database import Database, translated
from stores.postgres.migrate import head
from stores.postgres.queue import QUEUE
from tributary.domain.errors import DependencyUnavailable

#: Seconds without a sign of life after which a worker counts as gone.
SILENCE = 60.0

_SCHEMA = "SELECT version_num FROM alembic_version"
_WORKERS = f"SELECT count(*) AS alive FROM procrastinate_workers WHERE last_heartbeat > now() - interval '{SILENCE} s'"
_DEPTH = f"""
SELECT count(*) FILTER (WHERE status = 'todo') AS waiting, count(*) FILTER (WHERE status = 'doing') AS working
FROM procrastinate_jobs WHERE queue_name = '{QUEUE}' AND status IN ('todo', 'doing')
"""


class PostgresHealth:
    """Checks raise `DependencyUnavailable` with what is the matter."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def reachable(self) -> None:
        await self._database.check()

    async def migrated(self) -> None:
        """A newer schema is fine: another process of a rolling upgrade has made it, and it is read as before."""
        schema, needed = str((await self._row(_SCHEMA))["version_num"]), await asyncio.to_thread(head)
        if schema < needed:
            raise DependencyUnavailable(f"The schema is {schema}, and this version needs {needed}")

    async def worked(self) -> None:
        """Somebody ingests documents, in whichever process."""
        if not (await self._row(_WORKERS))["alive"]:
            raise DependencyUnavailable("No worker takes documents from the queue; they wait")

    async def queue_depth(self) -> Mapping[str, int]:
        """Documents that are `waiting`, and that somebody is `working` on."""
        row = await self._row(_DEPTH)
        return {"waiting": row["waiting"], "working": row["working"]}

    async def _row(self, statement: str) -> dict[str, int]:
        with translated():
            async with self._database.pool.connection(timeout=2) as connection:
                row = await (await connection.execute(statement)).fetchone()
        assert row is not None
        return row
