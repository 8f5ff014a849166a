"""What the steps hand on, through staging and back."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nodes.ingest.products import CHUNKS, DIGEST, GRAPH, PARSED, Bench, Digest, Product, vectors_named
from nodes.ingest.state import Place
from stores.memory.staging import MemoryStaging
from stores.protocols.graph import EntityDraft, GraphDraft, MentionDraft, RelationDraft
from tributary.domain.errors import DependencyUnavailable
from tributary.domain.ids import new_id
from tributary.domain.knowledge import ChunkDraft, Heading, Page, ParsedDocument

PLACE = Place(new_id(), new_id(), new_id(), 1)
TEXT = 'Zürich — „日本"\n\u2028\x00 end'


@pytest.fixture
def staging() -> MemoryStaging:
    return MemoryStaging()


@pytest.fixture
def bench(staging: MemoryStaging) -> Bench:
    return Bench(staging, PLACE)


async def test_products_come_back_as_they_were(bench: Bench) -> None:
    parsed = ParsedDocument(TEXT, (Page(1, 0, 4), Page(2, 4, 9)), "Title", (Heading(1, 0, 3),))
    chunks = [ChunkDraft(0, TEXT, 0, len(TEXT), 1, "A > B"), ChunkDraft(1, "x", 3, 4)]
    digest = Digest("Summary", ("a", "b"), "manual")
    graph = GraphDraft(
        (EntityDraft("a", "A", "name", "what", ("AA",)),),
        (RelationDraft("a", "knows", "b", 0, weight=0.5),),
        (MentionDraft("a", 0, 1, 2),),
    )
    await bench.keep(PARSED, parsed)
    await bench.keep(CHUNKS, chunks)
    await bench.keep(DIGEST, digest)
    await bench.keep(GRAPH, graph)
    assert await bench.find(PARSED) == parsed
    assert await bench.take(CHUNKS) == chunks
    assert await bench.find(DIGEST) == digest
    assert await bench.take(GRAPH) == graph


async def test_only_products_of_some_size_leave_the_event_loop(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[str] = []

    async def leave(function: Callable[..., Any], *arguments: Any) -> Any:
        left.append("left")
        return function(*arguments)

    monkeypatch.setattr("asyncio.to_thread", leave)
    await bench.keep(PARSED, ParsedDocument("short"))
    assert left == []
    large = ParsedDocument("x" * 100_000)
    await bench.keep(PARSED, large)
    assert await bench.take(PARSED) == large
    assert left == ["left", "left"]


async def test_vectors_come_back_with_shape_and_type(bench: Bench) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    product = vectors_named("vectors-32-0")
    await bench.keep(product, vectors)
    found = await bench.take(product)
    assert found.dtype == np.float32
    assert np.array_equal(found, vectors)


@pytest.mark.parametrize("data", [b"", b"{}", b"no JSON", b'{"text": 7}', b"\x93NUMPY"])
async def test_what_can_not_be_read_is_missing(bench: Bench, staging: MemoryStaging, data: bytes) -> None:
    products: list[Product[Any]] = [PARSED, CHUNKS, DIGEST, vectors_named("summary-vector")]
    for product in products:
        await staging.write(PLACE.document_id, 1, product.name, data)
        assert await bench.find(product) is None


async def test_a_product_that_was_taken_away_is_worth_another_try(bench: Bench) -> None:
    with pytest.raises(DependencyUnavailable) as raised:
        await bench.take(PARSED)
    assert raised.value.transient
