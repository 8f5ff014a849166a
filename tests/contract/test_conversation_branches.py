"""What every store of conversations promises about the active branch, one fact a test."""

from uuid import UUID, uuid4

import pytest

from tests.support.chat_worlds import ChatWorld
from tributary.domain.bots import Bot
from tributary.domain.conversations import Message, MessageStatus
from tributary.domain.errors import NotFound

pytest_plugins = ["tests.support.chat_fixtures"]


async def talk(chat: ChatWorld, bot: Bot, turns: int) -> list[Message]:
    """A conversation of questions `q0`, `q1`, … and answers `a0`, `a1`, …; the questions."""
    asked = [await chat.turn(bot, "q0", "a0")]
    for number in range(1, turns):
        conversation_id = asked[0].conversation_id
        asked.append(await chat.turn(bot, f"q{number}", f"a{number}", conversation_id=conversation_id))
    return asked


async def seen(chat: ChatWorld, conversation_id: UUID, limit: int, before: UUID | None = None) -> list[str]:
    found = await chat.conversations.recent(chat.acme, conversation_id, limit=limit, before=before)
    return [message.content for message in found]


async def test_each_message_follows_the_one_before_it(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 3)
    messages = await chat.conversations.messages(chat.acme, asked[0].conversation_id, after=None, limit=50)
    assert [message.content for message in messages] == ["q0", "a0", "q1", "a1", "q2", "a2"]
    assert [message.parent_id for message in messages] == [None, *(message.id for message in messages[:-1])]


async def test_an_edited_question_stands_in_the_place_of_the_replaced_one(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 3)
    conversation_id = asked[0].conversation_id
    edited = await chat.turn(bot, "edited", "anew", conversation_id=conversation_id, replaces=asked[1].id)
    assert edited.parent_id == asked[1].parent_id
    assert await chat.branch(bot, conversation_id) == ["q0", "a0", "edited", "anew"]


async def test_the_first_question_can_be_edited(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 2)
    edited = await chat.turn(bot, "edited", "anew", conversation_id=asked[0].conversation_id, replaces=asked[0].id)
    assert edited.parent_id is None
    assert await chat.branch(bot, edited.conversation_id) == ["edited", "anew"]


async def test_a_question_of_a_branch_that_was_left_can_be_edited_and_its_branch_comes_back(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 3)
    conversation_id = asked[0].conversation_id
    await chat.turn(bot, "edited", "anew", conversation_id=conversation_id, replaces=asked[0].id)
    await chat.turn(bot, "back", "again", conversation_id=conversation_id, replaces=asked[2].id)
    assert await chat.branch(bot, conversation_id) == ["q0", "a0", "q1", "a1", "back", "again"]


async def test_only_a_question_of_the_conversation_can_be_replaced(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    answer_id = await chat.finish(bot, question)
    elsewhere = await chat.turn(bot)
    for replaced in (uuid4(), answer_id, elsewhere.id):
        with pytest.raises(NotFound, match=str(replaced)):
            await chat.begin(bot, "edited", conversation_id=question.conversation_id, replaces=replaced)
    assert await chat.branch(bot, question.conversation_id) == ["Why?", "Because."]


async def test_an_interrupted_question_can_be_tried_again(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 1)
    conversation_id = asked[0].conversation_id
    lost = await chat.begin(bot, "lost", conversation_id=conversation_id)
    await chat.turn(bot, "lost", "found", conversation_id=conversation_id, replaces=lost.id)
    assert await chat.branch(bot, conversation_id) == ["q0", "a0", "lost", "found"]


@pytest.mark.parametrize("limit", [1, 3, 5, 64, 200])
async def test_a_long_branch_is_read_in_pages(chat: ChatWorld, limit: int) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 67)
    conversation_id = asked[0].conversation_id
    expected = [f"{role}{number}" for number in range(67) for role in "qa"]
    for first in (0, 1, 62, 63, 64, 65, 128, 133):
        after = None
        if first:
            page = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=first)
            after = page[-1].id
        found = await chat.conversations.messages(chat.acme, conversation_id, after=after, limit=limit)
        assert [message.content for message in found] == expected[first : first + limit]


async def test_a_long_branch_is_read_after_edits_along_it(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 40)
    conversation_id = asked[0].conversation_id
    expected = [f"{role}{number}" for number in range(33) for role in "qa"]
    question = asked[33]
    for number in range(33, 66):
        question = await chat.turn(
            bot,
            f"e{number}",
            f"f{number}",
            conversation_id=conversation_id,
            replaces=question.id if number == 33 else None,
        )
        expected += [f"e{number}", f"f{number}"]
    assert await chat.branch(bot, conversation_id) == expected
    page = await chat.conversations.messages(chat.acme, conversation_id, after=asked[31].id, limit=5)
    assert [message.content for message in page] == ["a31", "q32", "a32", "e33", "f33"]


