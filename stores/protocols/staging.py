"""What an ingestion run has made so far, kept between its steps and over its attempts."""

from datetime import timedelta
from typing import Protocol
from uuid import UUID


class Staging(Protocol):
    """Bytes under a document, a revision and a name (lower-case ASCII letters, digits and hyphens).

    Staging is a shortcut and never the truth: whatever is missing or not whole is made again. It may be local to one
    machine. Raises `DependencyUnavailable` where the place of storage fails.
    """

    async def read(self, document_id: UUID, revision: int, name: str) -> bytes | None:
        """What `write` was given, or None where that is missing or not whole."""
        ...

    async def write(self, document_id: UUID, revision: int, name: str, data: bytes, *, at_once: bool = False) -> None:
        """All or nothing, in the place of what was there. Where a crash of the process may cost the last seconds,
        `at_once` says that this product must not be among them."""
        ...

    async def clear(self, document_id: UUID, *, through: int | None = None) -> None:
        """Removes the document's revisions up to and with `through`, or all of them; nothing there is no error."""
        ...

    async def prune(self, unused_for: timedelta) -> int:
        """Removes the documents that nobody wrote to for so long; how many. What runs on other machines left behind
        is found no other way."""
        ...
