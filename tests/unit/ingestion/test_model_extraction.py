"""Extraction by a chat model: batches, what is kept, and models that are of no use."""

import json
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from langchain_core.messages import BaseMessage

from nodes.ingest.state import Place
from stores.memory.extractions import MemoryExtractions
from stores.memory.graph_engine import MemoryGraphEngine
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.search import MemorySearch
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft
from tests.support.worlds import World
from tributary.domain.conversations import Usage
from tributary.domain.errors import BudgetExceeded, ProviderError, TributaryError
from tributary.domain.knowledge import ChunkDraft, ParsedDocument
from tributary.ingestion.model_extraction import PASSAGES, ModelExtractor
from tributary.ingestion.patience import PATIENCE
from tributary.models.catalogue import Capabilities
from tributary.models.invoke import Delta, Finish, Piece

Reply = Callable[[list[dict[str, Any]]], str | TributaryError]


def names(passages: list[dict[str, Any]]) -> str:
    """A model that names the last word of each passage."""
    return json.dumps(
        {
            "passages": [
                {"number": each["number"], "entities": [{"name": each["text"].split()[-1], "type": "thing"}]}
                for each in passages
            ]
        }
    )


@dataclass
class Model:
    """A gateway to one model; `asked` are the passages of each call."""

    reply: Reply = names
    asked: list[list[str]] = field(default_factory=list)
    reason: str = "stop"

    async def capabilities(self, model: str) -> Capabilities:
        raise AssertionError("nobody asks")

    async def stream(
        self, model: str, messages: Sequence[BaseMessage], *, max_output: int | None = None
    ) -> AsyncGenerator[Piece, None]:
        passages = json.loads(str(messages[-1].content))["passages"]
        self.asked.append([each["text"] for each in passages])
        said = self.reply(passages)
        if isinstance(said, TributaryError):
            raise said
        yield Delta(said)
        yield Finish(Usage(inputTokens=1, outputTokens=1, totalTokens=2), self.reason, estimated=False)


class Local:
    """Names the first word of each chunk."""

    async def extract(self, document: ParsedDocument, chunks: Sequence[ChunkDraft], **_: Any) -> GraphDraft:
        firsts = [(chunk, chunk.text.split()[0]) for chunk in chunks]
        return GraphDraft(
            entities=tuple(EntityDraft(word.lower(), word, "name") for _, word in firsts),
            mentions=tuple(
                MentionDraft(word.lower(), chunk.ordinal, chunk.start, chunk.start + len(word))
                for chunk, word in firsts
            ),
        )


@dataclass
class Bench:
    extractor: ModelExtractor
    model: Model
    place: Place
    told: list[float] = field(default_factory=list)

    async def extract(self, *texts: str, going_on: bool = True) -> set[tuple[str, int]] | None:
        """What is mentioned where."""

        async def tell(share: float) -> bool:
            self.told.append(share)
            return going_on

        chunks, start = [], 0
        for ordinal, text in enumerate(texts):
            chunks.append(ChunkDraft(ordinal, text, start, start + len(text)))
            start += len(text) + 2
        draft = await self.extractor.extract(ParsedDocument("\n\n".join(texts)), chunks, place=self.place, tell=tell)
        return None if draft is None else {(mention.key, mention.chunk) for mention in draft.mentions}


@pytest.fixture
async def bench() -> Bench:
    knowledge = MemoryKnowledge()
    world = World(knowledge, MemorySearch(knowledge), MemoryGraphEngine(knowledge), uuid4(), uuid4())
    kb = await world.knowledge_base()
    document = await world.document(kb)
    model = Model()
    extractor = ModelExtractor(
        models=model,
        model="openai/some",
        local=Local(),
        cache=MemoryExtractions(knowledge),
        cost=lambda model, read, written: Decimal(read + written) / 1_000_000,
    )
    return Bench(extractor, model, Place(world.organisation_id, kb.id, document.id, 1))


async def test_what_the_model_names_is_in_the_graph(bench: Bench) -> None:
    assert await bench.extract("they saw Rome", "they saw Oslo") == {("rome", 0), ("oslo", 1)}


