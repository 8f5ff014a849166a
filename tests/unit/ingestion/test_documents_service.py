"""Taking documents in and out: what is left behind when something fails, and what is not."""

import asyncio
import hashlib
from pathlib import Path
from uuid import UUID

import pytest

from tests.support.ingestion import Gate, Workshop, memory_workshop
from tributary.domain.errors import DependencyUnavailable, InvalidRequest, NotFound, UnsupportedType
from tributary.domain.ids import new_id
from tributary.domain.knowledge import DEFAULT_IMPORTANCE, Document, DocumentStatus, KnowledgeBase, Stage


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return memory_workshop(tmp_path)


@pytest.fixture
async def base(workshop: Workshop) -> KnowledgeBase:
    return await workshop.base(new_id())


def stored(workshop: Workshop) -> list[Path]:
    return [path for path in (workshop.folder / "files").rglob("*") if path.is_file()]


async def documents_of(workshop: Workshop, base: KnowledgeBase) -> list[Document]:
    return list(await workshop.knowledge.list_documents(base.organisation_id, base.id, after=None, limit=99))


async def test_a_document_is_described_by_its_bytes_and_its_name(workshop: Workshop, base: KnowledgeBase) -> None:
    document = await workshop.add(base, "annual_report 2031.md", "# Report\n")
    assert document == await workshop.state(document)
    assert (document.title, document.content_type, document.size) == ("annual report 2031", "text/markdown", 9)
    assert document.sha256 == hashlib.sha256(b"# Report\n").hexdigest()
    assert (document.status, document.stage, document.progress) == (DocumentStatus.QUEUED, Stage.QUEUED, 0.0)
    assert document.importance == DEFAULT_IMPORTANCE


async def test_what_people_chose_is_kept(workshop: Workshop, base: KnowledgeBase) -> None:
    document = await workshop.add(base, "a.txt", "text", title="  A title ", importance=1.0)
    assert (document.title, document.importance) == ("A title", 1.0)
    assert (await workshop.add(base, "a.txt", "text", title="  ")).title == "a"


@pytest.mark.parametrize("importance", [-0.1, 1.1, float("nan")])
async def test_an_importance_beyond_its_range_is_refused(
    workshop: Workshop, base: KnowledgeBase, importance: float
) -> None:
    with pytest.raises(InvalidRequest):
        await workshop.add(base, "a.txt", "text", importance=importance)
    assert stored(workshop) == []


async def test_two_files_of_the_same_bytes_and_name_are_two_documents(workshop: Workshop, base: KnowledgeBase) -> None:
    first, second = [await workshop.add(base, "a.txt", "text") for _ in range(2)]
    assert first.id != second.id
    assert first.storage_key != second.storage_key
    assert len(stored(workshop)) == 2


async def test_audio_is_no_document(workshop: Workshop, base: KnowledgeBase) -> None:
    with pytest.raises(UnsupportedType, match="Markdown"):
        await workshop.add(base, "a.wav", b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(40))
    assert stored(workshop) == []


async def test_a_row_that_can_not_be_stored_leaves_no_file(
    workshop: Workshop, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_: Document) -> None:
        raise DependencyUnavailable("away")

    monkeypatch.setattr(workshop.knowledge, "add_document", fail)
    with pytest.raises(DependencyUnavailable):
        await workshop.add(base, "a.txt", "text")
    assert stored(workshop) == []


async def test_a_document_that_can_not_be_queued_now_is_accepted(
    workshop: Workshop, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object) -> None:
        raise DependencyUnavailable("away")

    monkeypatch.setattr(workshop.queue, "enqueue", fail)
    document = await workshop.add(base, "a.txt", "text")
    assert (await workshop.state(document)).status is DocumentStatus.QUEUED
    assert "waits to be queued" in caplog.text


async def test_a_caller_who_leaves_while_the_row_is_stored_leaves_it_whole(
    workshop: Workshop, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, add = Gate(), workshop.knowledge.add_document

    async def slow(document: Document) -> None:
        await gate.hold()
        await add(document)

    monkeypatch.setattr(workshop.knowledge, "add_document", slow)
    adding = asyncio.create_task(workshop.add(base, "a.txt", "text"))
    await gate.reached.wait()
    adding.cancel()
    gate.opened.set()
    with pytest.raises(asyncio.CancelledError):
        await adding
    [document] = await documents_of(workshop, base)
    assert len(stored(workshop)) == 1
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY


async def test_a_replacement_that_fails_leaves_the_document_as_it_was(workshop: Workshop, base: KnowledgeBase) -> None:
    document = await workshop.add(base, "a.txt", "text")
    before = stored(workshop)
    with pytest.raises(UnsupportedType):
        await workshop.replace(document, "a.zip", b"PK\x03\x04" + bytes(60))
    assert stored(workshop) == before
    assert await workshop.state(document) == document


async def test_a_document_is_deleted_although_the_graph_is_away(
    workshop: Workshop, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = await workshop.add(base, "a.txt", "text")

    async def fail(_: UUID, __: UUID, ___: UUID) -> None:
        raise DependencyUnavailable("the graph is away")

    monkeypatch.setattr(workshop.graph, "remove_document", fail)
    await workshop.delete(document)
    assert stored(workshop) == []
    with pytest.raises(NotFound):
        await workshop.state(document)
