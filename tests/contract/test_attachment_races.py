"""Attachments on PostgreSQL that are used, removed and shared at the same moment: whoever wins, nothing dangles."""

import asyncio
from collections.abc import Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.chat_worlds import ChatWorld
from tributary.domain.attachments import Attachment
from tributary.domain.bots import Bot
from tributary.domain.conversations import Message
from tributary.domain.errors import Conflict, NotFound
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]

ROUNDS = 12


async def exists(chat: ChatWorld, attachment: Attachment) -> bool:
    try:
        await chat.attachments.get(chat.acme, attachment.id)
    except NotFound:
        return False
    return True


async def race(
    chat: ChatWorld, bot: Bot, attachment: Attachment, removal: Coroutine[Any, Any, Sequence[Attachment]]
) -> bool:
    """Begins a turn with the attachment while it is removed; whether the turn won."""
    begun, removed = await asyncio.gather(
        chat.begin(bot, attachments=[attachment]),
        removal,
        return_exceptions=True,
    )
    assert isinstance(begun, Message | NotFound), begun
    assert isinstance(removed, Sequence | Conflict), removed
    used = isinstance(begun, Message)
    assert await exists(chat, attachment) is used
    return used


async def test_a_turn_and_the_removal_of_unused_files_never_both_win(postgres_chat: ChatWorld) -> None:
    bot = await postgres_chat.bot()
    for _ in range(ROUNDS):
        file = await postgres_chat.attachment()
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        await race(postgres_chat, bot, file, postgres_chat.attachments.take_unused(postgres_chat.acme, tomorrow))


async def test_a_turn_and_a_deletion_never_both_win(postgres_chat: ChatWorld) -> None:
    bot = await postgres_chat.bot()
    for _ in range(ROUNDS):
        file = await postgres_chat.attachment()
        await race(postgres_chat, bot, file, postgres_chat.attachments.delete(postgres_chat.acme, [file.id]))


async def test_a_file_that_a_turn_begins_to_use_outlives_the_conversation_that_is_deleted(
    postgres_chat: ChatWorld,
) -> None:
    bot = await postgres_chat.bot()
    for _ in range(ROUNDS):
        file = await postgres_chat.attachment()
        first = await postgres_chat.turn(bot, attachments=[file])
        deletion = postgres_chat.conversations.delete(postgres_chat.acme, first.conversation_id)
        await race(postgres_chat, bot, file, deletion)


async def test_conversations_that_share_files_can_be_deleted_at_once(postgres_chat: ChatWorld) -> None:
    bot = await postgres_chat.bot()
    files = [await postgres_chat.attachment() for _ in range(5)]
    asked = [await postgres_chat.turn(bot, attachments=files[::step]) for step in (1, -1, 1, -1)]
    removed = await asyncio.gather(
        *(postgres_chat.conversations.delete(postgres_chat.acme, each.conversation_id) for each in asked)
    )
    assert sorted(each.id for part in removed for each in part) == sorted(each.id for each in files)


async def test_turns_with_the_same_files_in_any_order_begin_at_once(postgres_chat: ChatWorld) -> None:
    bot = await postgres_chat.bot()
    files = [await postgres_chat.attachment() for _ in range(5)]
    begun = await asyncio.gather(
        *(postgres_chat.begin(bot, attachments=files[:: 1 if n % 2 else -1]) for n in range(ROUNDS))
    )
    assert len({question.id for question in begun}) == ROUNDS


async def test_an_answer_and_the_next_question_at_once_leave_a_well_formed_branch(postgres_chat: ChatWorld) -> None:
    """As when the hold of a turn was lost: either is first, and the loser is told."""
    chat, bot = postgres_chat, await postgres_chat.bot()
    for _ in range(ROUNDS):
        conversation_id = new_id()
        first = await chat.begin(bot, "first", conversation_id=conversation_id)
        outcomes = await asyncio.gather(
            chat.finish(bot, first, "answer"),
            chat.begin(bot, "second", conversation_id=conversation_id),
            return_exceptions=True,
        )
        stored = not isinstance(outcomes[0], AssertionError)
        expected = ["first", "answer", "second"] if stored else ["first", "second"]
        assert await chat.branch(bot, conversation_id) == expected
