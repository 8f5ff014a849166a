"""Knowledge graphs as a whole: moving one from an engine to another, and clearing what deletes left behind in an
engine that was away."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from uuid import UUID

from stores.protocols.graph_engines import (
    Engine,
    GraphCounts,
    GraphDocument,
    GraphEngine,
    GraphGround,
    GraphPlacement,
)
from tributary.domain.errors import Conflict, DependencyUnavailable, InvalidRequest

logger = logging.getLogger(__name__)

#: Documents that are read at a time.
BATCH = 20
LISTED = 500
#: Passes over documents that change while their graph is moved.
PASSES = 5

Tell = Callable[[int], None]


class KnowledgeGraphs:
    """Works on whole graphs. Any number of processes may, at the same time."""

    def __init__(
        self, engines: Mapping[Engine, GraphEngine], *, placement: GraphPlacement, ground: GraphGround
    ) -> None:
        self._engines = engines
        self._placement = placement
        self._ground = ground

    async def size(self, organisation_id: UUID, knowledge_base_id: UUID) -> tuple[Engine, GraphCounts]:
        """Which engine holds the graph, and how much of it there is. Nothing is in PostgreSQL until it is written."""
        held = await self._placement.engine(organisation_id, knowledge_base_id) or Engine.POSTGRES
        if held not in self._engines:
            raise DependencyUnavailable("The graph of this knowledge base lies in Neo4j, and NEO4J_URI is not set")
        return held, await self._engines[held].counts(organisation_id, knowledge_base_id)

    async def move(
        self, organisation_id: UUID, knowledge_base_id: UUID, to: Engine, tell: Tell = lambda _: None
    ) -> GraphCounts:
        """Copies the graph, checks that the copy is whole, and lets it take the other's place, which is then emptied.
        Searches and ingestion go on all the while. Done twice, or again after it was broken off, it ends the same.
        `tell` gets the number of documents copied so far.

        Raises:
            InvalidRequest: that engine is not configured.
            NotFound: an unknown knowledge base.
            Conflict: documents change faster than they are copied.
        """
        for engine in Engine:
            if engine not in self._engines:
                raise InvalidRequest(f"The engine {engine} is not configured: set NEO4J_URI")
        place = organisation_id, knowledge_base_id
        target, [source] = self._engines[to], [each for engine, each in self._engines.items() if engine is not to]
        if await self._placement.engine(*place) is not to:
            await self._copy_whole(source, target, place, tell)
            await self._placement.place(*place, to)
        # What was written to the former place by those who had found it just before.
        async for _ in _copied(source, target, place):
            pass
        await source.remove_knowledge_base(*place)
        return await target.counts(*place)

    async def _copy_whole(self, source: GraphEngine, target: GraphEngine, place: tuple[UUID, UUID], tell: Tell) -> None:
        done = 0
        for _ in range(PASSES):
            await _remove_surplus(source, target, place)
            async for _ in _copied(source, target, place):
                done += 1
                tell(done)
            if await source.counts(*place) == await target.counts(*place):
                return
        raise Conflict("The documents keep changing while their graph is copied: try again when ingestion is done")

    async def clear_leftovers(self, organisation_id: UUID) -> int:
        """Removes graphs of knowledge bases and of versions of documents that exist no more; how many. The database's
        own engine has none: there they go with the rows that they hang on."""
        removed = 0
        for engine, store in self._engines.items():
            if engine is Engine.POSTGRES:
                continue
            bases = await store.knowledge_bases(organisation_id)
            existing = await self._ground.existing(organisation_id, bases)
            for base in bases:
                if base not in existing:
                    await store.remove_knowledge_base(organisation_id, base)
                    removed += 1
                else:
                    removed += await self._clear_documents(store, organisation_id, base)
        return removed

    async def _clear_documents(self, store: GraphEngine, organisation_id: UUID, base: UUID) -> int:
        removed = 0
        async for documents in _listed(store, (organisation_id, base)):
            present = await self._ground.present(organisation_id, [each.stamp for each in documents])
            for document in documents:
                if document.stamp not in present:
                    await store.remove_stale(organisation_id, base, document)
                    removed += 1
        return removed


async def _listed(store: GraphEngine, place: tuple[UUID, UUID]) -> AsyncIterator[list[GraphDocument]]:
    after = None
    while documents := list(await store.documents(*place, after=after, limit=LISTED)):
        yield documents
        after = documents[-1].id


async def _stamps(store: GraphEngine, place: tuple[UUID, UUID]) -> dict[UUID, UUID]:
    return {each.id: each.stamp async for documents in _listed(store, place) for each in documents}


async def _copied(source: GraphEngine, target: GraphEngine, place: tuple[UUID, UUID]) -> AsyncIterator[UUID]:
    """Copies the documents that the target has not, or has in another version; their ids."""
    known = await _stamps(target, place)
    async for documents in _listed(source, place):
        missing = [each.id for each in documents if known.get(each.id) != each.stamp]
        for first in range(0, len(missing), BATCH):
            for record in await source.records(*place, missing[first : first + BATCH]):
                await target.write_document(*place, record.document_id, record.draft, record.chunk_ids)
                yield record.document_id


async def _remove_surplus(source: GraphEngine, target: GraphEngine, place: tuple[UUID, UUID]) -> None:
    """Takes out of the target what an earlier try has copied and the source has no more."""
    wanted = await _stamps(source, place)
    for document in await _stamps(target, place):
        if document not in wanted:
            await target.remove_document(*place, document)
