"""Moving a knowledge base that has a vector index of its own, which refuses vectors of another dimension."""

from collections.abc import AsyncIterator
from dataclasses import dataclass

import numpy as np
import pytest

from stores.postgres.database import Database
from stores.postgres.own_indexes import PostgresOwnIndexes
from stores.postgres.reindexing import PostgresReindexing
from stores.postgres.roles import SERVING_ROLE
from stores.protocols.reindexing import Moved, Space
from tests.support.worlds import PlainEmbedder, World, open_world
from tributary.domain.knowledge import KnowledgeBase
from tributary.models.protocols import Vectors

WIDE = Space("test/wide", 9, "test/images")


class WideEmbedder(PlainEmbedder):
    name = WIDE.embedding
    dimension = WIDE.dimension


@dataclass(frozen=True)
class Ground:
    world: World
    database: Database
    indexes: PostgresOwnIndexes
    store: PostgresReindexing

    async def registered(self, kb: KnowledgeBase) -> list[int]:
        """The dimensions of the index that searches of the knowledge base go by."""
        async with self.database.organisation(kb.organisation_id) as connection:
            cursor = await connection.execute(
                "SELECT dimension FROM own_indexes WHERE knowledge_base_id = %s AND of_table = 'chunks'", (kb.id,)
            )
            return [row["dimension"] for row in await cursor.fetchall()]

    async def move(self, kb: KnowledgeBase) -> bool:
        place = kb.organisation_id, kb.id
        await self.store.begin(*place, WIDE)
        ids = await self.store.chunks_left(*place)
        await self.store.keep_vectors(*place, ids, np.stack([one_hot(row) for row in range(len(ids))]))
        left = await self.store.documents_left(*place, limit=10)
        await self.store.keep_documents(*place, [Moved(each.document.id, each.revision, None) for each in left])
        return await self.store.switch(*place)


def one_hot(row: int) -> Vectors:
    vector = np.full(WIDE.dimension, 0.01, np.float32)
    vector[row % WIDE.dimension] = 1.0
    return vector


@pytest.fixture
async def ground(dsn: str) -> AsyncIterator[Ground]:
    database = Database(dsn, role=SERVING_ROLE, pool_size=4, admin_dsn=dsn)
    await database.open()
    async with open_world(dsn) as world:
        yield Ground(world, database, PostgresOwnIndexes(database, dsn, indexed_from=1), PostgresReindexing(database))
    await database.close()


async def test_the_index_makes_way_for_the_switch_and_is_built_anew(ground: Ground) -> None:
    kb = await ground.world.knowledge_base()
    neighbour = await ground.world.knowledge_base()
    ids = await ground.world.written(kb, *[f"text {number}" for number in range(8)])
    await ground.world.written(neighbour, "another")
    await ground.indexes.tend()
    assert await ground.registered(kb) == [4]

    assert await ground.move(kb)

    assert await ground.registered(kb) == []
    assert await ground.registered(neighbour) == [4]
    hits = await ground.world.search.search(
        kb.organisation_id, kb.id, query="", recent="", vector=one_hot(3), embedder=WideEmbedder(), limit=1
    )
    await ground.indexes.tend()
    assert await ground.registered(kb) == [WIDE.dimension]
    again = await ground.world.search.search(
        kb.organisation_id, kb.id, query="", recent="", vector=one_hot(3), embedder=WideEmbedder(), limit=1
    )
    assert [hit["chunkId"] for hit in hits] == [str(sorted(ids)[3])] == [hit["chunkId"] for hit in again]
