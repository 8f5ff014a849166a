"""Further names of a document's entities: forms that most likely mean the same, by which questions find them too."""

from dataclasses import replace

from stores.protocols.graph import EntityDraft, GraphDraft
from tributary.text.entity_keys import near_keys


def with_near_names(draft: GraphDraft) -> GraphDraft:
    """The draft with the near forms of its entities' names among their aliases."""
    return replace(draft, entities=tuple(map(_named, draft.entities)))


def _named(entity: EntityDraft) -> EntityDraft:
    near = [key for key in near_keys(entity.name) if key != entity.key and key not in entity.aliases]
    return replace(entity, aliases=(*entity.aliases, *near)) if near else entity
