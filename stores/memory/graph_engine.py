"""Memory as an engine of knowledge graphs: all that one does."""

from collections.abc import Callable, Sequence
from uuid import UUID

from stores.graph_records import cursor_of, read_cursor, text_key, within
from stores.memory.graph import MemoryGraph, MemoryGraphSource
from stores.protocols.graph_engines import (
    EVERYTHING,
    MAX_EDGES,
    GraphCounts,
    GraphDocument,
    GraphEdge,
    GraphFilter,
    GraphNode,
    GraphPage,
    GraphRecord,
)


class MemoryGraphEngine(MemoryGraph):
    """`GraphEngine` in memory. An entity's id is its key."""

    async def knowledge_bases(self, organisation_id: UUID) -> Sequence[UUID]:
        bases = await self._knowledge.list_knowledge_bases(organisation_id, after=None, limit=1_000_000)
        return [base.id for base in bases if self._said_in(organisation_id, base.id)]

    async def documents(
        self, organisation_id: UUID, knowledge_base_id: UUID, *, after: UUID | None, limit: int
    ) -> Sequence[GraphDocument]:
        said = self._said_in(organisation_id, knowledge_base_id)
        listed = [GraphDocument(each.document_id, each.chunk_ids[0]) for each in said if each.draft.entities]
        return [each for each in listed if after is None or each.id > after][:limit]

    async def records(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_ids: Sequence[UUID]
    ) -> Sequence[GraphRecord]:
        said = self._said_in(organisation_id, knowledge_base_id)
        wanted = frozenset(document_ids)
        return [
            GraphRecord(each.document_id, each.draft, each.chunk_ids) for each in said if each.document_id in wanted
        ]

    async def counts(self, organisation_id: UUID, knowledge_base_id: UUID) -> GraphCounts:
        sums = self._summed(organisation_id, knowledge_base_id)
        return GraphCounts(
            documents=len(await self.documents(organisation_id, knowledge_base_id, after=None, limit=1_000_000)),
            entities=len(sums.mentions),
            relations=len(sums.relations),
            mentions=sum(sums.mentions.values()),
            statements=sum(len(relation.stated) for relation in sums.relations.values()),
        )

    async def remove_stale(self, organisation_id: UUID, knowledge_base_id: UUID, document: GraphDocument) -> None:
        said = self._said.get((organisation_id, document.id))
        if said is not None and said.chunk_ids[0] == document.stamp:
            await self.remove_document(organisation_id, knowledge_base_id, document.id)

    async def browse(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        select: GraphFilter = EVERYTHING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> GraphPage:
        sums = self._summed(organisation_id, knowledge_base_id)
        after = read_cursor(cursor, bool)
        around = await within(MemoryGraphSource(sums), select, sums.mentions.__contains__)
        nodes = [GraphNode(id=key, mentions=count, **sums.fact(key)) for key, count in sums.mentions.items()]
        passes = _filter(select, around)
        ordered = sorted((node for node in nodes if passes(node)), key=_place)
        behind = [node for node in ordered if after is None or _place(node) > (-after[0], after[1])]
        page = behind[:limit]
        shown = {node.id for node in ordered if page and _place(node) <= _place(page[-1])}
        new = {node.id for node in page}
        edges = [
            GraphEdge(each.source, each.target, each.relation, each.description, each.weight)
            for each in sorted(sums.relations.values(), key=lambda each: (-each.weight, each.id))
            if {each.source, each.target} <= shown and {each.source, each.target} & new
        ]
        more = len(behind) > limit
        return GraphPage(
            tuple(page), tuple(edges[:MAX_EDGES]), cursor_of(page[-1].mentions, page[-1].id) if more else None
        )


def _place(node: GraphNode) -> tuple[int, str]:
    return -node.mentions, node.id


def _filter(select: GraphFilter, around: list[str] | None) -> Callable[[GraphNode], bool]:
    key, literal = text_key(select.text)
    types = {each.lower() for each in select.types}

    def passes(node: GraphNode) -> bool:
        return (
            node.mentions >= select.min_mentions
            and (not types or node.type.lower() in types)
            and key in node.id
            and literal in node.name
            and (around is None or node.id in around)
        )

    return passes
