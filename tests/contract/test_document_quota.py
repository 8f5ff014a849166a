"""What every store of documents promises about an organisation's quota of bytes, one fact a test."""

import asyncio
from uuid import uuid4

import pytest

from tests.support.chat_worlds import ChatWorld
from tests.support.worlds import new_document
from tributary.domain.errors import QuotaExceeded
from tributary.domain.identity import Limits
from tributary.domain.knowledge import Document, KnowledgeBase

pytest_plugins = ["tests.support.chat_fixtures"]


@pytest.fixture
async def base(chat: ChatWorld) -> KnowledgeBase:
    [base] = await chat.knowledge.knowledge_bases(chat.acme, [await chat.knowledge_base()])
    return base


async def documents(chat: ChatWorld, base: KnowledgeBase) -> list[Document]:
    return list(await chat.knowledge.list_documents(chat.acme, base.id, after=None, limit=99))


async def test_a_document_that_fills_the_quota_to_the_byte_is_taken(chat: ChatWorld, base: KnowledgeBase) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.attachment(size=60)
    await chat.knowledge.add_document(new_document(base, size=40))


async def test_a_document_beyond_the_quota_is_refused_and_not_stored(chat: ChatWorld, base: KnowledgeBase) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.attachment(size=60)
    with pytest.raises(QuotaExceeded) as refusal:
        await chat.knowledge.add_document(new_document(base, size=41))
    assert refusal.value.retry_after is None
    assert await documents(chat, base) == []


async def test_the_files_of_a_day_are_those_of_messages(chat: ChatWorld, base: KnowledgeBase) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=1000, files_per_day=1))
    for _ in range(3):
        await chat.knowledge.add_document(new_document(base, size=1))
    await chat.attachment()


async def test_documents_that_come_together_do_not_pass_the_quota_together(
    chat: ChatWorld, base: KnowledgeBase
) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    adding = [chat.knowledge.add_document(new_document(base, size=40)) for _ in range(6)]
    outcomes = await asyncio.gather(*adding, return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 2
    assert len(await documents(chat, base)) == 2


async def test_a_replacement_counts_in_place_of_what_it_replaces(chat: ChatWorld, base: KnowledgeBase) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    document = new_document(base, size=60)
    await chat.knowledge.add_document(document)

    async def replace_with(size: int) -> None:
        new = new_document(base, size=size, storage_key=f"documents/{uuid4()}")
        await chat.knowledge.renew_document(chat.acme, base.id, document.id, replacement=new)

    await replace_with(100)
    [before] = await documents(chat, base)
    with pytest.raises(QuotaExceeded):
        await replace_with(101)
    assert await documents(chat, base) == [before]
    await replace_with(10)
    await chat.knowledge.add_document(new_document(base, size=90))
