"""What every store of sign-ins promises, one fact a test."""

import asyncio
from datetime import timedelta
from uuid import UUID

import pytest

from stores.secrets import make_session_secret
from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import NotFound, Unauthorized
from tributary.domain.identity import Caller, Scope
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]

DAY = timedelta(days=1)


async def caller_of(chat: ChatWorld, organisation_id: UUID, scope: Scope = Scope.FULL) -> tuple[Caller, str]:
    _, secret = await chat.identity.create_key(organisation_id, scope=scope)
    return await chat.identity.authenticate(secret), secret


@pytest.mark.parametrize("scope", Scope)
async def test_a_sign_in_stands_for_its_key(chat: ChatWorld, scope: Scope) -> None:
    caller, _ = await caller_of(chat, chat.acme, scope)
    assert await chat.sessions.authenticate(await chat.sessions.open(caller, lifetime=DAY)) == caller


async def test_a_sign_in_ends_with_its_key(chat: ChatWorld) -> None:
    caller, _ = await caller_of(chat, chat.acme)
    secret = await chat.sessions.open(caller, lifetime=DAY)
    await chat.identity.revoke_key(chat.acme, caller.key_id)
    with pytest.raises(Unauthorized):
        await chat.sessions.authenticate(secret)


async def test_a_sign_in_that_was_ended_opens_nothing_and_the_others_stay(chat: ChatWorld) -> None:
    caller, _ = await caller_of(chat, chat.acme)
    one, other = [await chat.sessions.open(caller, lifetime=DAY) for _ in range(2)]
    await chat.sessions.close(one)
    await chat.sessions.close(one)
    with pytest.raises(Unauthorized):
        await chat.sessions.authenticate(one)
    assert await chat.sessions.authenticate(other) == caller


async def test_a_sign_in_runs_out_and_is_removed_by_the_next(chat: ChatWorld) -> None:
    caller, _ = await caller_of(chat, chat.acme)
    spent = await chat.sessions.open(caller, lifetime=timedelta(0))
    with pytest.raises(Unauthorized):
        await chat.sessions.authenticate(spent)
    await chat.sessions.open(caller, lifetime=DAY)
    with pytest.raises(Unauthorized):
        await chat.sessions.authenticate(spent)


async def test_keys_and_made_up_secrets_are_no_sign_ins(chat: ChatWorld) -> None:
    caller, key = await caller_of(chat, chat.acme)
    mine = await chat.sessions.open(caller, lifetime=DAY)
    moved = mine.replace(chat.acme.hex, chat.globex.hex)
    for secret in (key, moved, make_session_secret(chat.acme), "", "session_", "\ud800"):
        with pytest.raises(Unauthorized):
            await chat.sessions.authenticate(secret)
        await chat.sessions.close(secret)
    with pytest.raises(Unauthorized):
        await chat.identity.authenticate(mine)
    assert await chat.sessions.authenticate(mine) == caller


async def test_nobody_signs_in_with_a_key_that_is_not_there(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.sessions.open(Caller(chat.acme, new_id(), Scope.FULL), lifetime=DAY)


@pytest.mark.parametrize("scope", Scope)
async def test_an_offer_is_redeemed_once_and_is_no_sign_in(chat: ChatWorld, scope: Scope) -> None:
    caller, _ = await caller_of(chat, chat.acme, scope)
    offered = await chat.sessions.offer(caller, lifetime=DAY)
    with pytest.raises(Unauthorized):
        await chat.sessions.authenticate(offered)
    assert await chat.sessions.redeem(offered) == caller
    with pytest.raises(Unauthorized):
        await chat.sessions.redeem(offered)


async def test_of_many_who_redeem_an_offer_at_once_one_is_let_in(chat: ChatWorld) -> None:
    caller, _ = await caller_of(chat, chat.acme)
    offered = await chat.sessions.offer(caller, lifetime=DAY)
    results = await asyncio.gather(*(chat.sessions.redeem(offered) for _ in range(5)), return_exceptions=True)
    assert [each for each in results if not isinstance(each, Unauthorized)] == [caller]


async def test_an_offer_runs_out_and_ends_with_its_key(chat: ChatWorld) -> None:
    caller, _ = await caller_of(chat, chat.acme)
    late = await chat.sessions.offer(caller, lifetime=timedelta(0))
    offered = await chat.sessions.offer(caller, lifetime=DAY)
    await chat.identity.revoke_key(chat.acme, caller.key_id)
    for secret in (late, offered):
        with pytest.raises(Unauthorized):
            await chat.sessions.redeem(secret)


async def test_a_sign_in_is_no_offer(chat: ChatWorld) -> None:
    caller, key = await caller_of(chat, chat.acme)
    mine = await chat.sessions.open(caller, lifetime=DAY)
    for secret in (mine, key, make_session_secret(chat.acme), "", "\ud800"):
        with pytest.raises(Unauthorized):
            await chat.sessions.redeem(secret)
    assert await chat.sessions.authenticate(mine) == caller
