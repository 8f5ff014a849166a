"""What a chat model says of passages: reading its answer, and making the graph of a document of it.

An answer is material like the documents: what is no JSON, has another form, or names what its passage does not hold
is left out.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from langchain_core.utils.json import parse_json_markdown
from pydantic import BaseModel, Field, ValidationError

from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from tributary.domain.knowledge import ChunkDraft
from tributary.text.entity_keys import entity_key
from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC

#: Bounds on what is taken of an answer, for each passage and in characters.
ENTITIES, RELATIONS, ALIASES, MENTIONS = 40, 60, 8, 20
NAME_CHARACTERS, TYPE_CHARACTERS, LABEL_CHARACTERS, DESCRIPTION_CHARACTERS = 120, 40, 60, 300
_ALONE = re.compile(f"[{CONTINUOUS}{IDEOGRAPHIC}]")


T = TypeVar("T", bound=BaseModel)


class NamedEntity(BaseModel):
    name: str
    type: str = ""
    description: str = ""
    aliases: list[str] = Field(default_factory=list)


class StatedRelation(BaseModel):
    source: str
    relation: str
    target: str
    description: str = ""


class PassageFacts(BaseModel):
    """What a passage says, as a model read it."""

    entities: list[NamedEntity] = Field(default_factory=list)
    relations: list[StatedRelation] = Field(default_factory=list)


def read_answer(answer: str, count: int, *, cut: bool) -> dict[int, PassageFacts]:
    """By number from 1 to `count`, the facts of the passages that an answer speaks of. `cut`: it ended at the model's
    limit, and its last passage with it."""
    try:
        told = parse_json_markdown(answer[answer.find("{") if "```" not in answer else 0 :])
    except (json.JSONDecodeError, ValueError, TypeError):
        return {}
    passages = told.get("passages") if isinstance(told, dict) else None
    if not isinstance(passages, list):
        return {}
    facts = {}
    for passage in passages[: -1 if cut else None]:
        number = passage.get("number") if isinstance(passage, dict) else None
        if isinstance(number, int) and 1 <= number <= count:
            facts[number] = PassageFacts(
                entities=list(_valid(NamedEntity, passage.get("entities"), ENTITIES)),
                relations=list(_valid(StatedRelation, passage.get("relations"), RELATIONS)),
            )
    return facts


def _valid(form: type[T], items: Any, limit: int) -> Iterator[T]:
    """Those of the items that have the form."""
    for item in items[:limit] if isinstance(items, list) else ():
        try:
            yield form.model_validate(item)
        except ValidationError:
            continue


def draw(chunks: Sequence[ChunkDraft], facts: Mapping[int, PassageFacts], local: GraphDraft) -> GraphDraft:
    """The graph of a document: from `facts` by ordinal, and for chunks that no facts are known of from what `local`
    found in them."""
    drawing = _Drawing()
    for chunk in chunks:
        if chunk.ordinal in facts:
            drawing.add(chunk, facts[chunk.ordinal])
    return _joined(drawing.draft(), local, facts.keys())


class _Drawing:
    """A graph as it grows, passage by passage."""

    def __init__(self) -> None:
        self._entities: dict[str, EntityDraft] = {}
        self._mentions: list[MentionDraft] = []
        self._relations: list[RelationDraft] = []

    def add(self, chunk: ChunkDraft, facts: PassageFacts) -> None:
        known: set[str] = set()
        for entity in facts.entities:
            key = entity_key(_line(entity.name, NAME_CHARACTERS))
            aliases = [_line(alias, NAME_CHARACTERS) for alias in entity.aliases[:ALIASES]]
            places = sorted({place for name in (entity.name, *aliases) for place in _places(name, chunk.text)})
            if not key or not places:
                continue
            known.add(key)
            self._note(key, entity, aliases)
            for start, end in _apart(places)[:MENTIONS]:
                self._mentions.append(MentionDraft(key, chunk.ordinal, chunk.start + start, chunk.start + end))
        for relation in facts.relations:
            self._relate(chunk, relation, known)

    def _note(self, key: str, entity: NamedEntity, aliases: Sequence[str]) -> None:
        former = self._entities.get(key)
        names = dict.fromkeys((*(former.aliases if former else ()), *map(entity_key, aliases)))
        self._entities[key] = EntityDraft(
            key=key,
            name=former.name if former else _line(entity.name, NAME_CHARACTERS),
            type=(former.type if former else "") or _line(entity.type, TYPE_CHARACTERS).lower(),
            description=(former.description if former else "") or _line(entity.description, DESCRIPTION_CHARACTERS),
            aliases=tuple(name for name in names if name and name != key),
        )

    def _relate(self, chunk: ChunkDraft, relation: StatedRelation, known: set[str]) -> None:
        source, target = entity_key(relation.source), entity_key(relation.target)
        label = _line(relation.relation, LABEL_CHARACTERS).lower().replace("_", " ")
        if source in known and target in known and source != target and label:
            described = _line(relation.description, DESCRIPTION_CHARACTERS)
            self._relations.append(RelationDraft(source, label, target, chunk.ordinal, described))

    def draft(self) -> GraphDraft:
        """Entities that other passages know under an alias of this one's are the same."""
        same = {
            alias: entity.key
            for entity in self._entities.values()
            for alias in entity.aliases
            if alias in self._entities and entity.key not in self._entities[alias].aliases
        }
        same = {alias: key for alias, key in same.items() if key not in same}
        return GraphDraft(
            entities=tuple(
                EntityDraft(each.key, each.name, each.type or "thing", each.description, each.aliases)
                for each in self._entities.values()
                if each.key not in same
            ),
            relations=tuple(
                RelationDraft(source, each.relation, target, each.chunk, each.description, each.weight)
                for each in self._relations
                if (source := same.get(each.source, each.source)) != (target := same.get(each.target, each.target))
            ),
            mentions=tuple(
                MentionDraft(same.get(each.key, each.key), each.chunk, each.start, each.end) for each in self._mentions
            ),
        )


def _joined(read: GraphDraft, local: GraphDraft, by_model: Collection[int]) -> GraphDraft:
    """With what the local extractor found in the other chunks."""
    mentions = [
        replace(each, subject=False) for each in local.mentions if each.chunk not in by_model and each.start < each.end
    ]
    keys = {each.key for each in mentions}
    named = {entity.key for entity in read.entities}
    return GraphDraft(
        entities=(*read.entities, *(each for each in local.entities if each.key in keys - named)),
        relations=(*read.relations, *(each for each in local.relations if each.chunk not in by_model)),
        mentions=(*read.mentions, *mentions),
    )


def _places(name: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a text holds a name, whatever its case and white space."""
    words = name.split()
    if not words or len(name) > NAME_CHARACTERS or not any(character.isalnum() for character in name):
        return
    pattern = r"\s+".join(map(re.escape, words))
    before = "" if _ALONE.match(words[0][0]) else r"(?<!\w)"
    behind = "" if _ALONE.match(words[-1][-1]) else r"(?!\w)"
    for found in re.finditer(f"{before}{pattern}{behind}", text, re.IGNORECASE):
        yield found.span()


def _apart(places: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without those that begin inside another: of a name and its alias in it, the longer."""
    kept: list[tuple[int, int]] = []
    for start, end in sorted(places, key=lambda place: (place[0], -place[1])):
        if not kept or start >= kept[-1][1]:
            kept.append((start, end))
    return kept


def _line(text: str, limit: int) -> str:
    """One line of text that can be stored: no NUL, no half of a surrogate pair."""
    return " ".join(text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").split())[:limit].rstrip()
