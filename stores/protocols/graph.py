"""The knowledge graph of a knowledge base: entities, relations, and where they are mentioned."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol
from uuid import UUID

from tributary.domain.retrieval import EntityFact, RelationFact


@dataclass(frozen=True, slots=True)
class EntityDraft:
    """An entity as extraction found it in one document. `key` is its resolved form, equal for names that mean
    the same thing in this knowledge base."""

    key: str
    name: str
    type: str
    description: str = ""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationDraft:
    """A relation between two entity keys, with the chunk (by ordinal) that states it."""

    source: str
    relation: str
    target: str
    chunk: int
    description: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class MentionDraft:
    """Where an entity stands: chunk ordinal, offsets in the document's text.

    `subject`: the chunk is about the entity, since the document's title names it. Where the
    chunk itself doesn't name it, such a mention is empty and stands at the chunk's start.
    """

    key: str
    chunk: int
    start: int
    end: int
    subject: bool = False


@dataclass(frozen=True, slots=True)
class GraphDraft:
    """All that one document says."""

    entities: tuple[EntityDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    mentions: tuple[MentionDraft, ...] = ()


@dataclass(frozen=True, slots=True)
class SeedPassage:
    """A passage that another search found for the question: what it names leads on.

    `weight` in (0, 1] is how well it answers beside the best. `text` is what stands at `start` of the document, `above`
    the title and headings over it: the words around a name tell how much of the question leads there. Without a text
    each of its names counts fully.
    """

    chunk_id: UUID
    weight: float
    text: str = ""
    start: int = 0
    above: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk behind walked facts, with its support in [0, 1]."""

    chunk_id: UUID
    document_id: UUID
    evidence: float


@dataclass(frozen=True, slots=True)
class GraphFindings:
    """What a walk brought back, most relevant first. `truncated` says that a bound of the walk was met."""

    entities: tuple[EntityFact, ...] = ()
    relations: tuple[RelationFact, ...] = ()
    passages: tuple[Passage, ...] = field(default=())
    truncated: bool = False


class GraphReader(Protocol):
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
        """Finds the query's entities by name and alias, adds those that `seeds` mention, and walks `hops` (1 or 2)
        steps along relations in both directions. Passages are those behind what was walked, and those that the seeds
        lead to: about an entity that a seed names, or naming a rare one too. Bounded in fan-out; cycles are safe;
        names with quotes or operators are text; nothing found is empty findings."""
        ...


class GraphWriter(Protocol):
    async def write_document(
        self,
        organisation_id: UUID,
        knowledge_base_id: UUID,
        document_id: UUID,
        draft: GraphDraft,
        chunk_ids: Sequence[UUID],
    ) -> None:
        """Puts what the document says in the place of what it said before; `chunk_ids` by ordinal. Entities that
        other documents support survive; those that none supports any more go."""
        ...

    async def remove_document(self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID) -> None:
        """As if the document had never been written; unknown documents are no error."""
        ...

    async def remove_knowledge_base(self, organisation_id: UUID, knowledge_base_id: UUID) -> None:
        """Takes out all that the knowledge base's documents say; unknown knowledge bases are no error."""
        ...
