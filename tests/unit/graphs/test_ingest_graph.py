"""The ingestion graph by itself: what a second try finds, and when a run ends early."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphs.ingest import RETRY
from nodes.ingest.embed import BATCH
from tests.support.files import png
from tests.support.ingestion import Workshop, memory_workshop
from tributary.domain.errors import ProviderError
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus, ParsedDocument, Stage

LONG = "\n\n".join(f"Sentence {number} of a long text about Bremen and its harbour." for number in range(700))


class CountingParser:
    def __init__(self, text: str = LONG) -> None:
        self.text = text
        self.calls = 0

    async def parse(self, document: Document) -> ParsedDocument:
        self.calls += 1
        return ParsedDocument(self.text, title=document.title)


@pytest.fixture
def parser() -> CountingParser:
    return CountingParser()


@pytest.fixture
def workshop(tmp_path: Path, parser: CountingParser, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr("graphs.ingest.RETRY", RETRY._replace(initial_interval=0.001))
    return memory_workshop(tmp_path, parser=parser)


async def added(workshop: Workshop, content: str | bytes = "text", filename: str = "a.txt") -> Document:
    return await workshop.add(await workshop.base(new_id()), filename, content)


async def test_a_run_ends_indexed_with_its_chunks(workshop: Workshop) -> None:
    document = await added(workshop)
    result = await workshop.ingest(document)
    assert result["outcome"] == "indexed"
    assert result["chunkCount"] == sum(workshop.embedder.batches) - 1, "the summary is embedded as well"
    state = await workshop.state(document)
    assert (state.status, state.stage, state.progress) == (DocumentStatus.READY, Stage.READY, 1.0)


async def test_a_second_try_makes_only_what_is_missing(workshop: Workshop, parser: CountingParser) -> None:
    document = await added(workshop)
    calls = 0

    async def fail_in_the_third(_: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls >= 3:
            raise ProviderError("out of order")

    workshop.embedder.before = fail_in_the_third
    with pytest.raises(ProviderError):
        await workshop.ingest(document)
    assert workshop.embedder.batches == [BATCH, BATCH]

    async def work(_: Sequence[str]) -> None:
        return None

    workshop.embedder.before = work
    result = await workshop.ingest(document)
    assert parser.calls == 1
    assert sum(workshop.embedder.batches) == result["chunkCount"] + 1, "no chunk was embedded twice"


async def test_a_hiccup_is_bridged_within_the_run(workshop: Workshop) -> None:
    document = await added(workshop, "short")
    failures = [ProviderError("busy", transient=True)]

    async def fail_once(_: Sequence[str]) -> None:
        if failures:
            raise failures.pop()

    workshop.embedder.before = fail_once
    assert (await workshop.ingest(document))["outcome"] == "indexed"


async def test_a_run_that_is_settled_already_does_nothing(workshop: Workshop, parser: CountingParser) -> None:
    document = await added(workshop)
    await workshop.ingest(document)
    assert await workshop.ingest(document) == {"outcome": "superseded"}
    assert parser.calls == 1


async def test_a_run_for_an_unknown_document_does_nothing(workshop: Workshop, parser: CountingParser) -> None:
    document = await added(workshop)
    for stranger in (replace(document, id=new_id()), replace(document, organisation_id=new_id())):
        assert await workshop.ingest(stranger) == {"outcome": "superseded"}
    assert parser.calls == 0


async def test_every_step_reports_its_stage_in_order(workshop: Workshop) -> None:
    await workshop.ingest(await added(workshop))
    told = list(dict.fromkeys(workshop.progress.seen))
    assert told == [stage for stage in Stage if stage is not Stage.QUEUED]


async def test_a_run_ends_quietly_at_the_first_step_after_a_delete(workshop: Workshop) -> None:
    document = await added(workshop)

    async def delete_when_summarising(stage: Stage) -> None:
        if stage is Stage.SUMMARISING:
            await workshop.delete(document)

    workshop.progress.at = delete_when_summarising
    assert (await workshop.ingest(document))["outcome"] == "superseded"
    assert Stage.EXTRACTING not in workshop.progress.seen


async def test_a_picture_is_embedded_as_one(workshop: Workshop, parser: CountingParser) -> None:
    parser.text = "A storm at Sylt"
    document = await added(workshop, png(), "storm.png")
    assert await workshop.ingest(document) == {"outcome": "indexed", "chunkCount": 1}
    [(_, content)] = workshop.knowledge.contents(  # type: ignore[union-attr] # in memory
        document.organisation_id, document.knowledge_base_id
    )
    assert [(image.model, image.ordinals, image.vectors.shape) for image in content.images] == [
        (workshop.images.name, (0,), (1, workshop.images.dimension))
    ]
