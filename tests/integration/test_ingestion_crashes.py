"""Workers that die: killed for real, in the middle of their work."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import psycopg
import pytest

from stores.postgres.database import Database
from stores.postgres.queue import QUEUE
from stores.postgres.roles import SERVING_ROLE
from tests.support.ingestion import Gate, Workshop, open_workshop
from tests.support.ingestion_process import FACTS, REACHED, SECOND_BATCH
from tributary.domain.identity import Organisation
from tributary.domain.knowledge import Document, DocumentStatus, KnowledgeBase, Stage

ROOT = Path(__file__).parents[2]
LONG = "\n\n".join(f"Sentence {number} of a long text about Bremen and its harbour." for number in range(800))


@pytest.fixture
async def workshop(database: Database, tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_workshop(database, tmp_path) as opened:
        yield opened


@pytest.fixture
async def base(workshop: Workshop, organisation: Organisation) -> KnowledgeBase:
    return await workshop.base(organisation.id)


@asynccontextmanager
async def worker_held_at(where: str, dsn: str, folder: Path) -> AsyncIterator[Process]:
    """A worker process that has reached the place and stays there until it is killed."""
    arguments = ("-m", "tests.support.ingestion_process", dsn, SERVING_ROLE, str(folder), where)
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=PIPE)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(90):
            assert (await process.stdout.readline()).decode().strip() == REACHED
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def kill_a_worker_at(where: str, dsn: str, folder: Path) -> None:
    async with worker_held_at(where, dsn, folder) as process:
        process.kill()
        await process.wait()


async def rows(database: Database, document: Document, statement: str) -> Sequence[tuple[object, ...]]:
    async with database.organisation(document.organisation_id) as connection:
        cursor = await connection.execute(statement, (document.id,))
        return [tuple(row.values()) for row in await cursor.fetchall()]


async def assert_whole(database: Database, document: Document) -> None:
    """Every part of the text once: chunks in order without gaps, each with one vector and its mentions."""
    chunks = await rows(
        database,
        document,
        "SELECT ordinal, content FROM chunks WHERE document_id = %s ORDER BY ordinal",
    )
    assert [ordinal for ordinal, _ in chunks] == list(range(len(chunks)))
    assert "\n\n".join(str(content) for _, content in chunks) == LONG
    [[mentions]] = await rows(database, document, "SELECT count(*) FROM kg_mentions WHERE document_id = %s")
    assert mentions == 2 * 800, "Sentence and Bremen"


async def jobs(database: Database) -> list[str]:
    async with database.upkeep() as connection:
        cursor = await connection.execute("SELECT status::text FROM procrastinate_jobs")
        return [row["status"] for row in await cursor.fetchall()]


@pytest.mark.parametrize(
    "where",
    [
        Stage.PARSING,
        Stage.SPLITTING,
        SECOND_BATCH,
        Stage.SUMMARISING,
        Stage.EXTRACTING,
        Stage.INDEXING,
        FACTS,
        Stage.READY,
    ],
)
async def test_a_document_whose_worker_is_killed_is_finished_by_the_next(
    workshop: Workshop, database: Database, base: KnowledgeBase, dsn: str, tmp_path: Path, where: str
) -> None:
    document = await workshop.add(base, "long.txt", LONG)
    await kill_a_worker_at(where, dsn, tmp_path)
    assert (await workshop.state(document)).status is DocumentStatus(
        "queued" if where == Stage.PARSING else "processing"
    )
    async with workshop.working():
        state = await workshop.settled(document)
    assert (state.status, state.error) == (DocumentStatus.READY, None)
    await assert_whole(database, document)
    assert await jobs(database) == []
    assert list((tmp_path / "work").iterdir()) == []
    if where == SECOND_BATCH:
        chunks = await rows(database, document, "SELECT ordinal FROM chunks WHERE document_id = %s")
        assert sum(workshop.embedder.batches) == len(chunks) - 32 + 1, "the first batch was not made again"


async def test_the_task_of_a_killed_worker_is_free_at_once(
    workshop: Workshop, base: KnowledgeBase, dsn: str, tmp_path: Path
) -> None:
    await workshop.add(base, "long.txt", LONG)
    async with worker_held_at(Stage.EMBEDDING, dsn, tmp_path) as process:
        assert await workshop.consumer.recover() == 0, "it lives"
        process.kill()
        await process.wait()
        async with asyncio.timeout(5):
            while await workshop.consumer.recover() == 0:
                await asyncio.sleep(0.01)


async def test_a_document_that_kills_its_worker_is_given_up_after_the_third(
    workshop: Workshop, database: Database, base: KnowledgeBase, dsn: str, tmp_path: Path
) -> None:
    document = await workshop.add(base, "long.txt", LONG)
    async with database.upkeep() as connection:
        await connection.execute("""UPDATE procrastinate_jobs SET args = args || '{"deaths": 2}'""")
    await kill_a_worker_at(SECOND_BATCH, dsn, tmp_path)
    async with workshop.working():
        state = await workshop.settled(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error == {
        "code": "internal_error",
        "detail": "The process that ingested it died 3 times, last while embedding.",
    }
    assert await jobs(database) == []
    assert list((tmp_path / "work").iterdir()) == []


async def test_a_document_that_was_stored_and_never_queued_is_found(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    """As when the process dies between the row and its task."""
    document = await workshop.add(base, "long.txt", LONG)
    async with database.upkeep() as connection:
        await connection.execute("DELETE FROM procrastinate_jobs")
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY


async def test_a_document_at_work_without_a_task_is_found_in_whatever_organisation(
    workshop: Workshop, database: Database, base: KnowledgeBase, other_organisation: Organisation
) -> None:
    """As after a restored backup that held the rows alone."""
    other = await workshop.base(other_organisation.id)
    documents = [await workshop.add(each, "a.md", "Text of Bremen.") for each in (base, other)]
    async with database.upkeep() as connection:
        await connection.execute("DELETE FROM procrastinate_jobs")
    for document in documents:
        await workshop.knowledge.set_progress(
            document.organisation_id,
            document.id,
            1,
            status=DocumentStatus.PROCESSING,
            stage=Stage.EMBEDDING,
            progress=0.5,
        )
    assert await workshop.consumer.recover() == 2
    assert await workshop.consumer.recover() == 0, "they wait already"
    async with workshop.working():
        states = [await workshop.settled(document) for document in documents]
    assert [state.status for state in states] == [DocumentStatus.READY] * 2


async def test_a_worker_that_is_silent_for_long_counts_as_dead_although_its_connection_stands(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    """As after a power cut, of which PostgreSQL hears nothing."""
    await workshop.add(base, "long.txt", LONG)
    gate = Gate()
    workshop.embedder.before = gate.hold
    async with workshop.working():
        await gate.reached.wait()
        async with database.upkeep() as connection:
            await connection.execute("UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'")
        assert await workshop.consumer.recover() == 1
        assert await jobs(database) == ["todo"]
        gate.opened.set()


async def test_a_worker_that_lost_its_connection_goes_on_with_a_new_one(
    workshop: Workshop, database: Database, base: KnowledgeBase, dsn: str
) -> None:
    gate = Gate()
    workshop.embedder.before = gate.hold
    first = await workshop.add(base, "long.txt", LONG)
    async with workshop.working():
        await gate.reached.wait()
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            )
        gate.opened.set()
        states = [await workshop.settled(first)]
        states.append(await workshop.settled(await workshop.add(base, "a.md", "Text of Bremen.")))
    assert [state.status for state in states] == [DocumentStatus.READY] * 2
    await assert_whole(database, first)


async def test_a_worker_that_is_stopped_hands_its_document_on(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    document = await workshop.add(base, "long.txt", LONG)
    gate = Gate()
    workshop.embedder.before = gate.hold
    async with workshop.working():
        await gate.reached.wait()
    assert await jobs(database) == ["todo"]
    gate.opened.set()
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY
    await assert_whole(database, document)


async def test_a_task_with_arguments_of_somebody_else_is_dropped(
    workshop: Workshop, database: Database, base: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    async with database.upkeep() as connection:
        await connection.execute(
            f"INSERT INTO procrastinate_jobs (queue_name, task_name, args) VALUES ('{QUEUE}', 'ingest_document', %s)",
            ('{"organisation_id": "nobody", "document_id": 7}',),
        )
    document = await workshop.add(base, "a.md", "Text of Bremen.")
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY
    assert "malformed" in caplog.text


async def test_recovering_from_several_processes_at_once_frees_a_task_once(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    await workshop.add(base, "a.md", "Text of Bremen.")
    async with database.upkeep() as connection:
        row = await (await connection.execute("SELECT * FROM procrastinate_register_worker_v1()")).fetchone()
        assert row is not None
        await connection.execute("UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s", (row["worker_id"],))
    freed = await asyncio.gather(*(workshop.consumer.recover() for _ in range(4)))
    assert sorted(freed) == [0, 0, 0, 1]
    async with database.upkeep() as connection:
        row = await (await connection.execute("SELECT args ->> 'deaths' AS deaths FROM procrastinate_jobs")).fetchone()
    assert row == {"deaths": "1"}
