"""What every store of repeatable requests promises. `other_idempotency` is that of a second process."""

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from stores.protocols.idempotency import Stored
from stores.repeats import LEASE
from stores.requirements import MAX_REQUEST_KEY
from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import Conflict, InvalidRequest, NotFound

pytest_plugins = ["tests.support.chat_fixtures"]

MARK = b"\x00\xff" * 16
BODY = {"id": "1", "größe": [1, None, "ß 💧"]}


async def test_the_first_request_is_the_callers_to_do(chat: ChatWorld) -> None:
    assert await chat.idempotency.begin(chat.acme, "POST /x key", MARK) is None


@pytest.mark.parametrize("key", ["POST /x schlüssel '\"; --", "k" * MAX_REQUEST_KEY, "%s 💧"])
async def test_a_repeated_request_gets_the_first_result(chat: ChatWorld, key: str) -> None:
    await chat.idempotency.begin(chat.acme, key, MARK)
    await chat.idempotency.complete(chat.acme, key, 201, BODY)
    for store in (chat.idempotency, chat.other_idempotency):
        assert await store.begin(chat.acme, key, MARK) == Stored(201, BODY)


async def test_another_request_under_the_same_key_is_a_conflict(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    with pytest.raises(Conflict):
        await chat.idempotency.begin(chat.acme, "key", b"other")
    await chat.idempotency.complete(chat.acme, "key", 200, BODY)
    with pytest.raises(Conflict):
        await chat.other_idempotency.begin(chat.acme, "key", b"other")


async def test_a_request_that_is_still_at_work_is_a_conflict_that_passes(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    with pytest.raises(Conflict) as refusal:
        await chat.other_idempotency.begin(chat.acme, "key", MARK)
    assert refusal.value.retry_after is not None


async def test_whoever_repeats_a_request_waits_for_its_result(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    repeated = asyncio.create_task(chat.other_idempotency.begin(chat.acme, "key", MARK))
    await asyncio.sleep(0)
    await chat.idempotency.complete(chat.acme, "key", 200, BODY)
    assert await repeated == Stored(200, BODY)


async def test_an_abandoned_request_can_be_tried_again(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.abandon(chat.acme, "key")
    assert await chat.other_idempotency.begin(chat.acme, "key", MARK) is None


async def test_a_completed_request_can_not_be_abandoned(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.complete(chat.acme, "key", 200, BODY)
    await chat.idempotency.abandon(chat.acme, "key")
    assert await chat.idempotency.begin(chat.acme, "key", MARK) == Stored(200, BODY)


async def test_the_first_result_stays(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.complete(chat.acme, "key", 200, BODY)
    await chat.idempotency.complete(chat.acme, "key", 500, {})
    assert await chat.idempotency.begin(chat.acme, "key", MARK) == Stored(200, BODY)


async def test_of_simultaneous_requests_one_is_done(chat: ChatWorld) -> None:
    stores = [chat.idempotency, chat.other_idempotency] * 4
    outcomes = await asyncio.gather(*(store.begin(chat.acme, "key", MARK) for store in stores), return_exceptions=True)
    assert sum(outcome is None for outcome in outcomes) == 1
    assert {type(outcome) for outcome in outcomes if outcome is not None} == {Conflict}


async def test_a_request_whose_process_died_is_taken_over_at_once(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.kill()
    with pytest.raises(Conflict):
        await chat.other_idempotency.begin(chat.acme, "key", b"other")
    assert await chat.other_idempotency.begin(chat.acme, "key", MARK) is None
    # What the dead one says now is not heard.
    await chat.idempotency.complete(chat.acme, "key", 200, {"from": "the dead"})
    await chat.other_idempotency.complete(chat.acme, "key", 200, BODY)
    assert await chat.other_idempotency.begin(chat.acme, "key", MARK) == Stored(200, BODY)


async def test_a_request_that_takes_too_long_is_taken_over_in_the_end(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.age_requests(LEASE)
    assert await chat.other_idempotency.begin(chat.acme, "key", MARK) is None


async def test_a_request_that_came_back_from_the_dead_does_not_touch_its_successor(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.age_requests(LEASE)
    await chat.other_idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.abandon(chat.acme, "key")
    await chat.idempotency.complete(chat.acme, "key", 200, {"from": "the dead"})
    await chat.other_idempotency.complete(chat.acme, "key", 200, BODY)
    assert await chat.idempotency.begin(chat.acme, "key", MARK) == Stored(200, BODY)


async def test_a_completed_request_is_never_taken_over(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.complete(chat.acme, "key", 200, BODY)
    await chat.age_requests(LEASE * 2)
    assert await chat.other_idempotency.begin(chat.acme, "key", MARK) == Stored(200, BODY)


async def test_requests_are_forgotten_after_a_day(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "old", MARK)
    await chat.idempotency.complete(chat.acme, "old", 200, BODY)
    await chat.age_requests(timedelta(hours=25))
    await chat.idempotency.begin(chat.acme, "new", MARK)
    await chat.idempotency.complete(chat.acme, "new", 200, BODY)
    assert await chat.idempotency.purge(chat.acme) == 1
    assert await chat.idempotency.begin(chat.acme, "old", MARK) is None
    assert await chat.idempotency.begin(chat.acme, "new", MARK) == Stored(200, BODY)


async def test_what_can_not_be_kept_in_a_body_is_marked(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.complete(chat.acme, "key", 200, {"message": "a\x00b\ud800c"})
    assert await chat.idempotency.begin(chat.acme, "key", MARK) == Stored(200, {"message": "a�b�c"})


@pytest.mark.parametrize("key", ["", "k" * (MAX_REQUEST_KEY + 1), "nul\x00"])
async def test_a_key_that_can_not_be_looked_up_is_refused(chat: ChatWorld, key: str) -> None:
    with pytest.raises(InvalidRequest):
        await chat.idempotency.begin(chat.acme, key, MARK)


async def test_a_request_of_an_unknown_organisation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.idempotency.begin(uuid4(), "key", MARK)


async def test_another_organisation_has_its_own_keys(chat: ChatWorld) -> None:
    await chat.idempotency.begin(chat.acme, "key", MARK)
    await chat.idempotency.abandon(chat.globex, "key")
    assert await chat.idempotency.begin(chat.globex, "key", b"other") is None
    await chat.idempotency.complete(chat.globex, "key", 200, {"of": "globex"})
    await chat.idempotency.complete(chat.acme, "key", 200, {"of": "acme"})
    await chat.age_requests(timedelta(hours=25))
    await chat.idempotency.purge(chat.acme)
    assert await chat.idempotency.begin(chat.acme, "key", MARK) is None
