"""What every store promises of moving a knowledge base to another embedding."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import pytest

from stores.memory.knowledge import MemoryKnowledge
from stores.memory.reindexing import MemoryReindexing
from stores.postgres.database import Database
from stores.postgres.reindexing import PostgresReindexing
from stores.postgres.roles import SERVING_ROLE
from stores.protocols.knowledge import ImageVectors
from stores.protocols.reindexing import Extent, Moved, ReindexStore, Space
from tests.support.worlds import DIMENSION, PlainEmbedder, World, towards
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id
from tributary.domain.knowledge import KnowledgeBase
from tributary.models.protocols import Vectors

NEW = Space("test/other", 6, "test/new-images")
SAME_SIZE = Space("test/same-size", DIMENSION, "test/images")


class OtherEmbedder(PlainEmbedder):
    name = NEW.embedding
    dimension = NEW.dimension


class SameSizeEmbedder(PlainEmbedder):
    name = SAME_SIZE.embedding


def along(axis: int, dimension: int = NEW.dimension) -> Vectors:
    vector = np.zeros(dimension, np.float32)
    vector[axis] = 1.0
    return vector


@dataclass(frozen=True)
class Move:
    """A world with a store that moves its knowledge bases, and another process's."""

    world: World
    store: ReindexStore
    other: ReindexStore

    async def embed(self, kb: KnowledgeBase, *, dimension: int = NEW.dimension, axis: int = 0) -> None:
        """All that is left, each chunk along the axis of its ordinal, from `axis` on."""
        place = kb.organisation_id, kb.id
        chunks = await self.store.chunks(kb.organisation_id, await self.store.chunks_left(*place))
        if chunks:
            rows = [along((axis + each.ordinal) % dimension, dimension) for each in chunks]
            await self.store.keep_vectors(*place, [each.id for each in chunks], np.stack(rows))
        left = await self.store.documents_left(*place, limit=100)
        moved = [Moved(each.document.id, each.revision, along(5 % dimension, dimension)) for each in left]
        await self.store.keep_documents(*place, moved)

    async def found(self, kb: KnowledgeBase, vector: Vectors, embedder: PlainEmbedder) -> list[tuple[str, float]]:
        hits = await self.world.search.search(
            kb.organisation_id, kb.id, query="", recent="", vector=vector, embedder=embedder, limit=10
        )
        return [(hit["chunkId"], round(hit["vector"], 2)) for hit in hits]

    async def state(self, kb: KnowledgeBase) -> tuple[str, int]:
        [base] = await self.world.knowledge.knowledge_bases(kb.organisation_id, [kb.id])
        return base.embedding, base.dimension


@pytest.fixture
async def move(world: World, place: str | None) -> AsyncIterator[Move]:
    if place is None:
        assert isinstance(world.knowledge, MemoryKnowledge)
        store = MemoryReindexing(world.knowledge)
        yield Move(world, store, store)
        return
    database = Database(place, role=SERVING_ROLE, pool_size=4)
    await database.open()
    yield Move(world, PostgresReindexing(database), PostgresReindexing(database))
    await database.close()


def names(kb: KnowledgeBase) -> tuple[UUID, UUID]:
    return kb.organisation_id, kb.id


async def test_until_the_switch_the_old_vectors_are_searched_and_then_the_new_ones(move: Move) -> None:
    kb = await move.world.knowledge_base()
    first, second = await move.world.written(kb, "a", "b")
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)

    before = await move.found(kb, towards(1), move.world.embedder)
    assert await move.state(kb) == ("test/plain", DIMENSION)
    assert await move.store.switch(*names(kb))
    after = await move.found(kb, along(1), OtherEmbedder())

    assert {chunk_id for chunk_id, _ in before} == {str(first), str(second)}
    assert all(similarity == 1.0 for _, similarity in before)
    assert await move.state(kb) == (NEW.embedding, NEW.dimension)
    assert after[0] == (str(second), 1.0)
    assert after[1] == (str(first), 0.0)
    with pytest.raises(Conflict):
        await move.found(kb, towards(1), move.world.embedder)


async def test_vectors_of_the_same_size_are_switched_all_at_once(move: Move) -> None:
    kb = await move.world.knowledge_base()
    first, second = await move.world.written(kb, "a", "b")
    await move.store.begin(*names(kb), SAME_SIZE)
    await move.embed(kb, dimension=DIMENSION, axis=2)

    assert await move.store.switch(*names(kb))

    assert await move.state(kb) == (SAME_SIZE.embedding, DIMENSION)
    found = dict(await move.found(kb, along(3, DIMENSION), SameSizeEmbedder()))
    assert found == {str(second): 1.0, str(first): 0.0}
    with pytest.raises(Conflict):
        await move.found(kb, along(3, DIMENSION), move.world.embedder)


