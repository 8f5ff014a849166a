"""Writing what a document says into the knowledge graph on Neo4j."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid5

from stores.neo4j import cypher
from stores.neo4j.database import Neo4jDatabase, rows
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from stores.protocols.graph_engines import GraphGround
from stores.walking import MAX_RELATION_LENGTH

if TYPE_CHECKING:
    from neo4j import AsyncManagedTransaction

#: Rows of one statement, and nodes that one transaction deletes with all their relationships.
_ROWS = 2000
_PART = 1000

Place = dict[str, Any]


class Neo4jGraphWriter:
    """`GraphWriter` on Neo4j. Documents and chunks live elsewhere: `ground` tells what is true there."""

    def __init__(self, database: Neo4jDatabase, ground: GraphGround) -> None:
        self._database = database
        self._ground = ground

    async def write_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        draft: GraphDraft,
        chunk_ids: Sequence[UUID],
    ) -> None:
        place = place_of(organisation_id, knowledge_base_id)
        columns = _columns(knowledge_base_id, draft, chunk_ids)

        async def replace(transaction: "AsyncManagedTransaction") -> None:
            opened = await rows(transaction, cypher.OPEN_BASE, **place)
            if opened[0]["ours"]:
                entities, relations = await _forget(transaction, place, document_id)
                if columns["entities"]:
                    await _add(transaction, place, document_id, str(chunk_ids[0]), columns)
                entities |= {row["id"] for row in columns["entities"]}
                relations |= {row["id"] for row in columns["relations"]}
                await _refresh(transaction, place, entities, relations)

        # Deletes and replacements of the document wait until this is done, or come first and end it.
        async with self._ground.claim(organisation_id, knowledge_base_id, document_id, chunk_ids) as current:
            if current:
                await self._database.write(replace)

    async def remove_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        await self._remove(place_of(organisation_id, knowledge_base_id), document_id, stamp=None)

    async def remove_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        place = place_of(organisation_id, knowledge_base_id)
        for statement in cypher.EMPTY_BASE:

            async def part(transaction: "AsyncManagedTransaction", statement: str = statement) -> int:
                [row] = await rows(transaction, statement, **place, part=_PART)
                return int(row["gone"])

            while await self._database.write(part):
                pass

    async def _remove(self, place: Place, document_id: UUID, *, stamp: UUID | None) -> None:
        """Takes the document out; with a stamp only the version that has it."""

        async def remove(transaction: "AsyncManagedTransaction") -> None:
            known = {"document": str(document_id), "stamp": None if stamp is None else str(stamp)}
            if await rows(transaction, cypher.LOCK_BASE, **place) and await rows(
                transaction, cypher.HAS_DOCUMENT, **place, **known
            ):
                await _refresh(transaction, place, *await _forget(transaction, place, document_id))

        await self._database.write(remove)


def place_of(organisation_id: UUID, knowledge_base_id: UUID) -> Place:
    return {"org": str(organisation_id), "kb": str(knowledge_base_id)}


def entity_id(knowledge_base_id: UUID, key: str) -> str:
    """The same key in two knowledge bases is two entities."""
    return str(uuid5(knowledge_base_id, key))


def _columns(knowledge_base_id: UUID, draft: GraphDraft, chunk_ids: Sequence[UUID]) -> dict[str, list[Any]]:
    """The rows of each statement that adds the draft."""
    drafts = {entity.key: entity for entity in draft.entities if entity.key}
    ids = {key: entity_id(knowledge_base_id, key) for key in drafts}
    counts = Counter(mention.key for mention in draft.mentions)
    mentions = [each for each in draft.mentions if each.key in ids]
    statements = _statements(ids, draft.relations, chunk_ids)
    return {
        "entities": [_entity(drafts[key], ids[key], counts[key]) for key in sorted(drafts)],
        "names": [
            {"key": name, "id": ids[key]}
            for key, entity in sorted(drafts.items())
            for name in sorted({key, *entity.aliases} - {""})
        ],
        "chunks": sorted({str(chunk_ids[each.chunk]) for each in mentions} | {each["chunk"] for each in statements}),
        "mentions": _mentions(ids, mentions, chunk_ids),
        "relations": list({each["id"]: each for each in statements}.values()),
        "statements": statements,
    }


def _entity(draft: EntityDraft, identifier: str, mentions: int) -> dict[str, Any]:
    return {
        "id": identifier,
        "key": draft.key,
        "name": draft.name,
        "type": draft.type,
        "description": draft.description,
        "mentions": mentions,
    }


def _mentions(
    ids: Mapping[str, str], mentions: Iterable[MentionDraft], chunk_ids: Sequence[UUID]
) -> list[dict[str, Any]]:
    """One row for each chunk and entity, with all places."""
    found: dict[tuple[str, str], dict[int, MentionDraft]] = defaultdict(dict)
    for each in mentions:
        found[str(chunk_ids[each.chunk]), ids[each.key]].setdefault(each.start, each)
    return [
        {
            "chunk": chunk,
            "id": identifier,
            "rank": f"{0 if any(each.subject for each in places.values()) else 1}{chunk}",
            "starts": list(places),
            "ends": [each.end for each in places.values()],
            "subjects": [each.subject for each in places.values()],
        }
        for (chunk, identifier), places in found.items()
    ]


def _statements(
    ids: Mapping[str, str], relations: Iterable[RelationDraft], chunk_ids: Sequence[UUID]
) -> list[dict[str, Any]]:
    """One row for each relation and chunk, with the heaviest one's description. Relations to entities that the draft
    lacks are left out."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in sorted(relations, key=lambda each: -each.weight):
        if each.source in ids and each.target in ids and each.weight > 0:
            label = each.relation[:MAX_RELATION_LENGTH]
            relation_id = str(uuid5(UUID(ids[each.source]), f"{ids[each.target]} {label}"))
            chunk = str(chunk_ids[each.chunk])
            row = found.setdefault(
                (chunk, relation_id),
                {
                    "chunk": chunk,
                    "id": relation_id,
                    "source": ids[each.source],
                    "target": ids[each.target],
                    "relation": label,
                    "description": each.description,
                    "weight": 0.0,
                },
            )
            row["weight"] += each.weight
    return list(found.values())


