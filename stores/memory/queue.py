"""The queue of documents within one process: `IngestQueue` and `IngestConsumer` in one."""

import asyncio
from dataclasses import replace
from uuid import UUID

from stores.protocols.queue import IngestTask, Perform
from tributary.domain.errors import TributaryError

Key = tuple[UUID, UUID]


class MemoryIngestQueue:
    def __init__(self) -> None:
        self.waiting: list[IngestTask] = []
        self._later: list[IngestTask] = []
        self._running: dict[Key, IngestTask] = {}
        self._changed = asyncio.Event()

    async def enqueue(
        self, organisation_id: UUID, knowledge_base_id: UUID, document_id: UUID, revision: int, *, delay: float = 0.0
    ) -> None:
        await self.withdraw(organisation_id, document_id, revision - 1)
        running = self._running.get((organisation_id, document_id))
        known = [*self.waiting, *self._later, *([running] if running else [])]
        if not any((task.document_id, task.revision) == (document_id, revision) for task in known):
            self._put(IngestTask(organisation_id, knowledge_base_id, document_id, revision), delay)

    async def postpone(self, organisation_id: UUID, document_id: UUID, revision: int, *, delay: float) -> bool:
        named = (organisation_id, document_id, revision)
        waiting = [task for task in [*self.waiting, *self._later] if _name(task) == named]
        await self.withdraw(*named)
        for task in waiting:
            # A copy: the clock of the one before must not find it.
            self._put(replace(task), delay)
        return bool(waiting)

    async def withdraw(self, organisation_id: UUID, document_id: UUID, revision: int) -> None:
        named = (organisation_id, document_id, revision)
        self.waiting = [task for task in self.waiting if _name(task) != named]
        self._later = [task for task in self._later if _name(task) != named]

    async def recover(self) -> int:
        return 0

    async def run(self, perform: Perform, *, concurrency: int) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(self._work(perform))

    def _add(self, task: IngestTask) -> None:
        self.waiting.append(task)
        self._changed.set()

    async def _work(self, perform: Perform) -> None:
        while True:
            task = next((task for task in self.waiting if _lock(task) not in self._running), None)
            if task is None:
                self._changed.clear()
                await self._changed.wait()
                continue
            self.waiting.remove(task)
            self._running[_lock(task)] = task
            try:
                delay = await perform(task)
            except TributaryError:
                delay = 1.0
            except asyncio.CancelledError:
                self._add(replace(task, attempts=task.attempts + 1))
                raise
            finally:
                del self._running[_lock(task)]
                self._changed.set()
            if delay is not None:
                self._put(replace(task, attempts=task.attempts + 1), delay)

    def _put(self, task: IngestTask, delay: float) -> None:
        if delay <= 0:
            self._add(task)
            return
        self._later.append(task)
        asyncio.get_running_loop().call_later(delay, self._retry, task)

    def _retry(self, task: IngestTask) -> None:
        if any(each is task for each in self._later):
            self._later = [each for each in self._later if each is not task]
            self._add(task)


def _lock(task: IngestTask) -> Key:
    return task.organisation_id, task.document_id


def _name(task: IngestTask) -> tuple[UUID, UUID, int]:
    return task.organisation_id, task.document_id, task.revision
