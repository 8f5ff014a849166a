"""What every cache of extractions promises, one fact a test."""

import pytest

from stores.memory.extractions import MemoryExtractions
from stores.memory.knowledge import MemoryKnowledge
from stores.postgres.extractions import PICTURE, PostgresExtractions
from stores.protocols.extractions import ExtractionCache
from tests.support.worlds import World
from tributary.domain.ids import new_id

ONE, TWO = b"one", b"two"


@pytest.fixture
def cache(world: World) -> ExtractionCache:
    if world.postgres is not None:
        return PostgresExtractions(world.postgres)
    assert isinstance(world.knowledge, MemoryKnowledge)
    return MemoryExtractions(world.knowledge)


@pytest.fixture
def pictures(world: World) -> ExtractionCache:
    """Of the same documents, for another kind of thing."""
    if world.postgres is not None:
        return PostgresExtractions(world.postgres, PICTURE)
    assert isinstance(world.knowledge, MemoryKnowledge)
    return MemoryExtractions(world.knowledge)


async def test_what_was_kept_is_found(world: World, cache: ExtractionCache) -> None:
    document = await world.document(await world.knowledge_base())
    owner = world.organisation_id, document.id
    await cache.keep(*owner, {ONE: "1", TWO: "2"})
    assert await cache.find(*owner, [ONE, TWO, b"three"]) == {ONE: "1", TWO: "2"}


async def test_nothing_kept_is_nothing_found(world: World, cache: ExtractionCache) -> None:
    document = await world.document(await world.knowledge_base())
    assert await cache.find(world.organisation_id, document.id, [ONE]) == {}
    assert await cache.find(world.organisation_id, document.id, []) == {}


async def test_what_is_kept_again_takes_its_place(world: World, cache: ExtractionCache) -> None:
    document = await world.document(await world.knowledge_base())
    owner = world.organisation_id, document.id
    await cache.keep(*owner, {ONE: "1"})
    await cache.keep(*owner, {ONE: "new"})
    assert await cache.find(*owner, [ONE]) == {ONE: "new"}


async def test_only_what_is_retained_stays(world: World, cache: ExtractionCache) -> None:
    document = await world.document(await world.knowledge_base())
    owner = world.organisation_id, document.id
    await cache.keep(*owner, {ONE: "1", TWO: "2"})
    await cache.retain(*owner, [TWO])
    assert await cache.find(*owner, [ONE, TWO]) == {TWO: "2"}


async def test_documents_do_not_share(world: World, cache: ExtractionCache) -> None:
    kb = await world.knowledge_base()
    document, other = await world.document(kb), await world.document(kb)
    await cache.keep(world.organisation_id, document.id, {ONE: "1"})
    assert await cache.find(world.organisation_id, other.id, [ONE]) == {}


async def test_another_organisation_finds_nothing_and_keeps_nothing(world: World, cache: ExtractionCache) -> None:
    document = await world.document(await world.knowledge_base())
    await cache.keep(world.organisation_id, document.id, {ONE: "1"})
    await cache.keep(world.other_id, document.id, {TWO: "2"})
    assert await cache.find(world.other_id, document.id, [ONE, TWO]) == {}
    assert await cache.find(world.organisation_id, document.id, [ONE, TWO]) == {ONE: "1"}


async def test_a_deleted_document_takes_its_extractions(world: World, cache: ExtractionCache) -> None:
    kb = await world.knowledge_base()
    document = await world.document(kb)
    await cache.keep(world.organisation_id, document.id, {ONE: "1"})
    await world.knowledge.delete_document(world.organisation_id, kb.id, document.id)
    assert await cache.find(world.organisation_id, document.id, [ONE]) == {}


async def test_a_document_that_is_gone_keeps_nothing(world: World, cache: ExtractionCache) -> None:
    gone = new_id()
    await cache.keep(world.organisation_id, gone, {ONE: "1"})
    assert await cache.find(world.organisation_id, gone, [ONE]) == {}


async def test_captions_of_pictures_and_facts_of_passages_are_apart(
    world: World, cache: ExtractionCache, pictures: ExtractionCache
) -> None:
    document = await world.document(await world.knowledge_base())
    owner = world.organisation_id, document.id
    await cache.keep(*owner, {ONE: "read"})
    await pictures.keep(*owner, {ONE: "seen", TWO: "seen"})
    await cache.retain(*owner, [])
    assert await cache.find(*owner, [ONE, TWO]) == {}
    await pictures.retain(*owner, [ONE])
    assert await pictures.find(*owner, [ONE, TWO]) == {ONE: "seen"}