async def _forget(transaction: "AsyncManagedTransaction", place: Place, document_id: UUID) -> tuple[set[str], set[str]]:
    """Takes out what the document says; the entities and relations that it said it of."""
    document = {"document": str(document_id)}
    said = await rows(transaction, cypher.FORGET_SAYINGS, **place, **document)
    if not said:
        return set(), set()
    relations = await rows(transaction, cypher.FORGOTTEN_RELATIONS, **place, **document)
    for statement in (cypher.FORGET_CHUNKS, cypher.FORGET_NAMES):
        await rows(transaction, statement, **place, **document)
    return set(said[0]["entities"]), {row["id"] for row in relations}


async def _add(
    transaction: "AsyncManagedTransaction",
    place: Place,
    document_id: UUID,
    stamp: str,
    columns: Mapping[str, list[Any]],
) -> None:
    document = {"document": str(document_id)}
    await rows(transaction, cypher.ADD_DOCUMENT, **place, **document, stamp=stamp)
    for statement, name in (
        (cypher.ADD_ENTITIES, "entities"),
        (cypher.ADD_NAMES, "names"),
        (cypher.ADD_CHUNKS, "chunks"),
        (cypher.ADD_MENTIONS, "mentions"),
        (cypher.ADD_RELATIONS, "relations"),
        (cypher.ADD_STATEMENTS, "statements"),
    ):
        for first in range(0, len(columns[name]), _ROWS):
            part = columns[name][first : first + _ROWS]
            await rows(transaction, statement, **place, **document, rows=part)


async def _refresh(
    transaction: "AsyncManagedTransaction", place: Place, entities: Iterable[str], relations: Iterable[str]
) -> None:
    """Recomputes the named entities and relations from their sources; those without any go."""
    for statement, ids in (
        (cypher.SUM_RELATIONS, sorted(relations)),
        (cypher.DROP_ENTITIES, sorted(entities)),
        (cypher.SUM_ENTITIES, sorted(entities)),
        (cypher.WRITE_OUT, sorted(entities)),
    ):
        for first in range(0, len(ids), _ROWS):
            await rows(transaction, statement, **place, **cypher.WIDTHS, ids=ids[first : first + _ROWS])
