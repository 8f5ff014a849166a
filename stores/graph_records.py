"""From the rows that an engine keeps back to what each document said; and the cursors of looking at a graph. Shared by
all engines."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from stores.graph_search import GraphSource
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from stores.protocols.graph_engines import GraphDocument, GraphFilter, GraphRecord
from stores.walking import Bounds
from tributary.domain.errors import InvalidRequest
from tributary.text.entity_keys import entity_key, plain_key

#: Relations followed from one entity when a person looks around it.
LOOK_AROUND = 50
#: Entities that are left from.
LEFT_AROUND = 200

Row = Mapping[str, Any]
_CURSOR = re.compile(r"(?P<mentions>\d{1,9}):(?P<id>.+)", re.DOTALL)
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def records(
    documents: Sequence[GraphDocument],
    *,
    entities: Iterable[Row],
    names: Iterable[Row],
    mentions: Iterable[Row],
    statements: Iterable[Row],
) -> list[GraphRecord]:
    """What each document says. All rows name their `document`; `entities` have `key`, `name`, `type`, `description`;
    `names` a `key` and a `name_key`; `mentions` `chunk`, `key`, `start`, `end`, `subject`; `statements` `chunk`,
    `source`, `relation`, `target`, `description`, `weight`."""
    parts: dict[str, dict[UUID, list[Row]]] = {}
    for name, rows in (("entities", entities), ("names", names), ("mentions", mentions), ("statements", statements)):
        parts[name] = defaultdict(list)
        for row in rows:
            parts[name][row["document"]].append(row)
    return [_record(each, *(parts[name].get(each.id, []) for name in parts)) for each in documents]


def _record(
    document: GraphDocument,
    entities: Sequence[Row],
    names: Sequence[Row],
    mentions: Sequence[Row],
    statements: Sequence[Row],
) -> GraphRecord:
    used = {row["chunk"] for row in (*mentions, *statements)} - {document.stamp}
    # The stamp stays the first chunk, so that the copy is known to be of this version.
    chunks = (document.stamp, *sorted(used))
    ordinals = {chunk: ordinal for ordinal, chunk in enumerate(chunks)}
    aliases: dict[str, set[str]] = defaultdict(set)
    for row in names:
        aliases[row["key"]].add(row["name_key"])
    draft = GraphDraft(
        entities=tuple(
            EntityDraft(
                row["key"],
                row["name"],
                row["type"],
                row["description"],
                tuple(sorted(aliases[row["key"]] - {row["key"]})),
            )
            for row in entities
        ),
        relations=tuple(
            RelationDraft(
                row["source"], row["relation"], row["target"], ordinals[row["chunk"]], row["description"], row["weight"]
            )
            for row in statements
        ),
        mentions=tuple(
            MentionDraft(row["key"], ordinals[row["chunk"]], row["start"], row["end"], row["subject"])
            for row in mentions
        ),
    )
    return GraphRecord(document.id, draft, chunks)


def cursor_of(mentions: int, identifier: str) -> str:
    """Names the last node of a page."""
    return f"{mentions}:{identifier}"


def read_cursor(cursor: str | None, is_id: Callable[[str], bool]) -> tuple[int, str] | None:
    """Mentions and id of the node that a page goes on behind. Raises `InvalidRequest` for what no page gave."""
    if cursor is None:
        return None
    found = _CURSOR.fullmatch(cursor)
    if found is None or not is_id(found["id"]):
        raise InvalidRequest("This cursor is of no page of a graph")
    return int(found["mentions"]), found["id"]


def is_uuid(text: str) -> bool:
    """Whether the text is an id of an entity in engines whose ids are UUIDs."""
    return _UUID.fullmatch(text) is not None


def text_key(text: str) -> tuple[str, str]:
    """What a name must hold: as a resolved key, or as it stands where the text has no letter or digit."""
    key = entity_key(text)
    return key, "" if key else text.strip()


async def within(source: GraphSource, select: GraphFilter, is_id: Callable[[str], bool]) -> list[str] | None:
    """The ids of what lies around the entity that the filter names; None where it names none."""
    if not select.around:
        return None
    if is_id(select.around):
        starts = {select.around}
    else:
        keys = sorted({entity_key(select.around), plain_key(select.around)})
        starts = {each.entity_id for each in await source.named(keys)}
    if not starts:
        return []
    bounds = Bounds(hops=select.hops, fan_out=LOOK_AROUND, least=0.0, most_left=LEFT_AROUND)
    near = await source.neighbourhood(dict.fromkeys(sorted(starts), 1.0), bounds)
    reached = {side.neighbour for sides in near.sides.values() for side in sides}
    return sorted(starts | reached)