async def test_nothing_is_switched_while_a_chunk_or_a_document_is_left(move: Move) -> None:
    kb = await move.world.knowledge_base()
    await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)

    assert not await move.store.switch(*names(kb))
    [chunk] = await move.store.chunks_left(*names(kb))
    await move.store.keep_vectors(*names(kb), [chunk], along(0)[None, :])
    assert not await move.store.switch(*names(kb))
    assert await move.state(kb) == ("test/plain", DIMENSION)
    await move.embed(kb)
    assert await move.store.switch(*names(kb))


async def test_what_comes_while_it_is_moved_is_moved_too(move: Move) -> None:
    kb = await move.world.knowledge_base()
    await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)
    late = await move.world.written(kb, "late", "later")

    assert not await move.store.switch(*names(kb))
    assert await move.store.chunks_left(*names(kb)) == sorted(late)
    await move.embed(kb)
    assert await move.store.switch(*names(kb))


async def test_a_document_that_is_written_again_is_embedded_again(move: Move) -> None:
    kb = await move.world.knowledge_base()
    document = await move.world.document(kb)
    await move.world.write(document, ["old"])
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)

    renewed, _ = await move.world.knowledge.renew_document(kb.organisation_id, kb.id, document.id, replacement=None)
    ids = await move.world.write(renewed, ["new"])

    assert ids is not None
    assert await move.store.chunks_left(*names(kb)) == list(ids.values())
    assert not await move.store.switch(*names(kb))
    await move.embed(kb)
    assert await move.store.switch(*names(kb))


async def test_what_was_made_of_a_document_that_changed_or_went_meanwhile_is_not_kept(move: Move) -> None:
    kb = await move.world.knowledge_base()
    document, gone = await move.world.document(kb), await move.world.document(kb)
    for each in (document, gone):
        await move.world.write(each, ["text"])
    await move.store.begin(*names(kb), NEW)
    left = await move.store.chunks_left(*names(kb))
    seen = await move.store.documents_left(*names(kb), limit=10)
    await move.world.knowledge.delete_document(kb.organisation_id, kb.id, gone.id)
    renewed, _ = await move.world.knowledge.renew_document(kb.organisation_id, kb.id, document.id, replacement=None)
    await move.world.write(renewed, ["changed"])

    await move.store.keep_vectors(*names(kb), left, np.stack([along(0) for _ in left]))
    await move.store.keep_documents(*names(kb), [Moved(each.document.id, each.revision, None) for each in seen])

    assert len(await move.store.chunks_left(*names(kb))) == 1
    assert [each.document.id for each in await move.store.documents_left(*names(kb), limit=10)] == [document.id]


async def test_a_move_that_was_cut_off_goes_on_where_it_ended(move: Move) -> None:
    kb = await move.world.knowledge_base()
    first, second, third = sorted(await move.world.written(kb, "a", "b", "c"))
    assert await move.store.begin(*names(kb), NEW) == Extent(done=0, total=4)
    await move.store.keep_vectors(*names(kb), [first], along(0)[None, :])

    assert await move.other.begin(*names(kb), NEW) == Extent(done=1, total=4)
    assert await move.other.chunks_left(*names(kb)) == [second, third]


async def test_a_move_to_another_space_begins_anew(move: Move) -> None:
    kb = await move.world.knowledge_base()
    await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)

    assert await move.store.begin(*names(kb), SAME_SIZE) == Extent(done=0, total=2)
    assert not await move.store.switch(*names(kb))


async def test_a_move_that_is_given_up_leaves_nothing(move: Move) -> None:
    kb = await move.world.knowledge_base()
    [chunk] = await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)

    await move.store.discard(*names(kb))
    await move.store.discard(*names(kb))

    assert await move.found(kb, towards(1), move.world.embedder) == [(str(chunk), 1.0)]
    assert await move.store.begin(*names(kb), NEW) == Extent(done=0, total=2)


async def test_pictures_are_searched_in_their_new_space_after_the_switch(move: Move) -> None:
    kb = await move.world.knowledge_base()
    document = await move.world.document(kb)
    old = ImageVectors("test/images", (0,), towards(1)[None, :])
    ids = await move.world.write(document, ["picture"], images=[old])
    assert ids is not None
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)
    [again] = [Moved(document.id, 1, None, along(3)[None, :], (ids[0],))]
    await move.store.keep_documents(*names(kb), [again])

    async def similar(vector: Vectors, model: str) -> Sequence[tuple[UUID, float]]:
        return await move.world.search.similar_images(*names(kb), vectors=vector[None, :], embedding=model, limit=5)

    assert len(await similar(towards(1), "test/images")) == 1
    assert await move.store.switch(*names(kb))
    assert await similar(towards(1), "test/images") == []
    [(chunk, cosine)] = await similar(along(3), "test/new-images")
    assert (chunk, round(cosine, 3)) == (ids[0], 1.0)


