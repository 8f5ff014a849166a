"""What every store of conversations promises about the two ends of a turn, one fact a test."""

from uuid import uuid4

import pytest

from tests.support.chat_worlds import USAGE, ChatWorld, new_answer
from tributary.domain.conversations import MessageStatus, Role
from tributary.domain.errors import Conflict, InvalidRequest, NotFound
from tributary.domain.ids import new_id
from tributary.domain.retrieval import Source

pytest_plugins = ["tests.support.chat_fixtures"]

SOURCE = Source(
    number=1,
    source="Manuals (a.md)",
    relevanceScore=0.85,
    text="Größe „x“ …",
    knowledgeBaseId=str(uuid4()),
    documentId=str(uuid4()),
    chunkId=str(uuid4()),
    filename="a.md",
    page=None,
    start=0,
    end=10,
    vectorScore=0.1,
    textScore=1 / 3,
    importance=0.5,
    branches=["text"],
    cited=True,
)


async def test_a_question_is_running_until_its_turn_ends(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot, "Why?")
    assert (question.role, question.status, question.content) == (Role.USER, MessageStatus.RUNNING, "Why?")
    assert question.parent_id is None


async def test_a_question_keeps_what_it_was_sent_with(chat: ChatWorld) -> None:
    files = [await chat.attachment(filename=name) for name in ("ß.txt", "b.txt")]
    question = await chat.begin(await chat.bot(), attachments=files)
    [found] = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert found == question
    assert [each["filename"] for each in found.attachments] == ["ß.txt", "b.txt"]


async def test_a_question_that_can_not_be_stored_leaves_no_conversation(chat: ChatWorld) -> None:
    conversation_id = new_id()
    with pytest.raises(InvalidRequest):
        await chat.begin(await chat.bot(), "nul\x00", conversation_id=conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.acme, conversation_id)


