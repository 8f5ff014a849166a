"""What every store of conversations promises about finding, naming and listing them, one fact a test."""

from uuid import uuid4

import pytest

from stores.titles import MAX_TITLE
from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import Conflict, InvalidRequest, NotFound
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]


async def test_the_first_question_makes_the_conversation(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot, "  What is\n a tributary? ")
    found = await chat.conversations.get(chat.acme, question.conversation_id)
    assert (found.id, found.bot_id, found.organisation_id) == (question.conversation_id, bot.id, chat.acme)
    assert found.title == "What is a tributary?"


async def test_a_long_question_makes_a_short_title(chat: ChatWorld) -> None:
    question = await chat.begin(await chat.bot(), "why " * 100)
    found = await chat.conversations.get(chat.acme, question.conversation_id)
    assert len(found.title) <= MAX_TITLE
    assert found.title.endswith("…")


async def test_a_question_of_files_alone_is_titled_after_the_first(chat: ChatWorld) -> None:
    files = [await chat.attachment(filename=name) for name in ("plan.pdf", "notes.txt")]
    question = await chat.begin(await chat.bot(), "", attachments=files)
    assert (await chat.conversations.get(chat.acme, question.conversation_id)).title == "plan.pdf"


async def test_the_second_question_keeps_the_title(chat: ChatWorld) -> None:
    bot = await chat.bot()
    first = await chat.turn(bot, "first")
    await chat.begin(bot, "second", conversation_id=first.conversation_id)
    assert (await chat.conversations.get(chat.acme, first.conversation_id)).title == "first"


async def test_each_turn_moves_the_time_of_the_last_change(chat: ChatWorld) -> None:
    bot = await chat.bot()
    first = await chat.turn(bot)
    before = await chat.conversations.get(chat.acme, first.conversation_id)
    await chat.turn(bot, conversation_id=first.conversation_id)
    after = await chat.conversations.get(chat.acme, first.conversation_id)
    assert after.updated_at > before.updated_at
    assert after.created_at == before.created_at


async def test_an_unknown_conversation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.acme, uuid4())


async def test_a_question_to_an_unknown_bot_is_not_found(chat: ChatWorld) -> None:
    known = await chat.bot()
    unknown = type(known)(**{field: getattr(known, field) for field in known.__slots__} | {"id": uuid4()})
    with pytest.raises(NotFound, match="bot"):
        await chat.begin(unknown)


async def test_a_conversation_belongs_to_its_bot(chat: ChatWorld) -> None:
    question = await chat.turn(await chat.bot())
    with pytest.raises(Conflict):
        await chat.begin(await chat.bot(), "intruder", conversation_id=question.conversation_id)
    messages = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=10)
    assert [message.content for message in messages] == ["Why?", "Because."]


@pytest.mark.parametrize("title", ["Größe «π»", 'it\'s "quoted"; DROP TABLE conversations; --', "💧", ""])
async def test_a_conversation_can_be_renamed(chat: ChatWorld, title: str) -> None:
    question = await chat.turn(await chat.bot())
    renamed = await chat.conversations.rename(chat.acme, question.conversation_id, title)
    assert renamed.title == title
    assert await chat.conversations.get(chat.acme, question.conversation_id) == renamed


async def test_a_title_that_can_not_be_stored_is_refused(chat: ChatWorld) -> None:
    question = await chat.turn(await chat.bot())
    with pytest.raises(InvalidRequest):
        await chat.conversations.rename(chat.acme, question.conversation_id, "nul\x00")