async def test_pictures_that_no_new_model_sees_stay_as_they_are(move: Move) -> None:
    kb = await move.world.knowledge_base()
    document = await move.world.document(kb)
    await move.world.write(document, ["picture"], images=[ImageVectors("test/images", (0,), towards(1)[None, :])])
    await move.store.begin(*names(kb), SAME_SIZE)
    await move.embed(kb, dimension=DIMENSION)

    assert await move.store.switch(*names(kb))

    found = await move.world.search.similar_images(
        *names(kb), vectors=towards(1)[None, :], embedding="test/images", limit=5
    )
    assert len(found) == 1


async def test_vectors_that_are_not_of_the_new_space_are_refused(move: Move) -> None:
    kb = await move.world.knowledge_base()
    [chunk] = await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)

    for wrong in (towards(1)[None, :], np.zeros((1, NEW.dimension), np.float32), np.stack([along(0), along(1)])):
        with pytest.raises(Conflict):
            await move.store.keep_vectors(*names(kb), [chunk], wrong)
    [left] = await move.store.documents_left(*names(kb), limit=1)
    with pytest.raises(Conflict):
        await move.store.keep_documents(*names(kb), [Moved(left.document.id, left.revision, towards(1))])


async def test_one_move_at_a_time(move: Move) -> None:
    kb, neighbour = await move.world.knowledge_base(), await move.world.knowledge_base()
    async with move.store.hold(*names(kb)):
        with pytest.raises(Conflict):
            async with move.other.hold(*names(kb)):
                pass
        async with move.other.hold(*names(neighbour)):
            pass
    async with move.other.hold(*names(kb)):
        pass


async def test_an_empty_knowledge_base_is_switched_at_once(move: Move) -> None:
    kb = await move.world.knowledge_base()

    assert await move.store.begin(*names(kb), NEW) == Extent(done=0, total=0)
    assert await move.store.switch(*names(kb))
    assert await move.state(kb) == (NEW.embedding, NEW.dimension)


async def test_other_knowledge_bases_stay_where_they_are(move: Move) -> None:
    kb, neighbour = await move.world.knowledge_base(), await move.world.knowledge_base()
    await move.world.written(kb, "a")
    [other] = await move.world.written(neighbour, "b")
    await move.store.begin(*names(kb), NEW)
    await move.embed(kb)
    assert await move.store.switch(*names(kb))

    assert await move.state(neighbour) == ("test/plain", DIMENSION)
    assert await move.found(neighbour, towards(1), move.world.embedder) == [(str(other), 1.0)]


async def test_another_organisation_s_knowledge_base_is_unknown(move: Move) -> None:
    kb = await move.world.knowledge_base()
    for stranger in ((move.world.other_id, kb.id), (kb.organisation_id, new_id())):
        with pytest.raises(NotFound):
            await move.store.begin(*stranger, NEW)
        with pytest.raises(NotFound):
            await move.store.discard(*stranger)


async def test_deletions_that_race_the_switch_win_and_break_nothing(move: Move) -> None:
    kb = await move.world.knowledge_base()
    documents = [await move.world.document(kb) for _ in range(16)]
    for each in documents:
        await move.world.write(each, ["a", "b"])
    await move.store.begin(*names(kb), NEW)

    async def switch() -> None:
        while not await move.store.switch(*names(kb)):
            await move.embed(kb)

    async def delete(document_id: UUID) -> None:
        await move.world.knowledge.delete_document(kb.organisation_id, kb.id, document_id)

    await asyncio.gather(switch(), *(delete(each.id) for each in documents[1:]))

    found = await move.found(kb, along(0), OtherEmbedder())
    assert len(found) == 2
    assert await move.state(kb) == (NEW.embedding, NEW.dimension)


async def test_documents_that_are_written_meanwhile_never_mix_spaces(move: Move) -> None:
    """Twenty documents race the switch; each is of the old space and is refused, or is moved."""
    kb = await move.world.knowledge_base()
    await move.world.written(kb, "a")
    await move.store.begin(*names(kb), NEW)

    async def write() -> int:
        document = await move.world.document(kb)
        try:
            await move.world.write(document, ["text"])
        except Conflict:
            return 0
        return 1

    async def switch() -> None:
        while not await move.store.switch(*names(kb)):
            await move.embed(kb)

    written, _ = await asyncio.gather(asyncio.gather(*(write() for _ in range(20))), switch())

    found = await move.found(kb, along(0), OtherEmbedder())
    assert len(found) == min(10, 1 + sum(written))
