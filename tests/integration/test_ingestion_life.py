"""Documents that are deleted, replaced and ingested again, also while a worker is at them."""

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from uuid import UUID

import pytest

from stores.postgres.database import Database
from tests.support.ingestion import Gate, Workshop, open_workshop
from tests.support.ingestion_rows import entities_of, files_in, rows_of, texts_of, until_queue_is_empty
from tributary.domain.errors import NotFound
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


async def test_a_delete_wins_against_the_embedding_that_it_meets(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    gate = Gate()
    workshop.embedder.before = gate.hold
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        await gate.reached.wait()
        await workshop.delete(document)
        gate.opened.set()
        await until_queue_is_empty(database)
    assert await rows_of(database, document) == {}
    assert await entities_of(database, base) == set()
    assert files_in(workshop.folder) == []


@pytest.mark.parametrize("stage", [Stage.PARSING, Stage.SPLITTING, Stage.EXTRACTING, Stage.INDEXING, Stage.READY])
async def test_a_delete_wins_at_every_stage(
    workshop: Workshop, database: Database, base: KnowledgeBase, stage: Stage
) -> None:
    """At READY the chunks and the graph are written already."""
    gate = Gate()
    workshop.progress.at = partial(gate.hold_at, wanted=stage)
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        await gate.reached.wait()
        await workshop.delete(document)
        gate.opened.set()
        await until_queue_is_empty(database)
    assert await rows_of(database, document) == {}
    assert await entities_of(database, base) == set()
    assert files_in(workshop.folder) == []


async def test_what_was_searchable_stays_until_the_replacement_is_indexed_and_then_nothing_of_it(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    keeper = await workshop.add(base, "b.md", "Everybody knows Bremen.")
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        await workshop.settled(keeper)
        document = await workshop.settled(document)
        gate = Gate()
        workshop.progress.at = partial(gate.hold_at, wanted=Stage.INDEXING)
        renewed = await workshop.replace(document, "new.md", "Only the Castle of Schwerin is here.")
        assert (renewed.revision, renewed.status) == (2, DocumentStatus.QUEUED)
        await gate.reached.wait()
        assert any("Lighthouse" in text for text in await texts_of(database, document))
        gate.opened.set()
        renewed = await workshop.settled(renewed)
    assert renewed.status is DocumentStatus.READY
    assert renewed.filename == "new.md"
    assert await texts_of(database, document) == ["Only the Castle of Schwerin is here."]
    # Bremen is known from elsewhere, too.
    assert await entities_of(database, base) == {"everybody", "bremen", "only", "castle", "schwerin"}
    assert len(files_in(workshop.folder / "files")) == 2, "the file that was replaced is gone"


async def test_a_document_that_is_replaced_while_it_is_ingested_ends_as_its_replacement(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    gate = Gate()
    workshop.embedder.before = gate.hold
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        await gate.reached.wait()
        renewed = await workshop.replace(document, "new.md", "Only the Castle of Schwerin is here.")
        gate.opened.set()
        state = await workshop.settled(renewed)
        await until_queue_is_empty(database)
    assert (state.status, state.revision) == (DocumentStatus.READY, 2)
    assert await texts_of(database, document) == ["Only the Castle of Schwerin is here."]
    assert files_in(workshop.folder / "work") == []
    assert len(files_in(workshop.folder / "files")) == 1


async def test_ingesting_a_document_again_leaves_one_of_each(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    document = await workshop.add(base, "a.md", MARKDOWN)
    async with workshop.working():
        await workshop.settled(document)
        before = await rows_of(database, document)
        again = await workshop.documents.reingest(base.organisation_id, base.id, document.id)
        await workshop.settled(again)
    assert await rows_of(database, document) == before


async def test_following_a_document_that_is_deleted_ends_with_its_absence(
    workshop: Workshop, base: KnowledgeBase
) -> None:
    document = await workshop.add(base, "a.md", MARKDOWN)
    following = workshop.documents.progress(base.organisation_id, base.id, document.id)
    assert (await anext(following)).id == document.id
    await workshop.delete(document)
    with pytest.raises(NotFound):
        await anext(following)


async def test_an_unknown_document_can_be_neither_replaced_nor_deleted(
    workshop: Workshop, base: KnowledgeBase, other_organisation: Organisation
) -> None:
    document = await workshop.add(base, "a.md", MARKDOWN)

    async def put(organisation_id: UUID, document_id: UUID) -> None:
        await workshop.documents.replace(organisation_id, base.id, document_id, "b.md", workshop.file("Other text."))

    for organisation_id, document_id in ((other_organisation.id, document.id), (base.organisation_id, new_id())):
        with pytest.raises(NotFound):
            await put(organisation_id, document_id)
        with pytest.raises(NotFound):
            await workshop.documents.reingest(organisation_id, base.id, document_id)
        with pytest.raises(NotFound):
            await workshop.documents.delete(organisation_id, base.id, document_id)
    assert len(files_in(workshop.folder / "files")) == 1
