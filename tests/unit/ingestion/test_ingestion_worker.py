"""What a worker makes of a task, whatever happens to it."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from stores.protocols.queue import IngestTask
from tests.support.ingestion import Workshop, memory_workshop
from tributary.domain.errors import BudgetExceeded, DamagedFile, DependencyUnavailable, ProviderError
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus, ParsedDocument, Stage
from tributary.ingestion.worker import FIRST_DELAY, LONGEST_DELAY, MAX_ATTEMPTS, MAX_DEATHS


class Parser:
    """Raises what a test tells it to."""

    error: Exception | None = None

    async def parse(self, document: Document) -> ParsedDocument:
        if self.error is not None:
            raise self.error
        return ParsedDocument("A text about Bremen.", title=document.title)


@pytest.fixture
def parser() -> Parser:
    return Parser()


@pytest.fixture
def workshop(tmp_path: Path, parser: Parser, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr("graphs.ingest.RETRY", None)
    return memory_workshop(tmp_path, parser=parser)


@pytest.fixture
async def document(workshop: Workshop) -> Document:
    return await workshop.add(await workshop.base(new_id()), "a.txt", "text")


def task_of(document: Document, *, attempts: int = 0, deaths: int = 0, revision: int = 1) -> IngestTask:
    return IngestTask(
        document.organisation_id, document.knowledge_base_id, document.id, revision, attempts=attempts, deaths=deaths
    )


async def test_a_document_that_is_ingested_is_settled(workshop: Workshop, document: Document) -> None:
    assert await workshop.worker.perform(task_of(document)) is None
    assert (await workshop.state(document)).status is DocumentStatus.READY


async def test_what_the_file_got_wrong_is_kept_and_not_tried_again(
    workshop: Workshop, document: Document, parser: Parser
) -> None:
    parser.error = DamagedFile("It is torn.")
    assert await workshop.worker.perform(task_of(document)) is None
    state = await workshop.state(document)
    assert (state.status, state.stage) == (DocumentStatus.FAILED, Stage.PARSING)
    assert state.error == {"code": "damaged_file", "detail": "It is torn."}


@pytest.mark.parametrize(
    ("attempts", "retry_after", "expected"),
    [
        (0, None, FIRST_DELAY),
        (1, None, 2 * FIRST_DELAY),
        (3, None, 8 * FIRST_DELAY),
        (MAX_ATTEMPTS - 2, None, LONGEST_DELAY),
        (0, 60.0, 60.0),
        (3, 1.0, 8 * FIRST_DELAY),
    ],
)
async def test_what_may_pass_is_tried_again_later_and_later(
    workshop: Workshop,
    document: Document,
    parser: Parser,
    attempts: int,
    retry_after: float | None,
    expected: float,
) -> None:
    parser.error = ProviderError("overloaded", transient=True, retry_after=retry_after)
    assert await workshop.worker.perform(task_of(document, attempts=attempts)) == expected
    state = await workshop.state(document)
    assert state.status is DocumentStatus.QUEUED
    assert state.error == {"code": "provider_error", "detail": "overloaded"}


async def test_a_budget_that_turns_have_only_reserved_is_waited_for(
    workshop: Workshop, document: Document, parser: Parser
) -> None:
    parser.error = BudgetExceeded("reserved", retry_after=30.0)
    assert await workshop.worker.perform(task_of(document)) == 30.0
    assert (await workshop.state(document)).status is DocumentStatus.QUEUED


async def test_a_budget_that_is_spent_fails_the_document(
    workshop: Workshop, document: Document, parser: Parser
) -> None:
    parser.error = BudgetExceeded("used up", retry_after=20 * 86400.0)
    assert await workshop.worker.perform(task_of(document)) is None
    assert (await workshop.state(document)).error == {"code": "budget_exceeded", "detail": "used up"}


async def test_what_does_not_pass_in_the_end_fails_with_its_reason(
    workshop: Workshop, document: Document, parser: Parser
) -> None:
    parser.error = DependencyUnavailable("away")
    assert await workshop.worker.perform(task_of(document, attempts=MAX_ATTEMPTS - 1)) is None
    state = await workshop.state(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error == {"code": "dependency_unavailable", "detail": "away"}


async def test_a_bug_is_told_in_the_log_and_not_to_the_caller(
    workshop: Workshop, document: Document, parser: Parser, caplog: pytest.LogCaptureFixture
) -> None:
    parser.error = ZeroDivisionError("secret details")
    assert await workshop.worker.perform(task_of(document)) is None
    state = await workshop.state(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error is not None
    assert state.error["code"] == "internal_error"
    assert "secret" not in state.error["detail"]
    assert "ZeroDivisionError" in caplog.text


async def test_a_document_that_workers_died_of_is_not_begun_again(workshop: Workshop, document: Document) -> None:
    assert await workshop.worker.perform(task_of(document, deaths=MAX_DEATHS)) is None
    assert workshop.progress.seen == []
    state = await workshop.state(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error == {
        "code": "internal_error",
        "detail": "The process that ingested it died 3 times, last while queued.",
    }


async def test_a_document_that_was_ready_before_its_last_worker_died_stays_ready(
    workshop: Workshop, document: Document
) -> None:
    await workshop.worker.perform(task_of(document))
    assert await workshop.worker.perform(task_of(document, deaths=MAX_DEATHS)) is None
    assert (await workshop.state(document)).status is DocumentStatus.READY


async def test_a_failure_of_a_document_that_is_gone_or_renewed_is_nobodys(
    workshop: Workshop, document: Document, parser: Parser
) -> None:
    async def renew(_: Stage) -> None:
        await workshop.documents.reingest(document.organisation_id, document.knowledge_base_id, document.id)

    workshop.progress.at = renew
    parser.error = DependencyUnavailable("away")
    assert await workshop.worker.perform(task_of(document)) is None
    state = await workshop.state(document)
    assert (state.status, state.revision, state.error) == (DocumentStatus.QUEUED, 2, None)


async def test_what_was_staged_stays_for_the_next_try_and_goes_with_the_last(
    workshop: Workshop, document: Document
) -> None:
    failing = True

    async def before(_: Sequence[str]) -> None:
        if failing:
            raise DependencyUnavailable("away")

    workshop.embedder.before = before
    assert await workshop.worker.perform(task_of(document)) == FIRST_DELAY
    assert await workshop.staging.read(document.id, 1, "parsed-1") is not None
    failing = False
    assert await workshop.worker.perform(task_of(document, attempts=1)) is None
    assert await workshop.staging.read(document.id, 1, "parsed-1") is None


async def test_a_worker_takes_documents_from_its_queue(workshop: Workshop, document: Document) -> None:
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY
