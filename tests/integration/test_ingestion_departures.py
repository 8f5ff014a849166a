"""Documents that go while they are worked on, and what comes between: real PostgreSQL, real workers."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from stores.postgres.database import Database
from tests.support.ingestion import Gate, Workshop, open_workshop
from tests.support.ingestion_rows import entities_of, files_in, queue_is_empty, rows_of, texts_of, until_queue_is_empty
from tests.support.provider import Provider
from tests.support.provider_faults import Refuse, WrongCount
from tributary.domain.errors import NotFound
from tributary.domain.identity import Organisation
from tributary.domain.knowledge import Document, DocumentStatus, KnowledgeBase, ParsedDocument
from tributary.ingestion.departures import Departures
from tributary.knowledge import KnowledgeBases
from tributary.models.embeddings import TextEmbedders

TEXT = "The Lighthouse of Bremen is open in summer."
REMOTE = "openai/text-embedding-3-small"


@pytest.fixture
async def workshop(database: Database, tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_workshop(database, tmp_path) as opened:
        yield opened


@pytest.fixture
async def base(workshop: Workshop, organisation: Organisation) -> KnowledgeBase:
    return await workshop.base(organisation.id)


def hold_parsing(workshop: Workshop, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    async def parse(_: Document) -> ParsedDocument:
        await gate.hold()
        return ParsedDocument(TEXT)

    monkeypatch.setattr(workshop.parser, "parse", parse)


def hold_embedding(workshop: Workshop, gate: Gate, _: pytest.MonkeyPatch) -> None:
    workshop.embedder.before = gate.hold


def hold_facts(workshop: Workshop, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the chunks, before the facts."""

    async def write(*_: Any) -> None:
        await gate.hold()

    monkeypatch.setattr(workshop.graph, "write_document", write)


@pytest.mark.parametrize("hold", [hold_parsing, hold_embedding, hold_facts])
async def test_a_step_that_would_never_end_ends_with_its_document(
    workshop: Workshop,
    database: Database,
    base: KnowledgeBase,
    monkeypatch: pytest.MonkeyPatch,
    hold: Callable[[Workshop, Gate, pytest.MonkeyPatch], None],
) -> None:
    gate = Gate()
    hold(workshop, gate, monkeypatch)
    document = await workshop.add(base, "a.md", TEXT)
    async with workshop.working():
        await gate.reached.wait()
        await workshop.delete(document)
        await until_queue_is_empty(database)
    assert not gate.opened.is_set()
    assert await rows_of(database, document) == {}
    assert await entities_of(database, base) == set()
    assert files_in(workshop.folder) == []


async def test_a_replacement_does_not_wait_for_what_it_replaces(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    gate = Gate()

    async def before(texts: object) -> None:
        if "Lighthouse" in str(texts):
            await gate.hold()

    workshop.embedder.before = before
    document = await workshop.add(base, "a.md", TEXT)
    async with workshop.working():
        await gate.reached.wait()
        renewed = await workshop.replace(document, "new.md", "Only the Castle of Schwerin is here.")
        state = await workshop.settled(renewed)
        await until_queue_is_empty(database)
    assert (state.status, state.revision) == (DocumentStatus.READY, 2)
    assert await texts_of(database, document) == ["Only the Castle of Schwerin is here."]
    assert files_in(workshop.folder / "work") == []


async def test_a_knowledge_base_that_is_deleted_takes_its_running_and_waiting_documents_along(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    gate = Gate()

    async def before(texts: object) -> None:
        if "Bremen" in str(texts):
            await gate.hold()

    workshop.embedder.before = before
    elsewhere = await workshop.base(base.organisation_id)
    documents = [await workshop.add(base, f"{number}.md", TEXT) for number in range(3)]
    other = await workshop.add(elsewhere, "other.md", "The Castle of Schwerin stands.")
    whole = KnowledgeBases(
        writer=workshop.knowledge,
        graph=workshop.graph,
        blobs=workshop.blobs,
        embedders=Any,  # type: ignore[arg-type] # nothing is made here
        default_embedding="",
        departures=Departures(workshop.signals),
    )
    async with workshop.working():
        await gate.reached.wait()
        await whole.delete(base.organisation_id, base.id)
        assert (await workshop.settled(other)).status is DocumentStatus.READY
        await until_queue_is_empty(database)
    assert not gate.opened.is_set()
    for document in documents:
        assert await rows_of(database, document) == {}
        with pytest.raises(NotFound):
            await workshop.state(document)
    assert len(files_in(workshop.folder / "files")) == 1
    assert files_in(workshop.folder / "work") == []


async def test_the_same_bytes_twice_are_two_documents_and_one_survives_the_other(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    async with workshop.working():
        first, second = [await workshop.settled(await workshop.add(base, "a.md", TEXT)) for _ in range(2)]
        before = await rows_of(database, second), await texts_of(database, second)
        await workshop.delete(first)
    assert await rows_of(database, first) == {}
    assert (await rows_of(database, second), await texts_of(database, second)) == before
    assert {"lighthouse", "bremen"} <= await entities_of(database, base)
    assert len(files_in(workshop.folder / "files")) == 1
    assert await queue_is_empty(database)


async def test_blank_parts_are_never_embedded(workshop: Workshop, base: KnowledgeBase) -> None:
    sent: list[str] = []

    async def before(texts: Any) -> None:
        sent.extend(texts)

    workshop.embedder.before = before
    odd = "\n\n \t\n\u00a0\n\u2003\n\ufeff\n# \n\n\x0c\n" + TEXT + "\n\n \u3000 \n\n***\n\n" + "\n" * 500 + "End."
    async with workshop.working():
        state = await workshop.settled(await workshop.add(base, "odd.md", odd))
        blank = await workshop.settled(await workshop.add(base, "blank.txt", " \n\t\u3000\n" * 50))
    assert state.status is DocumentStatus.READY
    assert sent
    assert all(text.strip() for text in sent)
    assert blank.error is not None
    assert blank.error["code"] == "empty_file"


async def test_an_outage_of_the_embedding_provider_loses_nothing(
    database: Database,
    organisation: Organisation,
    provider: Provider,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Overload, faults and answers that are too short, one after the other, in the middle of a document."""
    monkeypatch.setattr("tributary.ingestion.worker.FIRST_DELAY", 0.02)
    embedders = TextEmbedders(provider.settings(tmp_path))
    provider.next_embeddings(
        *(None, Refuse(429, retry_after="0"), Refuse(500), Refuse(503), WrongCount(-1), Refuse(429), Refuse(502))
    )
    async with open_workshop(database, tmp_path, embedders=embedders) as workshop:
        base = await workshop.knowledge.create_knowledge_base(
            organisation.id, name="Remote", description="", embedding=REMOTE, dimension=1536
        )
        text = "\n\n".join(f"# Part {number}\n\n" + f"{TEXT} " * 60 for number in range(80))
        document = await workshop.add(base, "long.md", text)
        async with workshop.working():
            state = await workshop.settled(document)
    await embedders.aclose()
    assert (state.status, state.error) == (DocumentStatus.READY, None)
    joined = "".join(await texts_of(database, document)).replace("\n", "").replace(" ", "")
    assert joined == text.replace("\n", "").replace(" ", "")
    assert len(provider.embeds) > 8