async def test_renaming_an_unknown_conversation_is_not_found(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.conversations.rename(chat.acme, uuid4(), "title")


async def test_conversations_are_listed_in_pages_newest_first(chat: ChatWorld) -> None:
    bot = await chat.bot()
    made = [(await chat.turn(bot)).conversation_id for _ in range(5)]
    first = await chat.conversations.list(chat.acme, bot_id=None, before=None, limit=2)
    second = await chat.conversations.list(chat.acme, bot_id=None, before=first[-1].id, limit=2)
    last = await chat.conversations.list(chat.acme, bot_id=None, before=second[-1].id, limit=2)
    assert [each.id for each in (*first, *second, *last)] == made[::-1]


async def test_conversations_of_one_bot_are_listed_in_pages(chat: ChatWorld) -> None:
    bot, other = await chat.bot(), await chat.bot()
    made = []
    for _ in range(3):
        made.append((await chat.turn(bot)).conversation_id)
        await chat.turn(other)
    first = await chat.conversations.list(chat.acme, bot_id=bot.id, before=None, limit=2)
    rest = await chat.conversations.list(chat.acme, bot_id=bot.id, before=first[-1].id, limit=2)
    assert [each.id for each in (*first, *rest)] == made[::-1]


async def test_an_unknown_bot_has_no_conversations(chat: ChatWorld) -> None:
    await chat.turn(await chat.bot())
    assert list(await chat.conversations.list(chat.acme, bot_id=uuid4(), before=None, limit=5)) == []


async def test_another_organisation_can_not_find_list_rename_or_delete_a_conversation(chat: ChatWorld) -> None:
    bot = await chat.bot()
    conversation_id = (await chat.turn(bot)).conversation_id
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.globex, conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.rename(chat.globex, conversation_id, "taken over")
    with pytest.raises(NotFound):
        await chat.conversations.delete(chat.globex, conversation_id)
    for bot_id in (None, bot.id):
        assert list(await chat.conversations.list(chat.globex, bot_id=bot_id, before=None, limit=5)) == []
    assert (await chat.conversations.get(chat.acme, conversation_id)).title == "Why?"


async def test_another_organisation_can_not_read_messages_or_traces(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    answer_id = await chat.finish(bot, question)
    await chat.conversations.save_trace(chat.acme, answer_id, {"nodes": []})
    with pytest.raises(NotFound):
        await chat.conversations.messages(chat.globex, question.conversation_id, after=None, limit=5)
    with pytest.raises(NotFound):
        await chat.conversations.recent(chat.globex, question.conversation_id, limit=5)
    with pytest.raises(NotFound):
        await chat.conversations.trace(chat.globex, answer_id)


async def test_a_turn_of_another_organisation_makes_a_conversation_of_its_own(chat: ChatWorld) -> None:
    """Even under the same id: what stands in the first one is neither seen nor touched."""
    conversation_id = new_id()
    await chat.turn(await chat.bot(), "acme's", conversation_id=conversation_id)
    foreign = await chat.bot(chat.globex)
    await chat.turn(foreign, "globex's", conversation_id=conversation_id)
    mine = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=5)
    theirs = await chat.conversations.messages(chat.globex, conversation_id, after=None, limit=5)
    assert [messages[0].content for messages in (mine, theirs)] == ["acme's", "globex's"]


async def test_a_turn_with_a_bot_of_another_organisation_is_not_found(chat: ChatWorld) -> None:
    foreign = await chat.bot(chat.globex)
    with pytest.raises(NotFound):
        await chat.conversations.begin_turn(
            chat.acme,
            conversation_id=new_id(),
            bot_id=foreign.id,
            question_id=new_id(),
            content="Why?",
            attachments=[],
        )


async def test_a_conversation_says_whether_it_is_being_answered(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question, other = await chat.begin(bot), await chat.turn(bot)

    async def running() -> set[bool]:
        found = await chat.conversations.list(chat.acme, bot_id=None, before=None, limit=10)
        assert [each.id for each in found] == [other.conversation_id, question.conversation_id]
        assert found[0].running is False
        one = await chat.conversations.get(chat.acme, question.conversation_id)
        named = await chat.conversations.rename(chat.acme, question.conversation_id, "Ferries")
        return {found[1].running, one.running, named.running}

    assert await running() == {True}
    await chat.finish(bot, question)
    assert await running() == {False}
