"""Short ways to say something in a knowledge graph."""

from uuid import UUID

from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from tests.support.worlds import World
from tributary.domain.knowledge import Document, KnowledgeBase
from tributary.text.entity_keys import entity_key


def said(*statements: tuple[str, str, str], types: dict[str, str] | None = None) -> GraphDraft:
    """A draft in which chunk n states the nth relation and mentions both of its entities."""
    entities: dict[str, EntityDraft] = {}
    mentions, relations = [], []
    for chunk, (source, relation, target) in enumerate(statements):
        for position, name in enumerate((source, target)):
            key = entity_key(name)
            entities[key] = EntityDraft(key, name, (types or {}).get(name, "name"), f"{name} of note")
            mentions.append(MentionDraft(key, chunk, 100 * position, 100 * position + len(name)))
        description = f"{source} {relation} {target}"
        relations.append(RelationDraft(entity_key(source), relation, entity_key(target), chunk, description))
    return GraphDraft(tuple(entities.values()), tuple(relations), tuple(mentions))


async def tell(world: World, kb: KnowledgeBase, draft: GraphDraft) -> tuple[Document, list[UUID]]:
    """A document that says this, with a chunk for each statement; the chunk ids in order."""
    document = await world.document(kb)
    count = max((mention.chunk for mention in draft.mentions), default=0) + 1
    written = await world.write(document, [f"statement {n}" for n in range(count)])
    assert written is not None
    ids = [written[ordinal] for ordinal in range(count)]
    await world.graph.write_document(document.organisation_id, document.knowledge_base_id, document.id, draft, ids)
    return document, ids
