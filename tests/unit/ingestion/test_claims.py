"""Ingestion that people step through: workers leave alone what a run holds, and nothing stays for ever."""

from pathlib import Path
from typing import Any

import pytest

from nodes.chat.state import Context
from tests.support.ingestion import Workshop, memory_workshop
from tributary.domain.ids import new_id
from tributary.domain.knowledge import Document, DocumentStatus
from tributary.ingestion.worker import IngestGraph


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return memory_workshop(tmp_path)


class Stepping:
    """One thread of one document."""

    def __init__(self, graph: IngestGraph, document: Document) -> None:
        self.graph = graph
        self.config: Any = {"configurable": {"thread_id": "t"}}
        self._context = Context(organisation_id=str(document.organisation_id))
        self._input: Any = {"knowledgeBaseId": str(document.knowledge_base_id), "documentId": str(document.id)}

    async def begin(self, *before: str) -> Any:
        return await self._run(self._input, before)

    async def go_on(self, *before: str) -> Any:
        return await self._run(None, before)

    async def _run(self, given: Any, before: tuple[str, ...]) -> Any:
        return await self.graph.ainvoke(given, self.config, context=self._context, interrupt_before=list(before))


async def added(workshop: Workshop, content: str = "The crane in hall seven is green.") -> Document:
    return await workshop.add(await workshop.base(new_id()), "a.txt", content)


async def test_a_stepped_run_ends_indexed_and_leaves_no_task(workshop: Workshop) -> None:
    document = await added(workshop)
    result = await Stepping(workshop.stepped(), document).begin()
    assert (result["outcome"], result["error"]) == ("indexed", None)
    state = await workshop.state(document)
    assert (state.status, state.revision) == (DocumentStatus.READY, 2)
    assert not await workshop.queue.postpone(document.organisation_id, document.id, 2, delay=0)


async def test_a_worker_leaves_a_document_alone_that_a_run_holds(workshop: Workshop) -> None:
    document, other = await added(workshop), await added(workshop)
    run = Stepping(workshop.stepped(), document)
    await run.begin("embed_chunks")
    async with workshop.working():
        await workshop.settled(other)
        assert (await workshop.state(document)).status is DocumentStatus.PROCESSING
        result = await run.go_on()
    assert result["outcome"] == "indexed"
    assert (await workshop.state(document)).revision == 2


async def test_a_run_that_is_given_up_is_finished_by_a_worker(workshop: Workshop) -> None:
    document = await added(workshop)
    run = Stepping(workshop.stepped(lease=0.05), document)
    await run.begin("embed_chunks")
    async with workshop.working():
        assert (await workshop.settled(document)).status is DocumentStatus.READY
        await workshop.settled(await added(workshop))  # by then the worker is through with the first
    assert (await run.go_on())["outcome"] == "superseded"
    assert (await workshop.state(document)).status is DocumentStatus.READY, "it is not taken back to a step"


async def test_a_fork_from_the_start_claims_the_document_anew(workshop: Workshop) -> None:
    document = await added(workshop)
    run = Stepping(workshop.stepped(), document)
    await run.begin()
    history = [each async for each in run.graph.aget_state_history(run.config)]
    start = next(each for each in history if each.next == ("claim_document",))
    run.config = start.config
    assert (await run.go_on())["outcome"] == "indexed"
    assert (await workshop.state(document)).revision == 3


async def test_a_fork_from_the_middle_of_a_finished_run_changes_nothing(workshop: Workshop) -> None:
    document = await added(workshop)
    run = Stepping(workshop.stepped(), document)
    await run.begin()
    history = [each async for each in run.graph.aget_state_history(run.config)]
    run.config = next(each for each in history if each.next == ("embed_chunks",)).config
    assert (await run.go_on())["outcome"] == "superseded"
    assert (await workshop.state(document)).status is DocumentStatus.READY


async def test_what_can_not_be_ingested_is_told_as_a_value_and_in_the_row(workshop: Workshop) -> None:
    document = await added(workshop, " \n ")
    result = await Stepping(workshop.stepped(), document).begin()
    assert (result["outcome"], result["error"]["code"]) == ("failed", "empty_file")
    state = await workshop.state(document)
    assert state.status is DocumentStatus.FAILED
    assert state.error is not None
    assert state.error["code"] == "empty_file"


@pytest.mark.parametrize("wrong", ["documentId", "knowledgeBaseId"])
@pytest.mark.parametrize("given", ["nonsense", str(new_id())], ids=["no id", "nobody's"])
async def test_an_unknown_name_is_a_value(workshop: Workshop, wrong: str, given: str) -> None:
    document = await added(workshop)
    run = Stepping(workshop.stepped(), document)
    run._input[wrong] = given
    result = await run.begin()
    assert (result["outcome"], result["error"]["code"]) == ("failed", "not_found")
    assert (await workshop.state(document)).revision == 1
