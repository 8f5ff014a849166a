"""What every store of attachments promises about an organisation's limits, one fact a test."""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import NotFound, QuotaExceeded
from tributary.domain.identity import Limits

pytest_plugins = ["tests.support.chat_fixtures"]


async def test_a_file_that_fills_the_quota_to_the_byte_is_taken(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.attachment(size=60)
    await chat.attachment(size=40)


async def test_a_file_beyond_the_quota_is_refused_and_not_stored(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.attachment(size=60)
    with pytest.raises(QuotaExceeded) as refusal:
        await chat.attachment(size=41, on_s3=True)
    assert refusal.value.retry_after is None
    assert list(await chat.attachments.billing_events(chat.acme)) == []
    await chat.attachment(size=40)


async def test_documents_count_against_the_quota(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.document(size=60)
    with pytest.raises(QuotaExceeded):
        await chat.attachment(size=41)


async def test_deleting_a_file_makes_room_in_the_quota(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    made = await chat.attachment(size=100)
    await chat.attachments.delete(chat.acme, [made.id])
    await chat.attachment(size=100)


async def test_the_files_of_a_day_are_limited_and_the_refusal_says_when_it_ends(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=2))
    await chat.attachment()
    await chat.attachment()
    before = _seconds_to_midnight()
    with pytest.raises(QuotaExceeded) as refusal:
        await chat.attachment()
    assert refusal.value.retry_after is not None
    assert 0 < refusal.value.retry_after <= max(before, 86_400)
    assert abs(refusal.value.retry_after - _seconds_to_midnight()) < 30 or before < 30


async def test_the_next_day_has_its_own_files(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=1))
    await chat.attachment()
    await chat.pass_a_day()
    await chat.attachment()
    with pytest.raises(QuotaExceeded):
        await chat.attachment()


async def test_deleting_a_file_does_not_give_the_day_another_one(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=1))
    made = await chat.attachment()
    await chat.attachments.delete(chat.acme, [made.id])
    with pytest.raises(QuotaExceeded):
        await chat.attachment()


async def test_a_limit_of_zero_lets_nothing_in(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=0))
    with pytest.raises(QuotaExceeded):
        await chat.attachment()


async def test_the_early_answer_refuses_what_would_be_refused(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=100))
    await chat.attachment(size=60)
    await chat.attachments.check_quota(chat.acme, 40)
    with pytest.raises(QuotaExceeded):
        await chat.attachments.check_quota(chat.acme, 41)


async def test_the_early_answer_counts_the_files_of_the_day(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=1))
    await chat.attachments.check_quota(chat.acme, 1)
    await chat.attachment()
    with pytest.raises(QuotaExceeded):
        await chat.attachments.check_quota(chat.acme, 1)


async def test_the_quota_of_an_unknown_organisation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.attachments.check_quota(uuid4(), 1)


async def test_files_of_another_organisation_do_not_count(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=10, files_per_day=1))
    await chat.attachment(chat.globex, size=1000)
    await chat.attachment(size=10)


async def test_twenty_simultaneous_uploads_never_pass_the_quota(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=75))
    outcomes = await asyncio.gather(*(chat.attachment(size=10) for _ in range(20)), return_exceptions=True)
    assert sum(not isinstance(each, BaseException) for each in outcomes) == 7
    assert {type(each) for each in outcomes if isinstance(each, BaseException)} == {QuotaExceeded}


async def test_twenty_simultaneous_uploads_never_pass_the_files_of_a_day(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(files_per_day=7))
    outcomes = await asyncio.gather(*(chat.attachment() for _ in range(20)), return_exceptions=True)
    assert sum(not isinstance(each, BaseException) for each in outcomes) == 7


def _seconds_to_midnight() -> float:
    now = datetime.now(UTC)
    return 86_400 - (now - now.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()
