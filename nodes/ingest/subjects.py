"""What chunks are about: what the document's title names.

Whatever extracted the names, it leads from a passage that mentions something to the document about it. Headings don't:
a manual names its own sections all over, and who asks about one does not mean them all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.text.entities import EntityType
from tributary.text.entity_keys import entity_key

#: A longer title is a sentence: nothing is called by it.
_MAX_TITLE = 100
#: What tells namesakes apart: `Mercury (planet)`, `Paris, Texas`.
_TOLD_APART = re.compile(r"(?P<name>[^(（,，]*\w[^(（,，]*?)\s*(?:[(（].*[)）]|[,，]\s(?P<place>.*))", re.DOTALL)
#: A comma also parts what is listed, `Systems, Services, and Centers`, and what a sentence says: neither is a name.
_LISTED = re.compile(r"\b(?:and|or|und|oder|et|ou|y|e|и|или)\b|&")


def with_subjects(draft: GraphDraft, document: ParsedDocument, chunks: Sequence[ChunkDraft]) -> GraphDraft:
    """The draft with the document's title as an entity that all chunks are about. What the text calls by the short form
    of the title is the title's."""
    titled = _titled(document.title)
    if titled is None:
        return draft
    draft = _entitled(draft, titled)
    return replace(draft, mentions=tuple(_mentions(draft.mentions, chunks, titled.key)))


def _titled(title: str) -> EntityDraft | None:
    """The entity that a title names; None where it can't name one."""
    title = " ".join(title.split())
    key = entity_key(title)
    if not key or len(title) > _MAX_TITLE:
        return None
    told_apart = _TOLD_APART.fullmatch(title)
    short = entity_key(told_apart["name"]) if told_apart and _is_place(told_apart["place"]) else ""
    return EntityDraft(key, title, EntityType.TITLE.value, aliases=(short,) if short and short != key else ())


def _is_place(behind: str | None) -> bool:
    """Whether what stands behind a comma tells apart as a bracket does: names, one in the other."""
    parts = re.split(r"[,，]\s*", behind or "")
    return not (_LISTED.search(behind or "") or any(part[:1].islower() or part[:1].isdigit() for part in parts))


def _entitled(draft: GraphDraft, titled: EntityDraft) -> GraphDraft:
    """The draft with the title's entity, which takes over those that the text calls by one of its names."""
    names = dict.fromkeys((titled.key, *titled.aliases), titled.key)
    for entity in draft.entities:
        if entity.key in names:
            aliases = dict.fromkeys((*titled.aliases, *entity.aliases))
            described = titled.description or entity.description
            titled = replace(titled, type=entity.type, description=described, aliases=tuple(aliases))
    others = (entity for entity in draft.entities if entity.key not in names)
    return GraphDraft(
        entities=(titled, *others),
        relations=tuple(each for each in _renamed(draft.relations, names) if each.source != each.target),
        mentions=tuple(replace(each, key=names[each.key]) if each.key in names else each for each in draft.mentions),
    )


def _renamed(relations: Sequence[RelationDraft], names: Mapping[str, str]) -> Iterator[RelationDraft]:
    for each in relations:
        source, target = names.get(each.source, each.source), names.get(each.target, each.target)
        yield replace(each, source=source, target=target) if (source, target) != (each.source, each.target) else each


def _mentions(mentions: Sequence[MentionDraft], chunks: Sequence[ChunkDraft], subject: str) -> Iterator[MentionDraft]:
    """The mentions, those of the subject marked, and an empty one where a chunk doesn't name it."""
    naming = {mention.chunk for mention in mentions if mention.key == subject}
    for mention in mentions:
        yield replace(mention, subject=True) if mention.key == subject else mention
    for chunk in chunks:
        if chunk.ordinal not in naming:
            yield MentionDraft(subject, chunk.ordinal, chunk.start, chunk.start, subject=True)
