"""Each knowledge base's graph in the engine that holds it."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from stores.protocols.graph import GraphDraft, GraphFindings, SeedPassage
from stores.protocols.graph_engines import EVERYTHING, Engine, GraphEngine, GraphFilter, GraphPage, GraphPlacement
from tributary.domain.errors import DependencyUnavailable


class GraphEngines:
    """`GraphReader`, `GraphWriter` and `GraphBrowser` over several engines. A new knowledge base's graph goes to
    `default`.

    A graph may be moved at any time: what was written while it moved is written again where it is now.
    """

    def __init__(self, engines: Mapping[Engine, GraphEngine], placement: GraphPlacement, *, default: Engine) -> None:
        self._engines = engines
        self._placement = placement
        self._default = default

    async def search(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        query: str,
        seeds: Sequence[SeedPassage] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        held = await self._placement.engine(organisation_id, knowledge_base_id)
        if held is None:
            return GraphFindings()
        return await self._at(held).search(
            organisation_id, knowledge_base_id, query=query, seeds=seeds, hops=hops, limit=limit
        )

    async def browse(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        select: GraphFilter = EVERYTHING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> GraphPage:
        held = await self._placement.engine(organisation_id, knowledge_base_id)
        return await self._at(held or self._default).browse(
            organisation_id, knowledge_base_id, select=select, cursor=cursor, limit=limit
        )

    async def write_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        draft: GraphDraft,
        chunk_ids: Sequence[UUID],
    ) -> None:
        place = organisation_id, knowledge_base_id
        written = None
        while (held := await self._placement.settle(*place, self._default)) is not written:
            await self._at(held).write_document(*place, document_id, draft, chunk_ids)
            written = held

    async def remove_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        place = organisation_id, knowledge_base_id
        removed = None
        # A knowledge base that is deleted meanwhile is nowhere; its graph is removed whole.
        while (held := await self._placement.engine(*place)) not in (removed, None):
            await self._at(held).remove_document(*place, document_id)
            removed = held

    async def remove_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """From every engine: a move that was broken off may have left a part in another."""
        for engine in self._engines.values():
            await engine.remove_knowledge_base(organisation_id, knowledge_base_id)

    def _at(self, engine: Engine) -> GraphEngine:
        if engine not in self._engines:
            raise DependencyUnavailable("The graph of this knowledge base lies in Neo4j, and NEO4J_URI is not set")
        return self._engines[engine]
