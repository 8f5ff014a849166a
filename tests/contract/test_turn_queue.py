"""What every queue of turns promises, one fact a test. `other_queue` is that of a second process, where the backend
knows more than one."""

import asyncio
from uuid import UUID

import pytest

from tests.support.chat_worlds import ChatWorld
from tributary.domain.conversations import MessageStatus, Role
from tributary.domain.errors import RateLimited
from tributary.domain.ids import new_id

pytest_plugins = ["tests.support.chat_fixtures"]


async def status_of(chat: ChatWorld, conversation_id: UUID) -> list[MessageStatus]:
    found = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=50)
    return [message.status for message in found]


async def test_ten_parallel_turns_of_two_processes_make_a_well_formed_history(chat: ChatWorld) -> None:
    bot, conversation_id = await chat.bot(), new_id()
    running = 0

    async def turn(number: int) -> None:
        nonlocal running
        queue = (chat.queue, chat.other_queue)[number % 2]
        async with queue.turn(chat.acme, conversation_id, timeout=60):
            running += 1
            question = await chat.begin(bot, f"q{number}", conversation_id=conversation_id)
            assert running == 1
            await chat.finish(bot, question, f"a{number}")
            running -= 1

    await asyncio.gather(*(turn(number) for number in range(10)))
    messages = await chat.conversations.messages(chat.acme, conversation_id, after=None, limit=50)
    assert [message.role for message in messages] == [Role.USER, Role.ASSISTANT] * 10
    assert {message.status for message in messages} == {MessageStatus.COMPLETE}
    questions, answers = messages[::2], messages[1::2]
    assert [each.content[1:] for each in questions] == [each.content[1:] for each in answers]
    assert len({each.content for each in questions}) == 10


async def test_turns_of_one_process_are_served_in_the_order_they_came(chat: ChatWorld) -> None:
    conversation_id, served = new_id(), list[int]()

    async def turn(number: int) -> None:
        async with chat.queue.turn(chat.acme, conversation_id, timeout=60):
            served.append(number)

    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        waiting = [asyncio.create_task(turn(number)) for number in range(8)]
        await asyncio.sleep(0)
    await asyncio.gather(*waiting)
    assert served == list(range(8))


async def test_conversations_do_not_wait_for_each_other(chat: ChatWorld) -> None:
    conversation_id = new_id()
    async with (
        chat.queue.turn(chat.acme, conversation_id, timeout=1),
        chat.queue.turn(chat.acme, new_id(), timeout=0),
        chat.other_queue.turn(chat.acme, new_id(), timeout=0),
        chat.queue.turn(chat.globex, conversation_id, timeout=0),
    ):
        pass


async def test_a_turn_that_can_not_start_in_time_is_told_to_come_back(chat: ChatWorld) -> None:
    conversation_id = new_id()
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        for queue in (chat.queue, chat.other_queue):
            with pytest.raises(RateLimited) as refusal:
                async with queue.turn(chat.acme, conversation_id, timeout=0.02):
                    pass
            assert refusal.value.retry_after is not None


async def test_a_turn_that_gave_up_is_not_in_the_way(chat: ChatWorld) -> None:
    conversation_id = new_id()
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        with pytest.raises(RateLimited):
            async with chat.queue.turn(chat.acme, conversation_id, timeout=0.01):
                pass
    async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
        pass


async def test_a_turn_that_fails_lets_go(chat: ChatWorld) -> None:
    conversation_id = new_id()
    with pytest.raises(LookupError):
        async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
            raise LookupError
    async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
        pass


async def test_a_timeout_inside_a_turn_stays_what_it_is(chat: ChatWorld) -> None:
    with pytest.raises(TimeoutError):
        async with chat.queue.turn(chat.acme, new_id(), timeout=1):
            raise TimeoutError


async def test_a_cancelled_turn_lets_go(chat: ChatWorld) -> None:
    conversation_id, started = new_id(), asyncio.Event()

    async def turn() -> None:
        async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(turn())
    await started.wait()
    task.cancel()
    await asyncio.wait([task])
    async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
        pass


async def test_turns_that_are_cancelled_while_they_wait_are_not_in_the_way(chat: ChatWorld) -> None:
    """Wherever the cancellation meets them: in line, at the lock, or just as they are served."""
    conversation_id = new_id()

    async def turn() -> None:
        async with chat.queue.turn(chat.acme, conversation_id, timeout=5):
            pass

    for steps in range(12):
        async with chat.other_queue.turn(chat.acme, conversation_id, timeout=5):
            tasks = [asyncio.create_task(turn()) for _ in range(2)]
            await asyncio.sleep(0)
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        async with chat.other_queue.turn(chat.acme, conversation_id, timeout=5):
            pass


