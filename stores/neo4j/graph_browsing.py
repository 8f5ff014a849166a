"""Looking at a knowledge graph on Neo4j, a page at a time."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from stores.graph_records import cursor_of, is_uuid, read_cursor, text_key, within
from stores.neo4j import cypher
from stores.neo4j.database import rows
from stores.neo4j.graph import Neo4jGraph, Neo4jGraphSource
from stores.neo4j.graph_archive import Neo4jGraphArchive
from stores.neo4j.graph_writing import place_of
from stores.protocols.graph_engines import EVERYTHING, MAX_EDGES, GraphEdge, GraphFilter, GraphNode, GraphPage

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

_ALL = 2**31 - 1


class Neo4jGraphEngine(Neo4jGraph, Neo4jGraphArchive):
    """`GraphEngine` on Neo4j: all that an engine does."""

    async def browse(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        select: GraphFilter = EVERYTHING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> GraphPage:
        mentions, last = read_cursor(cursor, is_uuid) or (_ALL, "")
        place = place_of(organisation_id, knowledge_base_id)
        source = Neo4jGraphSource(self._database, self._ground, organisation_id, knowledge_base_id)
        chosen = place | _parameters(select, await within(source, select, is_uuid))

        async def look(transaction: "AsyncManagedTransaction") -> GraphPage:
            behind = {"mentions": mentions, "last": last, "limit": limit + 1}
            nodes = [GraphNode(**row) for row in await rows(transaction, cypher.NODES, **chosen, **behind)]
            page = nodes[:limit]
            return GraphPage(
                tuple(page),
                await _edges(transaction, chosen, page) if page else (),
                cursor_of(page[-1].mentions, page[-1].id) if len(nodes) > limit else None,
            )

        return await self._database.read(look)


async def _edges(
    transaction: "AsyncManagedTransaction", chosen: dict[str, Any], page: list[GraphNode]
) -> tuple[GraphEdge, ...]:
    """The relations of the page's nodes, to each other and to those before them."""
    up_to = {"mentions": page[-1].mentions, "last": page[-1].id}
    ids = {"page": [node.id for node in page], "edges": MAX_EDGES}
    return tuple(GraphEdge(**row) for row in await rows(transaction, cypher.EDGES, **chosen, **up_to, **ids))


def _parameters(select: GraphFilter, ids: list[str] | None) -> dict[str, Any]:
    key, literal = text_key(select.text)
    return {
        "types": [each.lower() for each in select.types],
        "key": key,
        "literal": literal,
        "min_mentions": select.min_mentions,
        "within": ids,
    }
