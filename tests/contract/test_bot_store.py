"""What every store of bots promises, one fact a test."""

from typing import Any
from uuid import uuid4

import pytest

from tests.support.chat_worlds import ChatWorld
from tributary.domain.bots import CapabilityOverrides, Weights
from tributary.domain.errors import Conflict, InvalidRequest, NotFound

pytest_plugins = ["tests.support.chat_fixtures"]

NAMES = ["Ärztin «Ω»", "O'Brien; DROP TABLE bots; --", "助手 🤖", "100 % %s %(name)s"]


async def test_a_bot_comes_back_as_it_was_made(chat: ChatWorld) -> None:
    bases = [await chat.knowledge_base(), await chat.knowledge_base()]
    weights = Weights(vector=1 / 3, text=0.25, importance=0.0)
    made = await chat.bot(prompt="Be brief.", knowledge_base_ids=bases, weights=weights)
    found = await chat.bots.get(chat.acme, made.id)
    assert found == made
    assert (found.weights, found.prompt, found.organisation_id) == (weights, "Be brief.", chat.acme)


@pytest.mark.parametrize("name", NAMES)
async def test_any_characters_make_a_name(chat: ChatWorld, name: str) -> None:
    made = await chat.bot(name=name)
    assert (await chat.bots.get(chat.acme, made.id)).name == name


async def test_text_that_can_not_be_stored_is_the_callers_error(chat: ChatWorld) -> None:
    with pytest.raises(InvalidRequest):
        await chat.bot(prompt="nul\x00inside")


async def test_knowledge_bases_stay_in_the_order_they_were_linked_in(chat: ChatWorld) -> None:
    bases = [await chat.knowledge_base() for _ in range(4)][::-1]
    made = await chat.bot(knowledge_base_ids=bases)
    assert (await chat.bots.get(chat.acme, made.id)).knowledge_base_ids == tuple(bases)


async def test_a_knowledge_base_is_linked_once(chat: ChatWorld) -> None:
    base = await chat.knowledge_base()
    assert (await chat.bot(knowledge_base_ids=[base, base])).knowledge_base_ids == (base,)


async def test_an_unknown_knowledge_base_is_not_found_and_nothing_is_made(chat: ChatWorld) -> None:
    known, unknown = await chat.knowledge_base(), uuid4()
    with pytest.raises(NotFound, match=str(unknown)):
        await chat.bot(knowledge_base_ids=[known, unknown])
    assert list(await chat.bots.list(chat.acme, after=None, limit=10)) == []


async def test_a_knowledge_base_of_another_organisation_can_not_be_linked(chat: ChatWorld) -> None:
    foreign = await chat.knowledge_base(chat.globex)
    with pytest.raises(NotFound):
        await chat.bot(knowledge_base_ids=[foreign])


async def test_a_deleted_knowledge_base_is_linked_no_more(chat: ChatWorld) -> None:
    kept, deleted = await chat.knowledge_base(), await chat.knowledge_base()
    made = await chat.bot(knowledge_base_ids=[deleted, kept])
    await chat.knowledge.delete_knowledge_base(chat.acme, deleted)
    assert (await chat.bots.get(chat.acme, made.id)).knowledge_base_ids == (kept,)


@pytest.mark.parametrize("weight", [-0.1, float("nan"), float("inf")])
async def test_a_weight_that_can_not_weigh_is_refused(chat: ChatWorld, weight: float) -> None:
    with pytest.raises(InvalidRequest):
        await chat.bot(weights=Weights(vector=weight))


async def test_a_bot_of_an_unknown_organisation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound, match="organisation"):
        await chat.bot(uuid4())


async def test_an_unknown_bot_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.bots.get(chat.acme, uuid4())


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"prompt": ""},
        {"model": "openai/x"},
        {"weights": Weights(1, 0, 0)},
        {"knowledge_base_ids": []},
    ],
)
async def test_an_update_changes_what_it_names_and_nothing_else(chat: ChatWorld, change: dict[str, Any]) -> None:
    made = await chat.bot(prompt="Be brief.", knowledge_base_ids=[await chat.knowledge_base()])
    changed = await chat.bots.update(chat.acme, made.id, **change)
    fields = {*made.__slots__, "knowledge_base_ids"} - {"knowledge_bases"}
    expected = {field: getattr(made, field) for field in fields} | change
    expected["knowledge_base_ids"] = tuple(expected["knowledge_base_ids"])
    assert {field: getattr(changed, field) for field in fields} == expected
    assert await chat.bots.get(chat.acme, made.id) == changed


