"""What large knowledge bases get beyond small ones, so that they are searched as quickly."""

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


class WordCounts(Protocol):
    async def tend(self) -> None:
        """Counts the frequent words of knowledge bases that have grown into it or changed, and forgets the counts of
        those that shrank. Safe in any number of processes.

        Raises:
            DependencyUnavailable: the database can't be reached.
        """
        ...
