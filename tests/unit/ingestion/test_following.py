"""Following a document from any process."""

import asyncio
from dataclasses import dataclass, field

import pytest

from stores.memory.knowledge import MemoryKnowledge
from stores.memory.signals import MemorySignals
from tests.support.worlds import new_document
from tributary.domain.errors import NotFound
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus, Stage
from tributary.ingestion.following import Following


@dataclass
class Scene:
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    signals: MemorySignals = field(default_factory=MemorySignals)

    async def document(self) -> Document:
        base = await self.knowledge.create_knowledge_base(
            new_id(), name="Library", description="", embedding="test", dimension=4
        )
        document = new_document(base)
        await self.knowledge.add_document(document)
        return document

    async def set(self, document: Document, status: DocumentStatus, progress: float) -> None:
        await self.knowledge.set_progress(
            document.organisation_id, document.id, 1, status=status, stage=Stage.EMBEDDING, progress=progress
        )

    def follow(self, document: Document, *, look_anyway: float = 60.0) -> "asyncio.Task[list[float]]":
        following = Following(knowledge=self.knowledge, signals=self.signals, look_anyway=look_anyway)

        async def collect() -> list[float]:
            names = document.organisation_id, document.knowledge_base_id, document.id
            return [state.progress async for state in following.follow(*names)]

        return asyncio.create_task(collect())


@pytest.fixture
def scene() -> Scene:
    return Scene()


async def let_it_wait() -> None:
    """Until every task that can go on has done so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_changes_are_told_up_to_the_end(scene: Scene) -> None:
    document = await scene.document()
    following = scene.follow(document)
    for status, progress in ((DocumentStatus.PROCESSING, 0.5), (DocumentStatus.READY, 1.0)):
        await let_it_wait()
        await scene.set(document, status, progress)
        await scene.signals.publish(f"document:{document.id}")
    assert await following == [0.0, 0.5, 1.0]


async def test_a_change_that_nobody_told_of_is_seen_all_the_same(scene: Scene) -> None:
    document = await scene.document()
    following = scene.follow(document, look_anyway=0.01)
    await let_it_wait()
    await scene.set(document, DocumentStatus.FAILED, 0.5)
    async with asyncio.timeout(5):
        assert await following == [0.0, 0.5]


async def test_signals_of_other_things_and_a_state_that_is_the_same_are_not_told(scene: Scene) -> None:
    document = await scene.document()
    following = scene.follow(document)
    for payload in ("stop:something", f"document:{new_id()}", f"document:{document.id}"):
        await let_it_wait()
        await scene.signals.publish(payload)
    await let_it_wait()
    await scene.set(document, DocumentStatus.READY, 1.0)
    await scene.signals.publish(f"document:{document.id}")
    assert await following == [0.0, 1.0]


async def test_a_document_that_is_deleted_meanwhile_is_told_as_unknown(scene: Scene) -> None:
    document = await scene.document()
    following = scene.follow(document)
    await let_it_wait()
    await scene.knowledge.delete_document(document.organisation_id, document.knowledge_base_id, document.id)
    await scene.signals.publish(f"document:{document.id}")
    with pytest.raises(NotFound):
        await following
