"""Taking the vector index of a knowledge base away for as long as its vectors change their space.

An index is made for one dimension: it refuses vectors of any other. While it is away the knowledge base is searched
exactly, and upkeep builds it anew.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo
from psycopg.rows import TupleRow

from stores.postgres.database import Database, translated
from stores.postgres.own_indexes import BUILDER_LOCK
from stores.postgres.statements import query

#: Seconds between two looks whether a build has ended.
_PAUSE = 0.5

_UNREGISTER = """
DELETE FROM own_indexes
WHERE organisation_id = %(organisation)s AND knowledge_base_id = %(knowledge_base)s AND of_table = 'chunks'
RETURNING name
"""
# Also one that a build which was cut off has left: it takes rows in, and refuses them, without being searched.
_EXISTING = """
SELECT i.relname
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
WHERE x.indrelid = 'chunks'::regclass AND i.relname LIKE 'own\\_%%'
  AND pg_get_expr(x.indpred, x.indrelid) LIKE '%%' || %s || '%%'
"""


@asynccontextmanager
async def without_index(database: Database, organisation_id: UUID, knowledge_base_id: UUID) -> AsyncIterator[None]:
    """Within it the knowledge base's chunks have no index of their own, and nobody builds one."""
    conninfo = make_conninfo(database.admin_dsn, application_name="tributary reindex", options="-c lock_timeout=0")
    with translated():
        async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
            await _until_nobody_builds(connection)
            values = {"knowledge_base": knowledge_base_id}
            await query(database, organisation_id, _UNREGISTER, values)
            cursor = await connection.execute(_EXISTING, (str(knowledge_base_id),))
            for (name,) in await cursor.fetchall():
                await connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
            yield


async def _until_nobody_builds(connection: AsyncConnection[TupleRow]) -> None:
    """By trying: a statement that waits for the lock is one that a concurrent build would wait for."""
    while True:
        row = await (await connection.execute("SELECT pg_try_advisory_lock(%s)", (BUILDER_LOCK,))).fetchone()
        if row is not None and row[0]:
            return
        await asyncio.sleep(_PAUSE)
