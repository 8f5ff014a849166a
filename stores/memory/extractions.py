"""What chat models read in passages, kept in memory."""

from collections.abc import Collection, Mapping
from uuid import UUID

from stores.memory.knowledge import MemoryKnowledge


class MemoryExtractions:
    """`ExtractionCache` over the documents of a `MemoryKnowledge`."""

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        self._knowledge = knowledge
        self._kept: dict[tuple[UUID, UUID], dict[bytes, str]] = {}

    async def find(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> Mapping[bytes, str]:
        if not self._knowledge.has_document(organisation_id, document_id):
            return {}
        kept = self._kept.get((organisation_id, document_id), {})
        return {each: kept[each] for each in hashes if each in kept}

    async def keep(self, organisation_id: UUID, document_id: UUID, made: Mapping[bytes, str]) -> None:
        if self._knowledge.has_document(organisation_id, document_id):
            self._kept.setdefault((organisation_id, document_id), {}).update(made)

    async def retain(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> None:
        kept = self._kept.get((organisation_id, document_id), {})
        for each in kept.keys() - set(hashes):
            del kept[each]
