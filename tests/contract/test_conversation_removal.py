"""What every store of conversations promises about deleting them, one fact a test."""

from uuid import UUID, uuid4

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from tests.support.chat_worlds import ChatWorld
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id, thread_id

pytest_plugins = ["tests.support.chat_fixtures"]


async def keep_state(chat: ChatWorld, conversation_id: UUID) -> RunnableConfig:
    """A checkpoint of the conversation, with a channel that needs a row of its own; where it is found again."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_id(chat.acme, conversation_id), "checkpoint_ns": ""}}
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"] = {"files": ["a.md"]}
    checkpoint["channel_versions"] = {"files": "1"}
    saver = chat.checkpoints.saver()
    written = await saver.aput(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {"files": "1"})
    await saver.aput_writes(written, [("files", ["b.md"])], task_id="task")
    return config


async def test_a_deleted_conversation_is_gone_with_its_messages_and_traces(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    answer_id = await chat.finish(bot, question)
    await chat.conversations.save_trace(chat.acme, answer_id, {})
    assert list(await chat.conversations.delete(chat.acme, question.conversation_id)) == []
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.acme, question.conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.messages(chat.acme, question.conversation_id, after=None, limit=5)
    with pytest.raises(NotFound):
        await chat.conversations.trace(chat.acme, answer_id)


async def test_all_its_branches_go(chat: ChatWorld) -> None:
    bot = await chat.bot()
    first = await chat.turn(bot)
    await chat.turn(bot, conversation_id=first.conversation_id)
    await chat.turn(bot, conversation_id=first.conversation_id, replaces=first.id)
    await chat.conversations.delete(chat.acme, first.conversation_id)
    assert list(await chat.conversations.list(chat.acme, bot_id=bot.id, before=None, limit=5)) == []


async def test_other_conversations_stay(chat: ChatWorld) -> None:
    bot = await chat.bot()
    deleted, kept = await chat.turn(bot), await chat.turn(bot)
    await chat.conversations.delete(chat.acme, deleted.conversation_id)
    assert await chat.branch(bot, kept.conversation_id) == ["Why?", "Because."]


async def test_its_attachments_are_removed_and_returned(chat: ChatWorld) -> None:
    bot, files = await chat.bot(), [await chat.attachment(filename=name) for name in ("a.txt", "b.txt")]
    unused = await chat.attachment()
    question = await chat.turn(bot, attachments=files)
    removed = await chat.conversations.delete(chat.acme, question.conversation_id)
    assert {each.storage_key for each in removed} == {each.storage_key for each in files}
    for each in files:
        with pytest.raises(NotFound):
            await chat.attachments.get(chat.acme, each.id)
    assert await chat.attachments.get(chat.acme, unused.id) == unused


async def test_an_attachment_lives_until_the_last_conversation_that_used_it_is_deleted(chat: ChatWorld) -> None:
    bot, shared = await chat.bot(), await chat.attachment()
    first = await chat.turn(bot, attachments=[shared])
    second = await chat.turn(bot, attachments=[shared])
    assert list(await chat.conversations.delete(chat.acme, first.conversation_id)) == []
    assert (await chat.attachments.get(chat.acme, shared.id)).conversation_id == second.conversation_id
    [removed] = await chat.conversations.delete(chat.acme, second.conversation_id)
    assert removed.id == shared.id


async def test_its_checkpoints_go_and_those_of_others_stay(chat: ChatWorld) -> None:
    bot = await chat.bot()
    deleted, kept = await chat.turn(bot), await chat.turn(bot)
    gone = await keep_state(chat, deleted.conversation_id)
    stays = await keep_state(chat, kept.conversation_id)
    await chat.conversations.delete(chat.acme, deleted.conversation_id)
    saver = chat.checkpoints.saver()
    assert await saver.aget_tuple(gone) is None
    left = await saver.aget_tuple(stays)
    assert left is not None
    assert left.checkpoint["channel_values"] == {"files": ["a.md"]}
    assert left.pending_writes == [("task", "files", ["b.md"])]


async def test_a_conversation_with_a_running_turn_stays_with_everything(chat: ChatWorld) -> None:
    bot, file = await chat.bot(), await chat.attachment()
    question = await chat.turn(bot, attachments=[file])
    config = await keep_state(chat, question.conversation_id)
    for queue in (chat.queue, chat.other_queue):
        async with queue.turn(chat.acme, question.conversation_id, timeout=1):
            with pytest.raises(Conflict):
                await chat.conversations.delete(chat.acme, question.conversation_id)
    assert await chat.branch(bot, question.conversation_id) == ["Why?", "Because."]
    assert await chat.checkpoints.saver().aget_tuple(config) is not None
    assert await chat.attachments.get(chat.acme, file.id)


async def test_a_conversation_whose_turn_lost_its_process_can_be_deleted(chat: ChatWorld) -> None:
    question = await chat.begin(await chat.bot())
    await chat.conversations.delete(chat.acme, question.conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.get(chat.acme, question.conversation_id)


async def test_an_unknown_conversation_can_not_be_deleted(chat: ChatWorld) -> None:
    conversation_id = new_id()
    with pytest.raises(NotFound):
        await chat.conversations.delete(chat.acme, uuid4())
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        with pytest.raises(NotFound):
            await chat.conversations.delete(chat.acme, conversation_id)


async def test_a_conversation_can_be_deleted_once(chat: ChatWorld) -> None:
    question = await chat.turn(await chat.bot())
    await chat.conversations.delete(chat.acme, question.conversation_id)
    with pytest.raises(NotFound):
        await chat.conversations.delete(chat.acme, question.conversation_id)
