"""What every store of organisations and keys promises, one fact a test."""

import asyncio
from uuid import uuid4

import pytest

from stores.secrets import make_key_secret
from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import InvalidRequest, NotFound, Unauthorized
from tributary.domain.identity import Limits, Scope
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]


async def test_an_organisation_is_made_once_for_its_name(chat: ChatWorld) -> None:
    name = f"O'Neill & Søn {uuid4()}"
    first = await chat.identity.ensure_organisation(name)
    assert await chat.identity.ensure_organisation(name) == first
    assert await chat.identity.organisation_named(name) == first


async def test_simultaneous_requests_for_a_new_name_get_one_organisation(chat: ChatWorld) -> None:
    name = f"new {uuid4()}"
    made = await asyncio.gather(*(chat.identity.ensure_organisation(name) for _ in range(8)))
    assert len({organisation.id for organisation in made}) == 1


async def test_names_are_compared_exactly(chat: ChatWorld) -> None:
    mark = uuid4()
    upper = await chat.identity.ensure_organisation(f"ÄRA {mark}")
    assert await chat.identity.ensure_organisation(f"ära {mark}") != upper


@pytest.mark.parametrize("name", ["", "   ", "x" * 256, "nul\x00inside", "half \ud800 pair"])
async def test_a_name_that_nobody_could_look_up_is_refused(chat: ChatWorld, name: str) -> None:
    with pytest.raises(InvalidRequest):
        await chat.identity.ensure_organisation(name)


async def test_an_unknown_name_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.identity.organisation_named(f"nobody {uuid4()}")


async def test_operators_see_all_organisations_by_name(chat: ChatWorld) -> None:
    found = await chat.identity.list_organisations()
    assert {chat.acme, chat.globex} <= {organisation.id for organisation in found}
    assert [each.name for each in found] == sorted(each.name for each in found)


async def test_a_new_organisation_has_no_limits(chat: ChatWorld) -> None:
    organisation = await chat.identity.ensure_organisation(f"new {uuid4()}")
    assert organisation.limits == Limits()


async def test_limits_are_set_for_one_organisation_alone(chat: ChatWorld) -> None:
    limits = Limits(quota_bytes=2**40, files_per_day=7, monthly_budget=12.34)
    changed = await chat.identity.set_limits(chat.acme, limits)
    assert changed.limits == limits
    found = {each.id: each.limits for each in await chat.identity.list_organisations()}
    assert (found[chat.acme], found[chat.globex]) == (limits, Limits())


async def test_limits_can_be_lifted(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=1))
    assert (await chat.identity.set_limits(chat.acme, Limits())).limits == Limits()


@pytest.mark.parametrize(
    "limits",
    [
        Limits(quota_bytes=-1),
        Limits(quota_bytes=2**63),
        Limits(files_per_day=2**31),
        Limits(monthly_budget=float("nan")),
        Limits(monthly_budget=float("inf")),
    ],
)
async def test_limits_that_can_not_be_counted_are_refused(chat: ChatWorld, limits: Limits) -> None:
    with pytest.raises(InvalidRequest):
        await chat.identity.set_limits(chat.acme, limits)


async def test_limits_of_an_unknown_organisation_are_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.identity.set_limits(uuid4(), Limits())


async def test_a_key_says_who_calls_and_what_they_may(chat: ChatWorld) -> None:
    key, secret = await chat.identity.create_key(chat.acme, scope=Scope.CHAT)
    caller = await chat.identity.authenticate(secret)
    assert (caller.organisation_id, caller.key_id, caller.scope) == (chat.acme, key.id, Scope.CHAT)


async def test_a_key_for_an_unknown_organisation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.identity.create_key(uuid4())


async def test_a_secret_of_a_known_organisation_that_was_never_given_out_is_refused(chat: ChatWorld) -> None:
    await chat.identity.create_key(chat.acme)
    with pytest.raises(Unauthorized):
        await chat.identity.authenticate(make_key_secret(chat.acme))


async def test_a_secret_does_not_open_another_organisation(chat: ChatWorld) -> None:
    _, secret = await chat.identity.create_key(chat.acme)
    with pytest.raises(Unauthorized):
        await chat.identity.authenticate(secret.replace(chat.acme.hex, chat.globex.hex))


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "tributary_",
        "Bearer x",
        "tributary_' OR 1=1 --_x",
        "tributary_\x00",
        "tributary_" + "é" * 32 + "_" + "a" * 43,
    ],
)
async def test_a_malformed_secret_is_refused(chat: ChatWorld, secret: str) -> None:
    with pytest.raises(Unauthorized):
        await chat.identity.authenticate(secret)


async def test_a_revoked_key_is_refused_from_then_on(chat: ChatWorld) -> None:
    key, secret = await chat.identity.create_key(chat.acme)
    await chat.identity.authenticate(secret)
    await chat.identity.revoke_key(chat.acme, key.id)
    with pytest.raises(Unauthorized):
        await chat.identity.authenticate(secret)


async def test_revoking_twice_keeps_the_first_time(chat: ChatWorld) -> None:
    key, _ = await chat.identity.create_key(chat.acme)
    revoked = await chat.identity.revoke_key(chat.acme, key.id)
    assert revoked.revoked_at is not None
    assert await chat.identity.revoke_key(chat.acme, key.id) == revoked


async def test_revoking_one_key_leaves_the_others(chat: ChatWorld) -> None:
    key, _ = await chat.identity.create_key(chat.acme)
    _, other = await chat.identity.create_key(chat.acme)
    await chat.identity.revoke_key(chat.acme, key.id)
    assert (await chat.identity.authenticate(other)).organisation_id == chat.acme


async def test_a_key_of_another_organisation_can_not_be_revoked(chat: ChatWorld) -> None:
    key, secret = await chat.identity.create_key(chat.acme)
    with pytest.raises(NotFound):
        await chat.identity.revoke_key(chat.globex, key.id)
    await chat.identity.authenticate(secret)


async def test_keys_are_listed_newest_first_with_the_revoked_ones(chat: ChatWorld) -> None:
    first, _ = await chat.identity.create_key(chat.acme)
    second, _ = await chat.identity.create_key(chat.acme)
    revoked = await chat.identity.revoke_key(chat.acme, first.id)
    assert await chat.identity.list_keys(chat.acme) == [second, revoked]


async def test_keys_of_another_organisation_are_not_listed(chat: ChatWorld) -> None:
    await chat.identity.create_key(chat.acme)
    assert list(await chat.identity.list_keys(chat.globex)) == []


async def test_an_organisation_is_found_by_its_id(chat: ChatWorld) -> None:
    made = await chat.identity.ensure_organisation("Initech")
    assert await chat.identity.organisation(made.id) == made
    with pytest.raises(NotFound):
        await chat.identity.organisation(new_id())