async def test_an_answer_is_kept_with_its_sources_and_completes_the_question(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    details = {"degraded": [{"branch": "graph"}], "notSent": []}
    answer_id = await chat.finish(bot, question, "Because [1].", sources=[SOURCE], details=details)
    asked, answered = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert asked.status is MessageStatus.COMPLETE
    assert (answered.id, answered.parent_id, answered.role) == (answer_id, question.id, Role.ASSISTANT)
    assert (answered.content, answered.status) == ("Because [1].", MessageStatus.COMPLETE)
    assert (answered.sources, answered.usage) == ((SOURCE,), USAGE)
    assert (answered.model, answered.details) == ("local/extractive", details)


async def test_a_stopped_answer_keeps_what_was_written(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.finish(bot, question, "Beca", status=MessageStatus.STOPPED)
    asked, answered = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert (asked.status, answered.status, answered.content) == (
        MessageStatus.COMPLETE,
        MessageStatus.STOPPED,
        "Beca",
    )


@pytest.mark.parametrize("content", ["", " \n"])
async def test_an_answer_without_text_is_none_and_gives_the_question_its_status(chat: ChatWorld, content: str) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.finish(bot, question, content, status=MessageStatus.STOPPED, details={"notSent": []})
    [asked] = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert (asked.status, asked.usage, asked.details) == (MessageStatus.STOPPED, USAGE, {"notSent": []})


async def test_what_a_model_says_is_kept_even_if_not_every_character_can_be(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.finish(bot, question, "a\x00b\ud800c", details={"note\x00": ["\udfff", r"\u0000"]})
    _, answered = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert answered.content == "a�b�c"
    assert answered.details == {"note�": ["�", r"\u0000"]}


async def test_storing_the_same_answer_again_changes_nothing(chat: ChatWorld) -> None:
    """As a retry does whose first try was stored, and whose connection was lost before it heard so."""
    bot = await chat.bot()
    question, answer = await chat.begin(bot), new_answer()
    for _ in range(2):
        assert await chat.conversations.finish_turn(
            chat.acme, conversation_id=question.conversation_id, question_id=question.id, answer=answer
        )
    assert await chat.branch(bot, question.conversation_id) == ["Why?", "Because."]


async def test_a_second_answer_to_a_question_is_not_stored(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.turn(bot)
    assert not await chat.conversations.finish_turn(
        chat.acme, conversation_id=question.conversation_id, question_id=question.id, answer=new_answer("Again.")
    )
    assert await chat.branch(bot, question.conversation_id) == ["Why?", "Because."]


async def test_an_answer_to_an_interrupted_question_is_not_stored(chat: ChatWorld) -> None:
    bot = await chat.bot()
    first = await chat.begin(bot, "first")
    await chat.begin(bot, "second", conversation_id=first.conversation_id)
    assert not await chat.conversations.finish_turn(
        chat.acme, conversation_id=first.conversation_id, question_id=first.id, answer=new_answer()
    )
    assert await chat.branch(bot, first.conversation_id) == ["first", "second"]


async def test_an_answer_to_a_deleted_question_is_not_stored(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.conversations.delete(chat.acme, question.conversation_id)
    assert not await chat.conversations.finish_turn(
        chat.acme, conversation_id=question.conversation_id, question_id=question.id, answer=new_answer()
    )


async def test_an_answer_from_another_organisation_or_conversation_is_not_stored(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question, other = await chat.begin(bot), await chat.begin(bot)
    for organisation_id, conversation_id in (
        (chat.globex, question.conversation_id),
        (chat.acme, other.conversation_id),
    ):
        assert not await chat.conversations.finish_turn(
            organisation_id, conversation_id=conversation_id, question_id=question.id, answer=new_answer()
        )


async def test_beginning_a_turn_again_finds_its_question(chat: ChatWorld) -> None:
    bot, question_id, conversation_id = await chat.bot(), new_id(), new_id()
    first = await chat.begin(bot, question_id=question_id, conversation_id=conversation_id)
    again = await chat.begin(bot, question_id=question_id, conversation_id=conversation_id)
    assert again == first
    assert await chat.branch(bot, conversation_id) == ["Why?"]


async def test_a_question_that_was_answered_can_not_begin_again(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.turn(bot)
    with pytest.raises(Conflict):
        await chat.begin(bot, question_id=question.id, conversation_id=question.conversation_id)


async def test_a_question_can_not_begin_in_two_conversations(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    with pytest.raises(Conflict):
        await chat.begin(bot, question_id=question.id)


async def test_a_failed_turn_keeps_its_question_and_the_problem(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.conversations.fail_turn(
        chat.acme, question_id=question.id, problem={"code": "provider_error"}, status=MessageStatus.FAILED
    )
    [asked] = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert (asked.status, asked.details) == (MessageStatus.FAILED, {"problem": {"code": "provider_error"}})


async def test_a_turn_that_was_taken_over_may_still_say_why_it_failed(chat: ChatWorld) -> None:
    bot = await chat.bot()
    first = await chat.begin(bot, "first")
    await chat.begin(bot, "second", conversation_id=first.conversation_id)
    await chat.conversations.fail_turn(
        chat.acme, question_id=first.id, problem={"code": "provider_error"}, status=MessageStatus.FAILED
    )
    asked, _ = await chat.conversations.messages(chat.acme, first.conversation_id, after=None, limit=5)
    assert asked.status is MessageStatus.FAILED


async def test_an_answered_question_can_not_fail(chat: ChatWorld) -> None:
    question = await chat.turn(await chat.bot())
    await chat.conversations.fail_turn(chat.acme, question_id=question.id, problem={}, status=MessageStatus.FAILED)
    asked, _ = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert (asked.status, asked.details) == (MessageStatus.COMPLETE, {})


async def test_a_turn_of_another_organisation_can_not_be_failed(chat: ChatWorld) -> None:
    question = await chat.begin(await chat.bot())
    await chat.conversations.fail_turn(chat.globex, question_id=question.id, problem={}, status=MessageStatus.FAILED)
    [asked] = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    assert asked.status is MessageStatus.RUNNING


async def test_a_trace_is_kept_with_its_answer(chat: ChatWorld) -> None:
    bot = await chat.bot()
    answer_id = await chat.finish(bot, await chat.begin(bot))
    await chat.conversations.save_trace(chat.acme, answer_id, {"nodes": [{"name": "rerank", "seconds": 0.1}]})
    trace = await chat.conversations.trace(chat.acme, answer_id)
    assert trace == {"nodes": [{"name": "rerank", "seconds": 0.1}]}


async def test_a_trace_of_a_message_that_is_gone_or_foreign_is_dropped(chat: ChatWorld) -> None:
    bot = await chat.bot()
    answer_id = await chat.finish(bot, await chat.begin(bot))
    await chat.conversations.save_trace(chat.acme, new_id(), {})
    await chat.conversations.save_trace(chat.globex, answer_id, {})
    with pytest.raises(NotFound):
        await chat.conversations.trace(chat.acme, answer_id)


@pytest.mark.parametrize("status", [MessageStatus.FAILED, MessageStatus.INTERRUPTED])
async def test_a_part_of_an_answer_is_kept_and_leaves_its_question_open_to_another_try(
    chat: ChatWorld, status: MessageStatus
) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    problem = {"code": "provider_error", "detail": "cut off"}
    await chat.finish(bot, question, "Half an", status=status, details={"problem": problem, "degraded": []})
    asked, part = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=9)
    assert (asked.status, asked.details) == (status, {"problem": problem})
    assert (part.content, part.status, part.details["problem"]) == ("Half an", status, problem)
    assert list(await chat.conversations.recent(chat.acme, question.conversation_id, limit=9)) == []
    again = await chat.begin(bot, conversation_id=question.conversation_id, replaces=question.id)
    assert again.parent_id is None


async def test_a_problem_that_is_told_after_a_part_of_an_answer_changes_nothing_of_it(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    await chat.finish(bot, question, "Half", status=MessageStatus.FAILED, details={"problem": {"code": "first"}})
    await chat.conversations.fail_turn(
        chat.acme, question_id=question.id, problem={"code": "second"}, status=MessageStatus.INTERRUPTED
    )
    asked, _ = await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=9)
    assert (asked.status, asked.details["problem"]["code"]) == (MessageStatus.FAILED, "first")
