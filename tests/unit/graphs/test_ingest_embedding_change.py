"""A knowledge base that moves to another embedding under a document that is being ingested."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from graphs.ingest import RETRY
from stores.memory.knowledge import MemoryKnowledge
from tests.support.ingestion import Workshop, memory_workshop
from tests.support.ingestion_models import WordEmbedder
from tributary.domain.errors import DependencyUnavailable, ProviderError
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus, KnowledgeBase

MOVED = "test/moved-to"


class AnyEmbedder(WordEmbedder):
    """One model under all names; `asked` are those that it was asked for by."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embedder(self, name: str) -> WordEmbedder:
        self.asked.append(name)
        return self


@pytest.fixture
def embedder() -> AnyEmbedder:
    return AnyEmbedder()


@pytest.fixture
def workshop(tmp_path: Path, embedder: AnyEmbedder, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setattr("graphs.ingest.RETRY", RETRY._replace(initial_interval=0.001))
    return memory_workshop(tmp_path, embedder=embedder)


def move(workshop: Workshop, base: KnowledgeBase) -> None:
    """To an embedding of as many dimensions, so that nothing but its name tells the spaces apart."""
    assert isinstance(workshop.knowledge, MemoryKnowledge)
    workshop.knowledge.put_space(replace(base, embedding=MOVED))


async def added(workshop: Workshop) -> tuple[KnowledgeBase, Document]:
    base = await workshop.base(new_id())
    return base, await workshop.add(base, "a.txt", "The harbour of Bremen.")


async def test_a_document_that_was_embedded_for_the_former_space_is_ingested_anew(
    workshop: Workshop, embedder: AnyEmbedder
) -> None:
    base, document = await added(workshop)

    async def move_now(_: Sequence[str]) -> None:
        move(workshop, base)

    embedder.before = move_now
    with pytest.raises(DependencyUnavailable):
        await workshop.ingest(document)
    assert isinstance(workshop.knowledge, MemoryKnowledge)
    assert workshop.knowledge.contents(base.organisation_id, base.id) == []

    embedder.asked.clear()
    assert (await workshop.ingest(document))["outcome"] == "indexed"
    assert set(embedder.asked) == {MOVED}
    assert (await workshop.state(document)).status is DocumentStatus.READY


async def test_what_an_earlier_try_staged_for_the_former_space_is_not_used(
    workshop: Workshop, embedder: AnyEmbedder
) -> None:
    base, document = await added(workshop)
    calls = 0

    async def fail_after_the_first(_: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise ProviderError("down")

    embedder.before = fail_after_the_first
    with pytest.raises(ProviderError):
        await workshop.ingest(document)
    move(workshop, base)
    embedder.batches.clear()
    calls = -10

    assert (await workshop.ingest(document))["outcome"] == "indexed"
    assert len(embedder.batches) == 2, "the chunk and the summary, both anew"