async def test_a_page_behind_the_last_message_is_empty(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    answer_id = await chat.finish(bot, question)
    found = await chat.conversations.messages(chat.acme, question.conversation_id, after=answer_id, limit=5)
    assert list(found) == []


async def test_reading_goes_on_at_the_same_place_when_the_branch_was_left_meanwhile(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 3)
    conversation_id = asked[0].conversation_id
    await chat.turn(bot, "e1", "f1", conversation_id=conversation_id, replaces=asked[1].id)
    found = await chat.conversations.messages(chat.acme, conversation_id, after=asked[1].id, limit=5)
    assert [message.content for message in found] == ["f1"]


async def test_a_cursor_that_is_no_message_of_the_conversation_is_not_found(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question, elsewhere = await chat.turn(bot), await chat.turn(bot)
    for cursor in (uuid4(), elsewhere.id):
        with pytest.raises(NotFound):
            await chat.conversations.messages(chat.acme, question.conversation_id, after=cursor, limit=5)
        with pytest.raises(NotFound):
            await chat.conversations.recent(chat.acme, question.conversation_id, limit=5, before=cursor)


async def test_the_model_sees_the_last_messages_oldest_first(chat: ChatWorld) -> None:
    asked = await talk(chat, await chat.bot(), 4)
    assert await seen(chat, asked[0].conversation_id, 4) == ["q2", "a2", "q3", "a3"]


async def test_an_odd_limit_begins_with_an_answer(chat: ChatWorld) -> None:
    asked = await talk(chat, await chat.bot(), 4)
    assert await seen(chat, asked[0].conversation_id, 5) == ["a1", "q2", "a2", "q3", "a3"]


async def test_the_model_sees_all_of_a_short_conversation(chat: ChatWorld) -> None:
    asked = await talk(chat, await chat.bot(), 2)
    assert await seen(chat, asked[0].conversation_id, 100) == ["q0", "a0", "q1", "a1"]
    assert await seen(chat, asked[0].conversation_id, 0) == []


async def test_the_model_does_not_see_the_running_question(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 1)
    await chat.begin(bot, "running", conversation_id=asked[0].conversation_id)
    assert await seen(chat, asked[0].conversation_id, 10) == ["q0", "a0"]


async def test_the_model_sees_nothing_of_turns_without_an_answer(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 1)
    conversation_id = asked[0].conversation_id
    failed = await chat.begin(bot, "failed", conversation_id=conversation_id)
    await chat.conversations.fail_turn(chat.acme, question_id=failed.id, problem={}, status=MessageStatus.FAILED)
    await chat.begin(bot, "interrupted", conversation_id=conversation_id)
    stopped = await chat.begin(bot, "stopped at once", conversation_id=conversation_id)
    await chat.finish(bot, stopped, "", status=MessageStatus.STOPPED)
    await chat.turn(bot, "q1", "a1", conversation_id=conversation_id)
    assert await seen(chat, conversation_id, 10) == ["q0", "a0", "q1", "a1"]


async def test_the_model_sees_a_partial_answer(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot, "q")
    await chat.finish(bot, question, "part", status=MessageStatus.STOPPED)
    assert await seen(chat, question.conversation_id, 10) == ["q", "part"]


async def test_an_edit_sees_the_branch_as_it_stood_before_its_question(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 4)
    conversation_id = asked[0].conversation_id
    assert await seen(chat, conversation_id, 2, before=asked[2].id) == ["q1", "a1"]
    assert await seen(chat, conversation_id, 2, before=asked[0].id) == []


async def test_an_edit_of_a_branch_that_was_left_sees_that_branch(chat: ChatWorld) -> None:
    bot = await chat.bot()
    asked = await talk(chat, bot, 3)
    conversation_id = asked[0].conversation_id
    await chat.turn(bot, "e0", "f0", conversation_id=conversation_id, replaces=asked[0].id)
    assert await seen(chat, conversation_id, 10) == ["e0", "f0"]
    assert await seen(chat, conversation_id, 10, before=asked[2].id) == ["q0", "a0", "q1", "a1"]


async def test_messages_of_an_unknown_conversation_are_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.conversations.messages(chat.acme, uuid4(), after=None, limit=5)
    with pytest.raises(NotFound):
        await chat.conversations.recent(chat.acme, uuid4(), limit=5)
