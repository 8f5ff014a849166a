"""One text search for all who ask the same at the same time."""

import asyncio
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from stores.protocols.search import ChunkSearch
from tributary.domain.retrieval import Hit
from tributary.models.protocols import TextEmbedder, Vectors


class SharedSearch:
    """`ChunkSearch` whose searches under way are shared: the text branch ranks what a search finds, and the graph
    branch goes on from it, side by side."""

    def __init__(self, search: ChunkSearch) -> None:
        self._search = search
        self._under_way: dict[tuple[object, ...], asyncio.Task[Sequence[Hit]]] = {}

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        recent: str,
        vector: Vectors,
        embedder: TextEmbedder,
        limit: int,
    ) -> Sequence[Hit]:
        # A task belongs to its event loop.
        loop = asyncio.get_running_loop()
        key = (loop, organisation_id, knowledge_base_id, query, recent, vector.tobytes(), embedder.name, limit)
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(
                _fulfil(
                    self._search.search(
                        organisation_id,
                        knowledge_base_id,
                        query=query,
                        recent=recent,
                        vector=vector,
                        embedder=embedder,
                        limit=limit,
                    )
                ),
                name="search the texts of a knowledge base",
            )
            task.add_done_callback(lambda done: self._settle(key, done))
        # Shielded: a branch that runs out of time must not take the answer from the other.
        return await asyncio.shield(task)

    def _settle(self, key: tuple[object, ...], done: asyncio.Task[Sequence[Hit]]) -> None:
        del self._under_way[key]
        # Asking for the exception marks it as seen, where everybody who waited has gone.
        if not done.cancelled():
            done.exception()

    async def score(self, *arguments: Any, **named: Any) -> Sequence[Hit]:
        return await self._search.score(*arguments, **named)

    async def similar_images(self, *arguments: Any, **named: Any) -> Sequence[tuple[UUID, float]]:
        return await self._search.similar_images(*arguments, **named)


async def _fulfil(search: Any) -> Sequence[Hit]:
    found: Sequence[Hit] = await search
    return found
