"""What the knowledge in memory tells of a graph that is kept elsewhere."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from stores.memory.knowledge import MemoryKnowledge
from stores.protocols.graph_engines import Engine
from tributary.domain.errors import NotFound


class MemoryGraphGround:
    """`GraphPlacement` and `GraphGround` over a `MemoryKnowledge`. Its claims hold nothing back: they serve engines in
    memory, whose writes await nothing."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge
        self._engines: dict[tuple[UUID, UUID], Engine] = {}

    async def engine(self, organisation_id: UUID, knowledge_base_id: UUID) -> Engine | None:
        return self._engines.get((organisation_id, knowledge_base_id))

    async def settle(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> Engine:
        return self._engines.setdefault((organisation_id, knowledge_base_id), engine)

    async def place(self, organisation_id: UUID, knowledge_base_id: UUID, engine: Engine) -> None:
        if not await self.existing(organisation_id, [knowledge_base_id]):
            raise NotFound("Knowledge base", knowledge_base_id)
        self._engines[organisation_id, knowledge_base_id] = engine

    @asynccontextmanager
    async def claim(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, chunk_ids: Sequence[UUID]
    ) -> AsyncIterator[bool]:
        held = [
            set(content.chunk_ids)
            for document, content in self._knowledge.contents(organisation_id, knowledge_base_id)
            if document.id == document_id
        ]
        yield bool(held) and set(chunk_ids) <= held[0]

    async def present(self, organisation_id: UUID, chunk_ids: Sequence[UUID]) -> frozenset[UUID]:
        return frozenset(chunk.id for chunk in await self._knowledge.chunks(organisation_id, chunk_ids))

    async def existing(self, organisation_id: UUID, knowledge_base_ids: Sequence[UUID]) -> frozenset[UUID]:
        return frozenset(
            each for each in knowledge_base_ids if self._knowledge.knowledge_base(organisation_id, each) is not None
        )