async def test_a_claim_gets_what_no_turn_holds(chat: ChatWorld) -> None:
    held, held_elsewhere, free = new_id(), new_id(), new_id()
    async with (
        chat.queue.turn(chat.acme, held, timeout=1),
        chat.other_queue.turn(chat.acme, held_elsewhere, timeout=1),
        chat.queue.claim(chat.acme, [held, free, held_elsewhere, free]) as claimed,
    ):
        assert list(claimed) == [free]


async def test_no_turn_starts_in_what_is_claimed(chat: ChatWorld) -> None:
    conversation_id = new_id()
    async with chat.queue.claim(chat.acme, [conversation_id]):
        for queue in (chat.queue, chat.other_queue):
            with pytest.raises(RateLimited):
                async with queue.turn(chat.acme, conversation_id, timeout=0.01):
                    pass
    async with chat.other_queue.turn(chat.acme, conversation_id, timeout=1):
        pass


async def test_it_is_seen_from_everywhere_that_a_conversation_is_held(chat: ChatWorld) -> None:
    conversation_id = new_id()
    for queue in (chat.queue, chat.other_queue):
        assert not await queue.held(chat.acme, conversation_id)
    async with chat.queue.turn(chat.acme, conversation_id, timeout=1):
        for queue in (chat.queue, chat.other_queue):
            assert await queue.held(chat.acme, conversation_id)
            assert not await queue.held(chat.globex, conversation_id)
            assert not await queue.held(chat.acme, new_id())
    assert not await chat.other_queue.held(chat.acme, conversation_id)


async def test_a_claim_on_nothing_gets_nothing(chat: ChatWorld) -> None:
    async with chat.queue.claim(chat.acme, []) as claimed:
        assert list(claimed) == []


async def test_a_running_question_that_nobody_holds_is_an_orphan(chat: ChatWorld) -> None:
    bot = await chat.bot()
    orphans = [await chat.begin(bot), await chat.begin(bot)]
    finished = await chat.turn(bot)
    assert await chat.conversations.interrupt_orphans(chat.acme) == 2
    for orphan in orphans:
        assert await status_of(chat, orphan.conversation_id) == [MessageStatus.INTERRUPTED]
    assert await status_of(chat, finished.conversation_id) == [MessageStatus.COMPLETE] * 2
    assert await chat.conversations.interrupt_orphans(chat.acme) == 0


async def test_a_question_whose_turn_is_held_is_no_orphan(chat: ChatWorld) -> None:
    bot, conversations = await chat.bot(), [new_id(), new_id()]
    async with (
        chat.queue.turn(chat.acme, conversations[0], timeout=1),
        chat.other_queue.turn(chat.acme, conversations[1], timeout=1),
    ):
        for conversation_id in conversations:
            await chat.begin(bot, conversation_id=conversation_id)
        assert await chat.conversations.interrupt_orphans(chat.acme) == 0
    for conversation_id in conversations:
        assert await status_of(chat, conversation_id) == [MessageStatus.RUNNING]


async def test_orphans_of_another_organisation_are_left_alone(chat: ChatWorld) -> None:
    question = await chat.begin(await chat.bot())
    assert await chat.conversations.interrupt_orphans(chat.globex) == 0
    assert await status_of(chat, question.conversation_id) == [MessageStatus.RUNNING]


async def test_a_turn_that_begins_interrupts_the_one_that_lost_its_hold(chat: ChatWorld) -> None:
    """Whoever begins holds the conversation: what still runs then has nobody who would finish it."""
    bot = await chat.bot()
    lost = await chat.begin(bot, "lost")
    async with chat.queue.turn(chat.acme, lost.conversation_id, timeout=1):
        await chat.begin(bot, "next", conversation_id=lost.conversation_id)
    assert await status_of(chat, lost.conversation_id) == [MessageStatus.INTERRUPTED, MessageStatus.RUNNING]


async def test_of_turns_that_begin_at_once_without_a_hold_one_is_left_running(chat: ChatWorld) -> None:
    bot, conversation_id = await chat.bot(), new_id()
    await asyncio.gather(*(chat.begin(bot, f"q{number}", conversation_id=conversation_id) for number in range(6)))
    statuses = await status_of(chat, conversation_id)
    assert statuses == [MessageStatus.INTERRUPTED] * 5 + [MessageStatus.RUNNING]
