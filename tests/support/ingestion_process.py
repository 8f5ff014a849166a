"""A worker in a process of its own, for tests that kill it. Arguments: DSN, role, folder, and where to hold.

It holds for ever at the stage of that name, in the second batch of vectors, or between chunks and facts, and says so
on stdout before.
"""

import asyncio
import sys
from pathlib import Path
from typing import NoReturn

from stores.postgres.database import Database
from tests.support.ingestion import Workshop, open_workshop
from tributary.domain.knowledge import Stage

REACHED = "reached"
SECOND_BATCH = "second batch"
FACTS = "facts"


async def _hang() -> NoReturn:
    sys.stdout.write(f"{REACHED}\n")
    sys.stdout.flush()
    while True:
        await asyncio.sleep(3600)


def _hold(workshop: Workshop, where: str) -> None:
    async def at(stage: Stage) -> None:
        if stage.value == where:
            await _hang()

    async def before(_: object) -> None:
        if where == SECOND_BATCH and workshop.embedder.batches:
            await _hang()

    async def facts(*_: object) -> None:
        await _hang()

    workshop.progress.at = at
    workshop.embedder.before = before
    if where == FACTS:
        workshop.graph.write_document = facts  # type: ignore[method-assign,assignment]


async def main(dsn: str, role: str, folder: Path, where: str) -> None:
    database = Database(dsn, role=role, pool_size=4)
    await database.open()
    async with open_workshop(database, folder) as workshop:
        _hold(workshop, where)
        await workshop.worker.run()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4]))
