"""How often progress is told, and who hears of it."""

import pytest

from nodes.ingest.state import Place
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.signals import MemorySignals
from tests.support.worlds import new_document
from tributary.domain.ids import new_id
from tributary.domain.knowledge import DocumentStatus, Stage
from tributary.ingestion.progress import ProgressReports


class Clock:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tributary.ingestion.progress.time", clock)
    return clock


class Scene:
    def __init__(self) -> None:
        self.knowledge = MemoryKnowledge()
        self.signals = MemorySignals()
        self.heard: list[str] = []
        self.signals.subscribe(self.heard.append)
        self.reports = ProgressReports(writer=self.knowledge, signals=self.signals, pause=0.25)

    async def document(self) -> Place:
        base = await self.knowledge.create_knowledge_base(
            new_id(), name="Library", description="", embedding="test", dimension=4
        )
        document = new_document(base)
        await self.knowledge.add_document(document)
        return Place(base.organisation_id, base.id, document.id, 1)

    async def stage(self, place: Place) -> tuple[DocumentStatus, Stage]:
        found = await self.knowledge.document(place.organisation_id, place.knowledge_base_id, place.document_id)
        return found.status, found.stage


@pytest.fixture
def scene(clock: Clock) -> Scene:
    return Scene()


async def test_a_report_is_stored_and_signalled(scene: Scene) -> None:
    place = await scene.document()
    assert await scene.reports(place, Stage.PARSING)
    assert await scene.stage(place) == (DocumentStatus.PROCESSING, Stage.PARSING)
    assert scene.heard == [f"document:{place.document_id}"]


async def test_reports_that_follow_each_other_closely_are_left_out(scene: Scene, clock: Clock) -> None:
    place = await scene.document()
    await scene.reports(place, Stage.PARSING)
    clock.now += 0.1
    assert await scene.reports(place, Stage.SPLITTING)
    assert await scene.stage(place) == (DocumentStatus.PROCESSING, Stage.PARSING)
    clock.now += 0.2
    assert await scene.reports(place, Stage.SUMMARISING)
    assert await scene.stage(place) == (DocumentStatus.PROCESSING, Stage.SUMMARISING)


async def test_the_beginning_and_the_end_are_always_told(scene: Scene) -> None:
    place = await scene.document()
    await scene.reports(place, Stage.EMBEDDING)
    await scene.reports(place, Stage.PARSING)
    assert await scene.stage(place) == (DocumentStatus.PROCESSING, Stage.PARSING)
    await scene.reports(place, Stage.READY)
    assert await scene.stage(place) == (DocumentStatus.READY, Stage.READY)


async def test_one_document_does_not_quiet_another(scene: Scene) -> None:
    first, second = await scene.document(), await scene.document()
    await scene.reports(first, Stage.PARSING)
    await scene.reports(second, Stage.SPLITTING)
    assert await scene.stage(second) == (DocumentStatus.PROCESSING, Stage.SPLITTING)


async def test_a_document_that_is_gone_ends_its_run(scene: Scene) -> None:
    place = await scene.document()
    await scene.knowledge.delete_document(place.organisation_id, place.knowledge_base_id, place.document_id)
    assert not await scene.reports(place, Stage.PARSING)
