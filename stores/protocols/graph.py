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
    """Where an entity stands: chunk ordinal, offsets in the document's text."""

    key: str
    chunk: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GraphDraft:
    """All that one document says."""

    entities: tuple[EntityDraft, ...] = ()
    relations: tuple[RelationDraft, ...] = ()
    mentions: tuple[MentionDraft, ...] = ()


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
        seed_chunks: Sequence[UUID] = (),
        hops: int = 2,
        limit: int = 10,
    ) -> GraphFindings:
        """Finds the query's entities by name and alias, adds those that `seed_chunks` mention, and walks `hops`
        (1 or 2) steps along relations in both directions. Bounded in fan-out; cycles are safe; names with quotes
        or operators are text; nothing found is empty findings."""
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
