"""The orders that the product is compared with."""

import numpy as np

from bench.collection import SplitDocument
from bench.datasets import BenchDocument
from bench.parts import Parts
from stores.memory.knowledge import MemoryKnowledge
from tests.support.worlds import open_world, towards
from tributary.domain.knowledge import ChunkDraft, ParsedDocument

TEXTS = {
    "pumps": ["the pump leaks oil", "a pump hums"],
    "valves": ["a valve is shut", "the valve and the pump"],
    "hoses": ["hoses are long"],
}


def documents() -> list[SplitDocument]:
    made = []
    for name, texts in TEXTS.items():
        chunks = [ChunkDraft(number, text, 0, len(text), None, "") for number, text in enumerate(texts)]
        made.append(SplitDocument(BenchDocument(name, ParsedDocument("\n".join(texts)), paged=False), chunks))
    return made


VECTORS = np.stack([towards(0, 1), towards(0, 1, 1), towards(1), towards(1, 1), towards(2, 1)])


def test_vectors_alone_rank_every_document_by_its_nearest_chunk() -> None:
    assert Parts(documents(), VECTORS).rankings("pump", towards(1))["vectors"] == ["valves", "hoses", "pumps"]


def test_words_alone_leave_out_what_holds_none() -> None:
    rankings = Parts(documents(), VECTORS).rankings("leaking pumps", towards(1))
    assert rankings["words"] == rankings["uncut"] == ["pumps", "valves"]


def test_the_fusion_counts_ranks_on_both_sides() -> None:
    assert Parts(documents(), VECTORS).rankings("pump", towards(1))["fusion"][0] == "valves"


async def test_the_order_of_words_is_the_stores() -> None:
    async with open_world(None) as world:
        assert isinstance(world.knowledge, MemoryKnowledge)
        base = await world.knowledge_base()
        names: dict[str, str] = {}
        for name, texts in TEXTS.items():
            ids = await world.write(await world.document(base), texts)
            assert ids is not None
            names |= {str(each): name for each in ids.values()}
        query = "a valve, a pump, or hoses that leak?"
        hits = await world.search.search(
            world.organisation_id,
            base.id,
            query=query,
            recent="",
            vector=towards(1),
            embedder=world.embedder,
            limit=10,
        )
        by_words = sorted((hit for hit in hits if hit["text"] > 0), key=lambda hit: -hit["text"])
        expected = list(dict.fromkeys(names[hit["chunkId"]] for hit in by_words))
    assert Parts(documents(), VECTORS).rankings(query, towards(1))["words"] == expected
