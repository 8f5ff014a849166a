"""Parsing, summaries and extraction without a model, in threads and in children."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nodes.ingest.state import Place
from stores.memory.blobs import MemoryBlobs
from tests.support.files import png
from tributary.domain.errors import DamagedFile, NotFound
from tributary.domain.ids import new_id
from tributary.domain.knowledge import ChunkDraft, Document, DocumentStatus, ParsedDocument, Stage
from tributary.files.sandbox import Sandbox
from tributary.ingestion.local import LONG_TEXT, LocalExtractor, LocalSummariser, SandboxParser

SENTENCES = [
    "The Hanseatic League was founded by merchants of Lübeck in the twelfth century.",
    "Lübeck lies on the Trave, and its merchants traded salt and herring with Bergen.",
    "The Hanseatic League kept a Kontor in Bergen, which Lübeck ruled for centuries.",
]
PLACE = Place(new_id(), new_id(), new_id(), 1)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=1) as opened:
        yield opened


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


def text_of(size: int) -> str:
    return "\n\n".join(f"In the year {year} this was so. {SENTENCES[year % 3]}" for year in range(size))


async def test_a_text_is_summarised_alike_in_a_thread_and_in_a_child(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = []
    for limit in (LONG_TEXT, 0):
        monkeypatch.setattr("tributary.ingestion.local.LONG_TEXT", limit)
        digests.append(await LocalSummariser(sandbox).summarise(text_of(9), title="Hanse", filename="hanse.txt"))
    assert digests[0] == digests[1]
    assert "Hanseatic League" in digests[0].summary
    assert any("Hanseatic League" in topic for topic in digests[0].topics)


async def test_entities_are_extracted_alike_in_a_thread_and_in_a_child(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, drafts = text_of(9), []
    chunks = [ChunkDraft(0, text, 0, len(text))]
    for limit in (LONG_TEXT, 0):
        monkeypatch.setattr("tributary.ingestion.local.LONG_TEXT", limit)
        extractor = LocalExtractor(sandbox)
        drafts.append(await extractor.extract(ParsedDocument(text, title="Hanse"), chunks, place=PLACE, tell=tell))
    assert drafts[0] == drafts[1]
    assert "Lübeck" in {entity.name for entity in drafts[0].entities}
    assert all(0 <= mention.start <= mention.end <= len(text) for mention in drafts[0].mentions)


async def tell(share: float) -> bool:
    return True


async def stored(blobs: MemoryBlobs, folder: Path, content: bytes, filename: str, content_type: str) -> Document:
    path = folder / "received"
    path.write_bytes(content)
    await blobs.put_file("documents/a", path)
    path.unlink()
    now = datetime.now(UTC)
    return Document(
        id=new_id(),
        organisation_id=new_id(),
        knowledge_base_id=new_id(),
        filename=filename,
        title="annual report",
        content_type=content_type,
        size=len(content),
        sha256="",
        storage_key="documents/a",
        status=DocumentStatus.PROCESSING,
        stage=Stage.PARSING,
        progress=0.0,
        importance=0.5,
        created_at=now,
        updated_at=now,
    )


async def test_a_title_from_the_files_name_gives_way_to_the_files_own(
    sandbox: Sandbox, blobs: MemoryBlobs, tmp_path: Path
) -> None:
    parser = SandboxParser(blobs=blobs, sandbox=sandbox, folder=tmp_path)
    document = await stored(blobs, tmp_path, b"# Our year\n\nIt was good.\n", "annual_report.md", "text/markdown")
    assert (await parser.parse(document)).title == "Our year"
    assert (await parser.parse(replace(document, title="Chosen by people"))).title == "Chosen by people"
    assert list(tmp_path.rglob("*.*")) == [], "nothing is left of the file"


async def test_a_picture_is_found_by_the_title_that_people_gave_it(
    sandbox: Sandbox, blobs: MemoryBlobs, tmp_path: Path
) -> None:
    parser = SandboxParser(blobs=blobs, sandbox=sandbox, folder=tmp_path)
    document = await stored(blobs, tmp_path, png(), "img_0042.png", "image/png")
    parsed = await parser.parse(replace(document, title="Harbour at night"))
    assert parsed.text.startswith("Harbour at night")
    assert "img 0042" in parsed.text


async def test_a_file_over_the_size_of_a_buffer_arrives_whole(
    sandbox: Sandbox, blobs: MemoryBlobs, tmp_path: Path
) -> None:
    text = text_of(30_000)
    document = await stored(blobs, tmp_path, text.encode(), "long.txt", "text/plain")
    parser = SandboxParser(blobs=blobs, sandbox=sandbox, folder=tmp_path)
    assert (await parser.parse(document)).text == text


async def test_a_file_that_is_gone_or_broken_says_so_and_leaves_nothing(
    sandbox: Sandbox, blobs: MemoryBlobs, tmp_path: Path
) -> None:
    parser = SandboxParser(blobs=blobs, sandbox=sandbox, folder=tmp_path)
    document = await stored(blobs, tmp_path, b"%PDF-1.7 broken", "a.pdf", "application/pdf")
    with pytest.raises(DamagedFile):
        await parser.parse(document)
    await blobs.delete([document.storage_key])
    with pytest.raises(NotFound, match=str(document.id)):
        await parser.parse(document)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