async def test_an_update_puts_new_links_in_the_place_of_the_old_ones(chat: ChatWorld) -> None:
    old, new = await chat.knowledge_base(), await chat.knowledge_base()
    made = await chat.bot(knowledge_base_ids=[old])
    changed = await chat.bots.update(chat.acme, made.id, knowledge_base_ids=[new, old])
    assert changed.knowledge_base_ids == (new, old)


async def test_an_update_that_fails_changes_nothing(chat: ChatWorld) -> None:
    made = await chat.bot(knowledge_base_ids=[await chat.knowledge_base()])
    with pytest.raises(NotFound):
        await chat.bots.update(chat.acme, made.id, name="other", knowledge_base_ids=[uuid4()])
    assert await chat.bots.get(chat.acme, made.id) == made


async def test_bots_are_listed_in_pages_oldest_first(chat: ChatWorld) -> None:
    made = [await chat.bot(name=f"bot {number}") for number in range(5)]
    first = await chat.bots.list(chat.acme, after=None, limit=2)
    second = await chat.bots.list(chat.acme, after=first[-1].id, limit=2)
    last = await chat.bots.list(chat.acme, after=second[-1].id, limit=2)
    assert [*first, *second, *last] == made


async def test_a_deleted_bot_is_gone(chat: ChatWorld) -> None:
    made = await chat.bot(knowledge_base_ids=[await chat.knowledge_base()])
    await chat.bots.delete(chat.acme, made.id)
    with pytest.raises(NotFound):
        await chat.bots.get(chat.acme, made.id)


async def test_a_bot_with_conversations_stays(chat: ChatWorld) -> None:
    made = await chat.bot()
    await chat.turn(made)
    with pytest.raises(Conflict):
        await chat.bots.delete(chat.acme, made.id)
    assert await chat.bots.get(chat.acme, made.id) == made


async def test_a_bot_goes_when_its_last_conversation_has_gone(chat: ChatWorld) -> None:
    made = await chat.bot()
    question = await chat.turn(made)
    await chat.conversations.delete(chat.acme, question.conversation_id)
    await chat.bots.delete(chat.acme, made.id)


async def test_another_organisation_can_not_read_change_list_or_delete_a_bot(chat: ChatWorld) -> None:
    made = await chat.bot()
    with pytest.raises(NotFound):
        await chat.bots.get(chat.globex, made.id)
    with pytest.raises(NotFound):
        await chat.bots.update(chat.globex, made.id, name="taken over")
    with pytest.raises(NotFound):
        await chat.bots.delete(chat.globex, made.id)
    assert list(await chat.bots.list(chat.globex, after=None, limit=10)) == []
    assert await chat.bots.get(chat.acme, made.id) == made


async def test_what_is_said_of_a_model_is_kept_and_replaced_as_a_whole(chat: ChatWorld) -> None:
    said = CapabilityOverrides(image=False, audio=True, context_window=8_192)
    made = await chat.bot(capabilities=said, shrink_images=True)
    assert (await chat.bots.get(chat.acme, made.id)) == made
    assert (made.capabilities, made.shrink_images) == (said, True)

    renamed = await chat.bots.update(chat.acme, made.id, name="other")
    assert (renamed.capabilities, renamed.shrink_images) == (said, True)

    changed = await chat.bots.update(
        chat.acme, made.id, capabilities=CapabilityOverrides(max_output=64), shrink_images=False
    )
    assert (changed.capabilities, changed.shrink_images) == (CapabilityOverrides(max_output=64), False)
    assert (await chat.bots.get(chat.acme, made.id)) == changed


async def test_nothing_is_said_of_a_model_where_nothing_was_given(chat: ChatWorld) -> None:
    made = await chat.bot()
    assert (made.capabilities, made.shrink_images) == (CapabilityOverrides(), False)
