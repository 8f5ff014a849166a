"""Indexes that large knowledge bases get of their own."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Tended:
    """What a round changed: names of indexes."""

    built: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


class VectorIndexes(Protocol):
    async def tend(self) -> Tended:
        """Builds the indexes that knowledge bases have grown into, one after the other, and drops those that nobody
        needs: of knowledge bases that shrank or were deleted, and what a crash left half built. Searches find the same
        meanwhile, only slower. Safe in any number of processes: one of them works, the others return at once.

        Raises:
            DependencyUnavailable: the database can't be reached.
        """
        ...
