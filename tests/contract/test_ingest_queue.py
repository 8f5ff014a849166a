"""What every queue of documents promises, in memory and on PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

import pytest

from stores.memory.queue import MemoryIngestQueue
from stores.postgres.database import Database
from stores.postgres.queue import PostgresIngestQueue
from stores.postgres.queue_consumer import PostgresIngestConsumer
from stores.protocols.queue import IngestConsumer, IngestQueue, IngestTask, Perform
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id

ORGANISATION, BASE = new_id(), new_id()


@dataclass(frozen=True)
class Backend:
    queue: IngestQueue
    consumer: IngestConsumer


@pytest.fixture(params=["memory", "postgres"])
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "memory":
        memory = MemoryIngestQueue()
        return Backend(memory, memory)
    database: Database = request.getfixturevalue("database")
    return Backend(PostgresIngestQueue(database), PostgresIngestConsumer(database, grace=5, poll=0.05))


@asynccontextmanager
async def working(consumer: IngestConsumer, perform: Perform, *, concurrency: int = 1) -> AsyncIterator[None]:
    task = asyncio.create_task(consumer.run(perform, concurrency=concurrency))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Log:
    """Takes tasks; a document named in `holds` is kept until its event is set."""

    def __init__(self) -> None:
        self.begun: list[IngestTask] = []
        self.settled: list[IngestTask] = []
        self.holds: dict[UUID, asyncio.Event] = {}
        self.delay: Callable[[IngestTask], float | None] = lambda task: None
        self._changed = asyncio.Condition()

    async def perform(self, task: IngestTask) -> float | None:
        await self._note(self.begun, task)
        if task.document_id in self.holds:
            await self.holds[task.document_id].wait()
        await self._note(self.settled, task)
        return self.delay(task)

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(20), self._changed:
            await self._changed.wait_for(reached)

    async def _note(self, where: list[IngestTask], task: IngestTask) -> None:
        async with self._changed:
            where.append(task)
            self._changed.notify_all()


async def put(queue: IngestQueue, document: UUID, revision: int = 1) -> None:
    await queue.enqueue(ORGANISATION, BASE, document, revision)


def of(document: UUID, revision: int = 1) -> tuple[UUID, int]:
    return document, revision


def names(tasks: list[IngestTask]) -> list[tuple[UUID, int]]:
    return [(task.document_id, task.revision) for task in tasks]


async def test_a_task_reaches_a_worker_with_everything_it_was_given(backend: Backend) -> None:
    log, document = Log(), new_id()
    async with working(backend.consumer, log.perform):
        await put(backend.queue, document)
        await log.until(lambda: bool(log.settled))
    assert log.settled == [IngestTask(ORGANISATION, BASE, document, 1, attempts=0, deaths=0)]


async def test_tasks_are_worked_on_in_the_order_of_their_coming(backend: Backend) -> None:
    log, documents = Log(), [new_id() for _ in range(4)]
    for document in documents:
        await put(backend.queue, document)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: len(log.settled) == 4)
    assert names(log.settled) == [of(document) for document in documents]


async def test_a_revision_waits_once_however_often_it_is_enqueued(backend: Backend) -> None:
    log, document, last = Log(), new_id(), new_id()
    for _ in range(3):
        await put(backend.queue, document)
    await put(backend.queue, last)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: of(last) in names(log.settled))
    assert names(log.settled) == [of(document), of(last)]


async def test_a_newer_revision_takes_the_place_of_the_one_that_waits(backend: Backend) -> None:
    log, document = Log(), new_id()
    await put(backend.queue, document, 1)
    await put(backend.queue, document, 2)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.settled))
        await put(backend.queue, last := new_id())
        await log.until(lambda: of(last) in names(log.settled))
    assert names(log.settled) == [of(document, 2), of(last)]


async def test_a_task_that_was_withdrawn_is_not_worked_on(backend: Backend) -> None:
    log, document, last = Log(), new_id(), new_id()
    await put(backend.queue, document)
    await put(backend.queue, last)
    await backend.queue.withdraw(ORGANISATION, document, 1)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.settled))
    assert names(log.settled) == [of(last)]


async def test_two_revisions_of_a_document_are_never_worked_on_at_the_same_time(backend: Backend) -> None:
    log, document, other = Log(), new_id(), new_id()
    log.holds[document] = asyncio.Event()
    async with working(backend.consumer, log.perform, concurrency=3):
        await put(backend.queue, document, 1)
        await log.until(lambda: of(document, 1) in names(log.begun))
        await put(backend.queue, document, 2)
        await put(backend.queue, other)
        await log.until(lambda: of(other) in names(log.settled))
        assert of(document, 2) not in names(log.begun)
        log.holds[document].set()
        await log.until(lambda: of(document, 2) in names(log.settled))
    assert names(log.settled) == [of(other), of(document, 1), of(document, 2)]


async def test_a_document_that_takes_long_does_not_hold_up_the_others_of_a_worker_of_two(backend: Backend) -> None:
    log, slow, others = Log(), new_id(), [new_id(), new_id()]
    log.holds[slow] = asyncio.Event()
    for document in (slow, *others):
        await put(backend.queue, document)
    async with working(backend.consumer, log.perform, concurrency=2):
        await log.until(lambda: len(log.settled) == 2)
        log.holds[slow].set()
        await log.until(lambda: len(log.settled) == 3)
    assert names(log.settled) == [of(others[0]), of(others[1]), of(slow)]


async def test_a_task_that_is_not_settled_comes_again_and_knows_how_often_it_was_tried(backend: Backend) -> None:
    log, document = Log(), new_id()
    log.delay = lambda task: 0.01 if task.attempts < 2 else None
    await put(backend.queue, document)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: len(log.settled) == 3)
    assert [task.attempts for task in log.settled] == [0, 1, 2]
    assert {task.deaths for task in log.settled} == {0}


async def test_a_task_whose_work_fails_goes_back_to_the_queue(backend: Backend) -> None:
    log = Log()

    def delay(task: IngestTask) -> None:
        if task.attempts == 0:
            raise DependencyUnavailable("the database is away")

    log.delay = delay
    await put(backend.queue, new_id())
    async with working(backend.consumer, log.perform):
        await log.until(lambda: len(log.settled) == 2)
    assert [task.attempts for task in log.settled] == [0, 1]


async def test_a_task_that_the_end_of_its_worker_cuts_off_goes_to_the_next(backend: Backend, no_grace: None) -> None:
    document, log = new_id(), Log()
    log.holds[document] = asyncio.Event()
    await put(backend.queue, document)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.begun))
    assert log.settled == []
    log.holds[document].set()
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.settled))
    assert names(log.settled) == [of(document)]
    assert log.settled[0].deaths == 0, "an orderly end is no death"


@pytest.fixture
def no_grace(backend: Backend) -> None:
    if isinstance(backend.consumer, PostgresIngestConsumer):
        backend.consumer._grace = 0.05


async def test_a_task_for_later_is_left_alone_until_its_time(backend: Backend) -> None:
    log, held, last = Log(), new_id(), new_id()
    await backend.queue.enqueue(ORGANISATION, BASE, held, 1, delay=3600)
    await put(backend.queue, last)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.settled))
        assert names(log.settled) == [of(last)]
        assert await backend.queue.postpone(ORGANISATION, held, 1, delay=0.01)
        await log.until(lambda: of(held) in names(log.settled))


async def test_a_task_that_waits_can_be_put_off(backend: Backend) -> None:
    log, held, last = Log(), new_id(), new_id()
    await put(backend.queue, held)
    assert await backend.queue.postpone(ORGANISATION, held, 1, delay=3600)
    await put(backend.queue, last)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: of(last) in names(log.settled))
    assert names(log.settled) == [of(last)]


async def test_a_task_at_work_or_unknown_can_not_be_put_off(backend: Backend) -> None:
    log, document = Log(), new_id()
    log.holds[document] = asyncio.Event()
    await put(backend.queue, document)
    async with working(backend.consumer, log.perform):
        await log.until(lambda: bool(log.begun))
        assert not await backend.queue.postpone(ORGANISATION, document, 1, delay=3600)
        log.holds[document].set()
        await log.until(lambda: bool(log.settled))
    assert not await backend.queue.postpone(ORGANISATION, new_id(), 1, delay=3600)


async def test_a_task_for_later_can_be_withdrawn(backend: Backend) -> None:
    held = new_id()
    await backend.queue.enqueue(ORGANISATION, BASE, held, 1, delay=3600)
    await backend.queue.withdraw(ORGANISATION, held, 1)
    assert not await backend.queue.postpone(ORGANISATION, held, 1, delay=0.01)
