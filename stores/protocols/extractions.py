"""What a chat model read in the passages of a document, or saw in its pictures, kept for when they are read again."""

from collections.abc import Collection, Mapping
from typing import Protocol
from uuid import UUID


class ExtractionCache(Protocol):
    """Texts under the hash of what they were made of. They go with their document."""

    async def find(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> Mapping[bytes, str]:
        """Those of the hashes that are kept, in one round trip."""
        ...

    async def keep(self, organisation_id: UUID, document_id: UUID, made: Mapping[bytes, str]) -> None:
        """In the place of what was kept under a hash; nothing where the document is gone."""
        ...

    async def retain(self, organisation_id: UUID, document_id: UUID, hashes: Collection[bytes]) -> None:
        """Forgets all others of the document."""
        ...
