"""Documents of every format through real workers on PostgreSQL: found by their words, and by the pictures in them."""

import io
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from PIL import Image, ImageEnhance
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from nodes.retrieval.pictures import find_pictures
from nodes.retrieval.ranking import merge
from stores.postgres.database import Database
from stores.postgres.search import PostgresSearch
from tests.support import office
from tests.support.files import png
from tests.support.ingestion import Workshop, open_workshop
from tests.support.ingestion_rows import files_in
from tests.support.pages import pdf_of
from tributary.domain.errors import DamagedFile, UnsupportedType
from tributary.domain.identity import Organisation
from tributary.domain.knowledge import Chunk, DocumentStatus, KnowledgeBase
from tributary.domain.retrieval import Hit
from tributary.models.local.image_descriptor import LocalImageEmbedder


class Descriptor(LocalImageEmbedder):
    """The product's own, as its own registry."""

    def image_embedder(self, embedding: str) -> "Descriptor":
        return self

    def shared_embedder(self, embedding: str) -> None:
        return None


@pytest.fixture
async def workshop(database: Database, tmp_path: Path) -> AsyncIterator[Workshop]:
    async with open_workshop(database, tmp_path, images=Descriptor()) as opened:
        yield opened


@pytest.fixture
async def base(workshop: Workshop, organisation: Organisation) -> KnowledgeBase:
    return await workshop.base(organisation.id)


def slides(presentation: Any) -> None:
    for title in ("Opening", "Kestrel numbers"):
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title


FILES = {
    "a.txt": (b"The heron waits in the reeds.", "heron"),
    "b.md": (b"# Birds\n\nThe osprey dives for fish.", "osprey"),
    "c.html": (b"<!doctype html><title>Owls</title><p>The barn owl hunts at night.", "barn owl"),
    "d.pdf": (pdf_of(["Nothing here.", "The bittern booms."]), "bittern"),
    "e.docx": (office.docx(lambda document: document.add_paragraph("The avocet has a curved bill.")), "avocet"),
    "f.pptx": (office.pptx(slides), "kestrel"),
    "g.xlsx": (office.xlsx({"Counts": [["Bird", "Seen"], ["Dunlin", 7]]}), "dunlin"),
    "h.csv": ("Vogel;Zahl\nGroßer Brachvogel;3\n".encode("cp1252"), "Brachvogel"),
    "i.tsv": ("bird\tcount\nTurnstone\t9\n".encode("utf-16"), "turnstone"),
    "wryneck.png": (png(), "wryneck"),
}


async def text_hits(workshop: Workshop, database: Database, base: KnowledgeBase, query: str) -> Sequence[Hit]:
    return await PostgresSearch(database).search(
        base.organisation_id,
        base.id,
        query=query,
        recent="",
        vector=await workshop.embedder.embed_query(query),
        embedder=workshop.embedder,
        limit=3,
    )


async def found(workshop: Workshop, database: Database, base: KnowledgeBase, query: str) -> list[str]:
    hits = await text_hits(workshop, database, base, query)
    ranked = sorted(hits, key=lambda hit: hit["text"], reverse=True)
    return [chunk.filename for chunk in await chunks_of(workshop, base, ranked)]


async def chunks_of(workshop: Workshop, base: KnowledgeBase, hits: Sequence[Hit]) -> Sequence[Chunk]:
    return await workshop.knowledge.chunks(base.organisation_id, [UUID(hit["chunkId"]) for hit in hits])


async def test_a_file_of_each_format_becomes_ready_and_is_found(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    async with workshop.working():
        added = [await workshop.add(base, name, content) for name, (content, _) in FILES.items()]
        done = [await workshop.settled(document) for document in added]
    assert {each.filename: each.error for each in done} == dict.fromkeys(FILES)
    for name, (_, query) in FILES.items():
        assert (await found(workshop, database, base, query))[0] == name
    parsed = await workshop.knowledge.document_text(base.organisation_id, base.id, done[5].id)
    assert [parsed.text[page.start : page.end] for page in parsed.pages] == ["# Opening", "# Kestrel numbers"]
    assert files_in(workshop.folder / "work") == []


async def test_what_can_not_be_read_is_refused_or_fails_and_the_worker_goes_on(
    workshop: Workshop, base: KnowledgeBase
) -> None:
    for content, error in (
        (office.compound("EncryptedPackage"), DamagedFile),
        (office.compound("WordDocument"), UnsupportedType),
        (office.archive({"a": "b"}), UnsupportedType),
    ):
        with pytest.raises(error):
            await workshop.add(base, "a.docx", content)
    torn = office.changed(FILES["e.docx"][0], "word/document.xml", b"</w:body>", b"")
    deep = b"<html>" + b"<b>" * 50_000
    async with workshop.working():
        added = [
            await workshop.add(base, "torn.docx", torn),
            await workshop.add(base, "deep.html", deep),
            await workshop.add(base, "empty.csv", b";;\n;;\n"),
            await workshop.add(base, "sound.docx", FILES["e.docx"][0]),
        ]
        states = [await workshop.settled(document) for document in added]
    assert [state.error and state.error["code"] for state in states] == [
        "damaged_file",
        "damaged_file",
        "empty_file",
        None,
    ]
    assert states[-1].status is DocumentStatus.READY


def scene(seed: int) -> Image.Image:
    """A picture with structure: discs and bars of many colours."""
    random = np.random.default_rng(seed)
    image = Image.fromarray(random.integers(0, 255, (6, 8, 3), dtype=np.uint8)).resize(
        (480, 360), Image.Resampling.NEAREST
    )
    spots = Image.fromarray(random.integers(0, 255, (24, 32, 3), dtype=np.uint8)).resize((480, 360))
    return Image.blend(image, spots, 0.4)


def encoded(image: Image.Image, form: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form)
    return buffer.getvalue()


def illustrated(pictures: list[Image.Image]) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(500, 700), invariant=1)
    for number, picture in enumerate(pictures, start=1):
        canvas.drawString(40, 650, f"Plate {number} shows a machine.")
        canvas.drawImage(ImageReader(io.BytesIO(encoded(picture))), 40, 200, 400, 300)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


async def test_an_edit_of_a_picture_in_a_pdf_brings_the_chunk_that_it_illustrates(
    workshop: Workshop, database: Database, base: KnowledgeBase
) -> None:
    first, second = scene(1), scene(2)
    async with workshop.working():
        done = await workshop.settled(await workshop.add(base, "plates.pdf", illustrated([first, second])))
    assert done.status is DocumentStatus.READY, done.error
    edit = ImageEnhance.Brightness(second.crop((30, 20, 450, 340)).resize((300, 230))).enhance(0.8)
    pictures = await find_pictures(
        base.organisation_id,
        base.id,
        await workshop.images.embed_images([encoded(edit, "JPEG")]),
        model=Descriptor.name,
        similarity=workshop.images.similarity,
        search=PostgresSearch(database),
        knowledge=workshop.knowledge,
        limit=10,
    )
    best, other = await chunks_of(workshop, base, pictures)
    assert (best.page, best.text, other.page) == (2, "Plate 2 shows a machine.", 1)
    assert pictures[0]["vector"] > max(0.5, pictures[1]["vector"])
    merged = merge([*await text_hits(workshop, database, base, "second plate of a machine"), *pictures])
    assert sorted(hit["chunkId"] for hit in merged) == sorted([str(best.id), str(other.id)])
    [both] = [hit for hit in merged if hit["chunkId"] == str(best.id)]
    assert both["vector"] >= pictures[0]["vector"]
    assert both["text"] > 0
