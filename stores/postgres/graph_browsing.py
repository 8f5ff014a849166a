"""Looking at a knowledge graph on PostgreSQL, a page at a time."""

from typing import Any
from uuid import UUID

from stores.graph_records import cursor_of, is_uuid, read_cursor, text_key, within
from stores.postgres.database import Connection, Database
from stores.postgres.graph import PostgresGraphSource
from stores.protocols.graph_engines import EVERYTHING, MAX_EDGES, GraphEdge, GraphFilter, GraphNode, GraphPage

_CHOSEN = """
    {e}.organisation_id = %(organisation)s AND {e}.knowledge_base_id = %(knowledge_base)s
    AND {e}.mentions >= %(min_mentions)s
    AND (%(types)s::text[] = '{{}}' OR lower({e}.type) = ANY(%(types)s))
    AND (%(key)s = '' OR position(%(key)s IN {e}.key) > 0)
    AND (%(literal)s = '' OR position(%(literal)s IN {e}.name) > 0)
    AND (%(within)s::uuid[] IS NULL OR {e}.id = ANY(%(within)s))
"""
_NODES = f"""
SELECT e.id::text AS id, e.name, e.type, e.description, e.mentions
FROM kg_entities e
WHERE {_CHOSEN.format(e="e")} AND (e.mentions < %(mentions)s OR e.mentions = %(mentions)s AND e.id > %(last)s)
ORDER BY e.mentions DESC, e.id LIMIT %(limit)s
"""
_UP_TO = "({e}.mentions > %(mentions)s OR {e}.mentions = %(mentions)s AND {e}.id <= %(last)s)"
_EDGES = f"""
SELECT r.source_id::text AS source, r.target_id::text AS target, r.relation, r.description, r.weight
FROM (
    SELECT * FROM kg_relations WHERE organisation_id = %(organisation)s AND source_id = ANY(%(page)s)
    UNION
    SELECT * FROM kg_relations WHERE organisation_id = %(organisation)s AND target_id = ANY(%(page)s)
) r
JOIN kg_entities s ON s.id = r.source_id AND {_CHOSEN.format(e="s")} AND {_UP_TO.format(e="s")}
JOIN kg_entities t ON t.id = r.target_id AND {_CHOSEN.format(e="t")} AND {_UP_TO.format(e="t")}
ORDER BY r.weight DESC, r.id LIMIT %(edges)s
"""
_ALL = 2**31 - 1
_NO_ID = UUID(int=0)


class PostgresGraphBrowser:
    """`GraphBrowser` on PostgreSQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def browse(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        *,
        select: GraphFilter = EVERYTHING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> GraphPage:
        after = _after(cursor)
        async with self._database.organisation(organisation_id) as connection:
            source = PostgresGraphSource(connection, organisation_id, knowledge_base_id)
            chosen = _parameters(select, await within(source, select, is_uuid))
            chosen |= {"organisation": organisation_id, "knowledge_base": knowledge_base_id}
            nodes = await _nodes(connection, chosen | after | {"limit": limit + 1})
            page = nodes[:limit]
            return GraphPage(
                tuple(page),
                await _edges(connection, chosen, page) if page else (),
                cursor_of(page[-1].mentions, page[-1].id) if len(nodes) > limit else None,
            )


async def _nodes(connection: Connection, parameters: dict[str, Any]) -> list[GraphNode]:
    rows = await (await connection.execute(_NODES, parameters)).fetchall()
    return [GraphNode(**row) for row in rows]


async def _edges(connection: Connection, chosen: dict[str, Any], page: list[GraphNode]) -> tuple[GraphEdge, ...]:
    """The relations of the page's nodes, to each other and to those before them."""
    last = {"mentions": page[-1].mentions, "last": UUID(page[-1].id)}
    ids = {"page": [UUID(node.id) for node in page], "edges": MAX_EDGES}
    rows = await (await connection.execute(_EDGES, chosen | last | ids)).fetchall()
    return tuple(GraphEdge(**row) for row in rows)


def _parameters(select: GraphFilter, ids: list[str] | None) -> dict[str, Any]:
    key, literal = text_key(select.text)
    return {
        "types": [each.lower() for each in select.types],
        "key": key,
        "literal": literal,
        "min_mentions": select.min_mentions,
        "within": None if ids is None else [UUID(each) for each in ids],
    }


def _after(cursor: str | None) -> dict[str, Any]:
    mentions, last = read_cursor(cursor, is_uuid) or (_ALL, str(_NO_ID))
    return {"mentions": mentions, "last": UUID(last)}