async def test_several_passages_are_read_in_one_call(bench: Bench) -> None:
    await bench.extract(*(f"they saw Town{n}" for n in range(PASSAGES + 1)))
    assert sorted(len(asked) for asked in bench.model.asked) == [1, PASSAGES]


async def test_only_what_changed_is_read_again(bench: Bench) -> None:
    await bench.extract("they saw Rome", "they saw Oslo")
    assert await bench.extract("they saw Rome", "they saw Lima") == {("rome", 0), ("lima", 1)}
    assert bench.model.asked[1:] == [["they saw Lima"]]


async def test_a_document_that_was_read_costs_nothing_again(bench: Bench) -> None:
    await bench.extract("they saw Rome")
    assert await bench.extract("they saw Rome") == {("rome", 0)}
    assert len(bench.model.asked) == 1


async def test_a_run_that_was_cut_off_goes_on_where_it_ended(bench: Bench) -> None:
    texts = [f"they saw Town{n}" for n in range(2 * PASSAGES)]

    def second_fails(passages: list[dict[str, Any]]) -> str | TributaryError:
        return names(passages) if passages[0]["text"] == texts[0] else ProviderError("overloaded", transient=True)

    bench.model.reply = second_fails
    with pytest.raises(ProviderError):
        await bench.extract(*texts)
    bench.model.reply = names
    before = len(bench.model.asked)
    assert await bench.extract(*texts) == {(f"town{n}", n) for n in range(2 * PASSAGES)}
    assert bench.model.asked[before:] == [texts[PASSAGES:]]


async def test_the_local_extractor_stands_in_for_nonsense_and_it_is_said(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    def half(passages: list[dict[str, Any]]) -> str:
        return names([each for each in passages if "Rome" in each["text"]])

    bench.model.reply = half
    assert await bench.extract("they saw Rome", "Ada saw Oslo") == {("rome", 0), ("ada", 1)}
    assert "read 1 of 2 passages" in caplog.text


async def test_a_passage_that_an_answer_leaves_out_is_asked_for_alone(bench: Bench) -> None:
    bench.model.reply = lambda passages: names(passages[:1])
    assert await bench.extract("they saw Rome", "they saw Oslo") == {("rome", 0), ("oslo", 1)}
    assert bench.model.asked == [["they saw Rome", "they saw Oslo"], ["they saw Oslo"]]


async def test_a_refusal_of_a_batch_costs_only_the_passage_that_is_refused(bench: Bench) -> None:
    def refuses(passages: list[dict[str, Any]]) -> str | TributaryError:
        refused = any("Oslo" in each["text"] for each in passages)
        return ProviderError("a content filter stopped it") if refused else names(passages)

    bench.model.reply = refuses
    assert await bench.extract("they saw Rome", "Ada saw Oslo") == {("rome", 0), ("ada", 1)}


async def test_what_may_pass_is_left_to_the_queue_until_patience_ends(bench: Bench) -> None:
    bench.model.reply = lambda passages: ProviderError("overloaded", transient=True)
    for _ in range(PATIENCE - 1):
        with pytest.raises(ProviderError):
            await bench.extract("Ada saw Rome")
    assert await bench.extract("Ada saw Rome") == {("ada", 0)}


async def test_a_spent_budget_is_no_failure_of_the_model(bench: Bench) -> None:
    bench.model.reply = lambda passages: BudgetExceeded("The budget is spent")
    with pytest.raises(BudgetExceeded):
        await bench.extract("Ada saw Rome")


async def test_progress_is_told_batch_by_batch(bench: Bench) -> None:
    await bench.extract(*(f"they saw Town{n}" for n in range(2 * PASSAGES)))
    assert bench.told == [0.5, 1.0]


async def test_nobody_reads_on_for_a_document_that_is_gone(bench: Bench) -> None:
    assert await bench.extract("they saw Rome", going_on=False) is None


async def test_the_cost_is_estimated_before_the_first_call(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await bench.extract("they saw Rome")
    assert "reads 1 of 1 passages in 1 calls" in caplog.text
    assert "$" in caplog.text


async def test_the_text_of_documents_is_not_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    bench.model.reply = lambda passages: "nonsense"
    await bench.extract("they saw Rome")
    assert "Rome" not in caplog.text
