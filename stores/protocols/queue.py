"""The queue of documents that wait to be ingested, and those who work on it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class IngestTask:
    """One revision of a document to ingest. It carries its organisation, as whose it runs and no other's."""

    organisation_id: UUID
    knowledge_base_id: UUID
    document_id: UUID
    revision: int
    #: How often it was tried before.
    attempts: int = 0
    #: How often the process that worked on it died.
    deaths: int = 0


#: Works on a task. Returns None when the task is settled, else the seconds after which it is to be tried again.
Perform = Callable[[IngestTask], Awaitable[float | None]]


class IngestQueue(Protocol):
    async def enqueue(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, revision: int, *, delay: float = 0.0
    ) -> None:
        """Puts a revision into the queue, once however often it is called; workers leave it alone for `delay`
        seconds. The one before it, where that still waits, leaves the queue; where it is being worked on, the two
        never run at the same time."""
        ...

    async def postpone(self, organisation_id: UUID, document_id: UUID, revision: int, *, delay: float) -> bool:
        """Lets a revision that waits go on waiting, for `delay` seconds from now. False where it does not wait: it is
        being worked on, or done, or was withdrawn."""
        ...

    async def withdraw(self, organisation_id: UUID, document_id: UUID, revision: int) -> None:
        """Takes a revision that waits out of the queue; one that is being worked on is left alone."""
        ...


class IngestConsumer(Protocol):
    async def recover(self) -> int:
        """Gives the tasks of dead workers back to the queue at once, and queues the documents that are unfinished
        and have no task; how many of both. Any number of processes may do so at any time."""
        ...

    async def run(self, perform: Perform, *, concurrency: int) -> None:
        """Works on tasks, the oldest first, `concurrency` at a time, until it is cancelled: then it takes no new ones
        and lets those at work finish, for a while. Tasks that the end cuts off go back to the queue, and so does one
        whose `perform` raises.

        Raises:
            DependencyUnavailable: the queue can't be reached any more. Call again to go on.
        """
        ...
