"""What every search promises holds for a knowledge base with an index of its own, too: the same tests, each search
behind a round of upkeep for which any knowledge base is large enough."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from stores.postgres.database import Database
from stores.postgres.own_indexes import PostgresOwnIndexes
from stores.postgres.roles import SERVING_ROLE
from stores.postgres.search import PostgresSearch
from tests.contract.test_chunk_search import *  # noqa: F403 # collected here once more
from tests.support.worlds import World, open_world


class IndexedSearch(PostgresSearch):
    def __init__(self, database: Database, indexes: PostgresOwnIndexes) -> None:
        super().__init__(database)
        self._indexes = indexes

    async def judge(self, *arguments: Any, **named: Any) -> Any:
        await self._indexes.tend()
        return await super().judge(*arguments, **named)

    async def similar_images(self, *arguments: Any, **named: Any) -> Any:
        await self._indexes.tend()
        return await super().similar_images(*arguments, **named)


@pytest.fixture
async def world(shared_dsn: str) -> AsyncIterator[World]:
    database = Database(shared_dsn, role=SERVING_ROLE)
    await database.open()
    async with open_world(shared_dsn) as world:
        indexes = PostgresOwnIndexes(database, shared_dsn, indexed_from=1)
        yield replace(world, search=IndexedSearch(database, indexes))
    await database.close()
