"""Texts of several documents in one call of their embedder."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from tests.support.ingestion import Gate
from tests.support.ingestion_models import EMBEDDING, WordEmbedder
from tributary.domain.errors import ProviderError
from tributary.ingestion.batching import BatchedEmbedder, BatchedEmbedders
from tributary.models.protocols import Vectors


@pytest.fixture
def model() -> WordEmbedder:
    return WordEmbedder()


async def waiting(batched: BatchedEmbedder, *documents: Sequence[str]) -> list[asyncio.Task[Vectors]]:
    """Callers that have got as far as they can."""
    tasks = [asyncio.create_task(batched.embed_documents(texts)) for texts in documents]
    await asyncio.sleep(0)
    return tasks


async def test_what_waits_during_a_call_goes_with_the_next_one(model: WordEmbedder) -> None:
    gate = Gate()
    model.before = gate.hold
    batched = BatchedEmbedder(model, texts=4, calls=1)
    [first] = await waiting(batched, ["a"])
    await gate.reached.wait()
    others = await waiting(batched, ["b"], ["c", "d"], ["e", "f"])
    gate.opened.set()
    vectors = await asyncio.gather(first, *others)
    assert model.batches == [1, 3, 2]
    for texts, rows in zip((["a"], ["b"], ["c", "d"], ["e", "f"]), vectors, strict=True):
        assert np.array_equal(rows, await WordEmbedder().embed_documents(texts)), "each gets its own rows"


async def test_a_document_with_more_texts_than_a_call_goes_alone(model: WordEmbedder) -> None:
    batched = BatchedEmbedder(model, texts=2, calls=1)
    await asyncio.gather(*await waiting(batched, ["a"], ["b", "c", "d"], ["e"]))
    assert model.batches == [1, 3, 1]


async def test_a_text_that_a_provider_refuses_costs_no_other_document(model: WordEmbedder) -> None:
    gate = Gate()

    async def before(texts: Sequence[str]) -> None:
        await gate.hold()
        if "bad" in texts:
            raise ProviderError("not this one")

    model.before = before
    batched = BatchedEmbedder(model, calls=1)
    first = await waiting(batched, ["a"])
    await gate.reached.wait()
    good, bad = await waiting(batched, ["good"], ["bad"])
    gate.opened.set()
    await asyncio.gather(*first, good)
    with pytest.raises(ProviderError, match="not this one"):
        await bad


async def test_an_outage_is_told_to_each_caller_without_asking_again(model: WordEmbedder) -> None:
    calls = 0

    async def before(_: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        raise ProviderError("overloaded", transient=True)

    model.before = before
    callers = await waiting(BatchedEmbedder(model, calls=1), ["a"], ["b"])
    outcomes = await asyncio.gather(*callers, return_exceptions=True)
    assert all(isinstance(outcome, ProviderError) for outcome in outcomes)
    assert calls <= 2


async def test_a_call_whose_callers_have_gone_is_given_up_and_the_next_begins(model: WordEmbedder) -> None:
    gate = Gate()
    model.before = gate.hold
    batched = BatchedEmbedder(model, calls=1)
    [leaving] = await waiting(batched, ["a"])
    await gate.reached.wait()
    waits, left = await waiting(batched, ["b"], ["c"])
    left.cancel()
    model.before = WordEmbedder().before
    leaving.cancel()
    assert (await waits).shape[0] == 1
    assert model.batches == [1], "neither the one that left nor the one that was given up"


async def test_a_model_has_one_line_for_all_documents(model: WordEmbedder) -> None:
    registry = BatchedEmbedders(model)
    first = registry.embedder(EMBEDDING)
    assert registry.embedder(EMBEDDING) is first
