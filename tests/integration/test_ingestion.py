"""Documents on their way into a knowledge base: real PostgreSQL, real workers, real files."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from stores.postgres.database import Database
from tests.support.files import pdf, png
from tests.support.ingestion import Workshop, open_workshop
from tests.support.ingestion_rows import entities_of, files_in, queue_is_empty, rows_of, texts_of, until_queue_is_empty
from tests.support.pages import pdf_of
from tributary.domain.errors import EmptyFile, NotFound, ProviderError, UnsupportedType
from tributary.domain.identity import Organisation
from tributary.domain.ids import new_id
from tributary.domain.knowledge import DocumentStatus, KnowledgeBase, Stage

MARKDOWN = "# Travel\n\nThe Lighthouse of Bremen is open in summer.\n\n# Food\n\nFish is served in Hamburg.\n"


@pytest.fixture
async def workshop(database: Database, tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_workshop(database, tmp_path) as opened:
        yield opened


@pytest.fixture
async def base(workshop: Workshop, organisation: Organisation) -> KnowledgeBase:
    return await workshop.base(organisation.id)


async def test_markdown_text_and_pdf_become_searchable(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    async with workshop.working():
        added = [
            await workshop.add(base, "travel.md", MARKDOWN),
            await workshop.add(base, "plain.txt", "A plain text about the Harbour of Kiel."),
            await workshop.add(base, "two pages.pdf", pdf_of(["First page of Berlin.", "Second page of Munich."])),
        ]
        done = [await workshop.settled(document) for document in added]
    assert [(each.status, each.stage, each.progress, each.error) for each in done] == [
        (DocumentStatus.READY, Stage.READY, 1.0, None)
    ] * 3
    assert [each.content_type for each in done] == ["text/markdown", "text/plain", "application/pdf"]
    assert [bool(each.summary) for each in done] == [True] * 3
    assert any("Lighthouse" in text for text in await texts_of(database, done[0]))
    assert {"lighthouse", "bremen", "harbour", "berlin", "munich"} <= await entities_of(database, base)
    async with database.organisation(base.organisation_id) as connection:
        cursor = await connection.execute(
            "SELECT content, page FROM chunks WHERE document_id = %s ORDER BY ordinal", (done[2].id,)
        )
        pages = [(row["content"], row["page"]) for row in await cursor.fetchall()]
    assert pages == [("First page of Berlin.", 1), ("Second page of Munich.", 2)]
    assert files_in(workshop.folder / "work") == []


async def test_a_picture_becomes_one_chunk_with_a_vector_of_its_own(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    async with workshop.working():
        done = await workshop.settled(await workshop.add(base, "north_sea.png", png(), title="A storm at Sylt"))
    assert done.status is DocumentStatus.READY, done.error
    [text] = await texts_of(database, done)
    assert "storm at Sylt" in text
    assert "north sea" in text
    async with database.organisation(base.organisation_id) as connection:
        rows = await (await connection.execute("SELECT model FROM chunk_images")).fetchall()
    assert [row["model"] for row in rows] == [workshop.images.name]


async def test_a_document_without_a_title_takes_the_one_in_its_text(workshop: Workshop, base: KnowledgeBase) -> None:
    async with workshop.working():
        named = await workshop.settled(await workshop.add(base, "a.md", MARKDOWN))
        chosen = await workshop.settled(await workshop.add(base, "b.md", MARKDOWN, title="Chosen"))
    assert named.title == "Travel"
    assert chosen.title == "Chosen"


async def test_one_broken_pdf_holds_up_no_other_document(workshop: Workshop, base: KnowledgeBase) -> None:
    broken = await workshop.add(base, "broken.pdf", b"%PDF-1.7\nnothing of what should follow")
    blank = await workshop.add(base, "blank.pdf", pdf(pages=2))
    sound = await workshop.add(base, "sound.md", MARKDOWN)
    async with workshop.working():
        states = [await workshop.settled(document) for document in (broken, blank, sound)]
    assert [state.status for state in states] == [DocumentStatus.FAILED, DocumentStatus.FAILED, DocumentStatus.READY]
    assert states[0].error == {"code": "damaged_file", "detail": "The PDF is damaged: it can't be opened."}
    assert states[1].error is not None
    assert states[1].error["code"] == "empty_file"
    assert states[0].stage is Stage.PARSING
    assert files_in(workshop.folder / "work") == []


async def test_a_file_that_is_gone_is_told_with_its_document(workshop: Workshop, base: KnowledgeBase) -> None:
    document = await workshop.add(base, "a.md", MARKDOWN)
    await workshop.blobs.delete([document.storage_key])
    async with workshop.working():
        state = await workshop.settled(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error == {
        "code": "not_found",
        "detail": f"The stored file of document {document.id} does not exist",
    }


async def test_what_a_knowledge_base_does_not_take_is_refused_and_leaves_nothing(
    workshop: Workshop, base: KnowledgeBase, database: Database
) -> None:
    with pytest.raises(UnsupportedType):
        await workshop.add(base, "archive.txt", b"PK\x03\x04" + bytes(60))
    with pytest.raises(EmptyFile):
        await workshop.add(base, "empty.txt", b"")
    with pytest.raises(NotFound):
        await workshop.add(replace(base, id=new_id()), "a.md", MARKDOWN)
    assert files_in(workshop.folder / "files") == []
    assert await workshop.knowledge.list_documents(base.organisation_id, base.id, after=None, limit=9) == []
    assert await queue_is_empty(database)


async def test_a_dependency_that_is_away_is_waited_for_and_told(
    workshop: Workshop, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tributary.ingestion.worker.FIRST_DELAY", 0.05)
    away = 3

    async def before(_: object) -> None:
        nonlocal away
        away -= 1
        if away >= 0:
            raise ProviderError("The provider is overloaded", transient=True)

    workshop.embedder.before = before
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        states = await workshop.followed(document)
    waited = [state for state in states if state.error]
    assert {state.status for state in waited} == {DocumentStatus.QUEUED}
    assert waited[0].error == {"code": "provider_error", "detail": "The provider is overloaded"}
    assert (states[-1].status, states[-1].error) == (DocumentStatus.READY, None)


async def test_a_bug_is_kept_with_its_document_and_stops_nobody(
    workshop: Workshop, base: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    async def before(texts: object) -> None:
        if "Lighthouse" in str(texts):
            raise KeyError("a bug")

    workshop.embedder.before = before
    hit = await workshop.add(base, "a.md", MARKDOWN)
    other = await workshop.add(base, "b.md", "Nothing happens here.")
    async with workshop.working():
        states = [await workshop.settled(hit), await workshop.settled(other)]
    assert [state.status for state in states] == [DocumentStatus.FAILED, DocumentStatus.READY]
    assert states[0].error is not None
    assert states[0].error["code"] == "internal_error"
    assert "KeyError" in caplog.text
    assert files_in(workshop.folder / "work") == []


async def test_a_task_that_names_another_organisations_document_is_refused(
    workshop: Workshop, database: Database, base: KnowledgeBase, other_organisation: Organisation
) -> None:
    mine = await workshop.base(other_organisation.id)
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        before = await workshop.settled(document)
        workshop.progress.seen.clear()
        for knowledge_base_id in (base.id, mine.id):
            await workshop.queue.enqueue(other_organisation.id, knowledge_base_id, document.id, 1)
            await until_queue_is_empty(database)
    assert workshop.progress.seen == [], "nothing was begun"
    assert await workshop.state(document) == before
    assert await workshop.knowledge.list_documents(other_organisation.id, mine.id, after=None, limit=9) == []


async def test_a_run_for_a_document_of_another_knowledge_base_does_nothing(
    workshop: Workshop, database: Database, base: KnowledgeBase, organisation: Organisation
) -> None:
    other = await workshop.base(organisation.id)
    document = await workshop.add(base, "a.md", MARKDOWN)
    assert await workshop.ingest(replace(document, knowledge_base_id=other.id)) == {"outcome": "superseded"}
    assert await rows_of(database, document) == {"documents": 1}


async def test_progress_grows_to_its_end_and_names_the_stages(workshop: Workshop, base: KnowledgeBase) -> None:
    long = "\n\n".join(f"Sentence {number} of a long text about Bremen and its harbour." for number in range(800))
    document = await workshop.add(base, "long.txt", long)
    async with workshop.working():
        states = await workshop.followed(document)
    assert states[-1].status is DocumentStatus.READY
    assert len(workshop.embedder.batches) > 3
    shares = [state.progress for state in states]
    assert shares == sorted(shares)
    # Who follows sees the newest state, not each: what was told is another matter.
    assert workshop.progress.seen.count(Stage.EMBEDDING) > 3, "batches are told"
