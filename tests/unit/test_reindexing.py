"""Embedding a knowledge base anew, over the stores in memory."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import numpy as np
import pytest

from nodes.ingest.window import embedding_text
from stores.memory.graph_engine import MemoryGraphEngine
from stores.memory.knowledge import MemoryKnowledge
from stores.memory.reindexing import MemoryReindexing
from stores.memory.search import MemorySearch
from stores.protocols.knowledge import ImageVectors
from stores.protocols.reindexing import Extent, StoredChunk
from tests.support.worlds import World, draft, towards
from tributary.domain.errors import Conflict, NotFound, ProviderError
from tributary.domain.knowledge import Document, KnowledgeBase
from tributary.models.names import GEMINI_EMBEDDING, IMAGE_DESCRIPTOR
from tributary.models.protocols import TextEmbedder, Vectors
from tributary.reindexing import CHUNKS, Reindexing, embed_whole

NEW = "openai/other"


@dataclass
class Embedder:
    """Vectors that say how long a text is and which letter it begins with. `before` is called ahead of each call."""

    name: str = NEW
    dimension: int = 3
    max_tokens: int = 1_000
    texts: list[str] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.before()
        self.texts += texts
        rows = np.array([[len(text), ord(text[0]), 1.0] for text in texts], np.float32)
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    async def embed_query(self, text: str) -> Vectors:
        rows: Vectors = (await self.embed_documents([text]))[0]
        return rows

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    def similarity(self, cosine: Vectors) -> Vectors:
        return np.clip(cosine, 0.0, 1.0)


@dataclass
class Images:
    name: str = GEMINI_EMBEDDING
    dimension: int = 2
    seen: list[bytes] = field(default_factory=list)

    async def embed_images(self, images: Sequence[bytes]) -> Vectors:
        self.seen += images
        return np.tile(np.array([0.6, 0.8], np.float32), (len(images), 1))

    def similarity(self, cosine: Vectors) -> Vectors:
        return cosine

    def text_similarity(self, cosine: Vectors) -> Vectors:
        return cosine

    def image_embedder(self, embedding: str) -> "Images":
        return self

    def shared_embedder(self, embedding: str) -> "Images":
        return self


@dataclass
class Bench:
    world: World
    knowledge: MemoryKnowledge
    store: MemoryReindexing
    embedder: Embedder = field(default_factory=Embedder)
    images: Images = field(default_factory=Images)
    told: list[Extent] = field(default_factory=list)

    def embedder_of(self, name: str) -> TextEmbedder:
        self.embedder.name = name
        return self.embedder

    async def run(self, kb: KnowledgeBase, embedding: str | None = NEW) -> KnowledgeBase:
        reindexing = Reindexing(
            knowledge=self.knowledge,
            store=self.store,
            embedders=_Registry(self),
            images=self.images,
            pictures=_Pictures(),
            metered=lambda *_: nullcontext(),
        )
        return await reindexing.run(kb.organisation_id, kb.id, embedding=embedding, tell=self.told.append)

    def vectors(self, kb: KnowledgeBase) -> list[Vectors]:
        return [content.vectors for _, content in self.knowledge.contents(kb.organisation_id, kb.id)]


@dataclass
class _Registry:
    bench: Bench

    def embedder(self, name: str) -> TextEmbedder:
        return self.bench.embedder_of(name)

    async def dimension(self, name: str) -> int:
        return self.bench.embedder.dimension


class _Pictures:
    async def pictures_of(self, document: Document, chunks: Sequence[StoredChunk]) -> Sequence[tuple[UUID, bytes]]:
        return [(chunks[0].id, document.filename.encode())] if document.filename.endswith(".png") else []


@pytest.fixture
def bench() -> Bench:
    knowledge = MemoryKnowledge()
    world = World(knowledge, MemorySearch(knowledge), MemoryGraphEngine(knowledge), uuid4(), uuid4())
    return Bench(world, knowledge, MemoryReindexing(knowledge))


async def test_chunks_keep_their_ids_and_get_the_vectors_of_the_new_embedder(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    ids = await bench.world.written(kb, "alpha", "a longer beta", title="Guide")

    moved = await bench.run(kb)

    assert (moved.embedding, moved.dimension) == (NEW, 3)
    expected = await Embedder().embed_documents(
        [embedding_text(each, "Guide") for each in draft(["alpha", "a longer beta"])]
    )
    [vectors] = bench.vectors(kb)
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
    assert [chunk.id for chunk in await bench.knowledge.chunks(kb.organisation_id, ids)] == ids


async def test_summaries_are_embedded_with_their_titles_and_documents_without_one_are_left(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.write(await bench.world.document(kb, title="Tides"), ["one"], summary="On tides.")
    await bench.world.write(await bench.world.document(kb), ["two"])

    await bench.run(kb)

    assert [text for text in bench.embedder.texts if "On tides." in text] == ["Tides\n\nOn tides."]
    summaries = [content.summary_vector for _, content in bench.knowledge.contents(kb.organisation_id, kb.id)]
    assert [summary is None for summary in summaries] == [False, True]


async def test_progress_is_told_to_the_end(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.written(kb, *[f"chunk {number}" for number in range(CHUNKS + 5)])

    await bench.run(kb)

    assert bench.told[0] == Extent(0, CHUNKS + 6)
    assert bench.told[-1] == Extent(CHUNKS + 6, CHUNKS + 6)
    assert [each.done for each in bench.told] == sorted(each.done for each in bench.told)


async def test_a_run_that_fails_leaves_the_knowledge_base_and_the_next_one_goes_on(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.written(kb, *[f"chunk {number}" for number in range(CHUNKS + 5)])
    before = bench.vectors(kb)

    def fail() -> None:
        if bench.embedder.texts:
            raise ProviderError("the key was taken back")

    bench.embedder.before = fail
    with pytest.raises(ProviderError):
        await bench.run(kb)
    assert (await bench.knowledge.knowledge_bases(kb.organisation_id, [kb.id]))[0].embedding == "test/plain"
    np.testing.assert_array_equal(bench.vectors(kb)[0], before[0])

    bench.embedder = Embedder()
    await bench.run(kb)

    assert len(bench.embedder.texts) == 5
    assert bench.vectors(kb)[0].shape == (CHUNKS + 5, 3)


async def test_a_run_that_is_cancelled_lets_the_next_one_begin(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.written(kb, "one")
    reached = asyncio.Event()

    class Held(Embedder):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            reached.set()
            await asyncio.Event().wait()
            return await super().embed_documents(texts)

    bench.embedder = Held()
    running = asyncio.create_task(bench.run(kb))
    await reached.wait()
    with pytest.raises(Conflict, match="being reindexed"):
        await bench.run(kb)
    running.cancel()
    await asyncio.wait({running})

    bench.embedder = Embedder()
    assert (await bench.run(kb)).embedding == NEW


async def test_what_is_ingested_meanwhile_is_moved_too(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.written(kb, "one")
    reached, opened = asyncio.Event(), asyncio.Event()

    class Held(Embedder):
        async def embed_documents(self, texts: Sequence[str]) -> Vectors:
            reached.set()
            await opened.wait()
            return await super().embed_documents(texts)

    bench.embedder = Held()
    running = asyncio.create_task(bench.run(kb))
    await reached.wait()
    await bench.world.written(kb, "late")
    opened.set()
    await running

    assert [vectors.shape for vectors in bench.vectors(kb)] == [(1, 3), (1, 3)]


async def test_pictures_are_embedded_where_the_new_model_sees_them(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    old = ImageVectors(IMAGE_DESCRIPTOR, (0,), towards(1)[None, :])
    await bench.world.write(await bench.world.document(kb, filename="a.png"), ["a picture"], images=[old])
    await bench.world.written(kb, "no picture")

    await bench.run(kb, GEMINI_EMBEDDING)

    assert bench.images.seen == [b"a.png"]
    [(_, seen), (_, plain)] = bench.knowledge.contents(kb.organisation_id, kb.id)
    assert [(images.model, images.ordinals) for images in seen.images] == [(GEMINI_EMBEDDING, (0,))]
    assert plain.images == ()


async def test_a_file_that_is_lost_costs_its_own_pictures_alone(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kb = await bench.world.knowledge_base()
    for name in ("lost.png", "there.png"):
        old = ImageVectors(IMAGE_DESCRIPTOR, (0,), towards(1)[None, :])
        await bench.world.write(await bench.world.document(kb, filename=name), ["a picture"], images=[old])
    read = _Pictures.pictures_of

    async def lose(self: _Pictures, document: Document, chunks: Sequence[StoredChunk]) -> Sequence[tuple[UUID, bytes]]:
        if document.filename == "lost.png":
            raise NotFound("file", document.storage_key)
        return await read(self, document, chunks)

    monkeypatch.setattr(_Pictures, "pictures_of", lose)
    assert (await bench.run(kb, GEMINI_EMBEDDING)).embedding == GEMINI_EMBEDDING

    contents = bench.knowledge.contents(kb.organisation_id, kb.id)
    assert {document.filename: len(content.images) for document, content in contents} == {"lost.png": 0, "there.png": 1}
    assert "are left out" in caplog.text


async def test_pictures_stay_where_the_new_model_sees_none_either(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    old = ImageVectors(IMAGE_DESCRIPTOR, (0,), towards(1)[None, :])
    await bench.world.write(await bench.world.document(kb, filename="a.png"), ["a picture"], images=[old])

    await bench.run(kb, NEW)

    [(_, content)] = bench.knowledge.contents(kb.organisation_id, kb.id)
    assert content.images == (old,)
    assert bench.images.seen == []


async def test_without_a_name_a_knowledge_base_is_embedded_anew_by_its_own(bench: Bench) -> None:
    kb = await bench.world.knowledge_base()
    await bench.world.written(kb, "one")

    moved = await bench.run(kb, None)

    assert (moved.embedding, bench.embedder.name) == ("test/plain", "test/plain")
    assert bench.vectors(kb)[0].shape == (1, 3)


async def test_a_text_over_the_window_is_embedded_in_pieces_that_hold_all_of_it() -> None:
    embedder = Embedder(max_tokens=8)
    words = [f"word{number}" for number in range(30)]

    rows = await embed_whole(embedder, ["short", " ".join(words), "another short one"])

    assert rows.shape == (3, 3)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    pieces = embedder.texts[1:-1]
    assert " ".join(pieces).split() == words
    assert all(count <= 8 for count in embedder.count_tokens(pieces))
    mean = (await Embedder().embed_documents(pieces)).sum(axis=0)
    np.testing.assert_allclose(rows[1], mean / np.linalg.norm(mean), atol=1e-5)


async def test_a_single_word_over_the_window_is_cut_as_well() -> None:
    class Letters(Embedder):
        def count_tokens(self, texts: Sequence[str]) -> list[int]:
            return [len(text) for text in texts]

    embedder = Letters(max_tokens=8)

    assert (await embed_whole(embedder, ["x" * 30])).shape == (1, 3)
    assert "".join(embedder.texts) == "x" * 30
