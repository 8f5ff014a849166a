"""What every ledger of usage promises, in memory and on PostgreSQL."""

import asyncio
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from tests.support.chat_worlds import ChatWorld, new_answer
from tributary.domain.conversations import MessageStatus
from tributary.domain.errors import BudgetExceeded, NotFound
from tributary.domain.identity import Limits
from tributary.domain.ids import new_id
from tributary.domain.usage import Bill, Grouping, Spent, UsageFilter, UsageKind, UsageTotals

NOTHING = Decimal(0)


def spent(model: str = "openrouter/a/b", kind: UsageKind = UsageKind.CHAT, **changes: Any) -> Spent:
    values: dict[str, Any] = {"calls": 1, "input_tokens": 100, "output_tokens": 20, "total_tokens": 120}
    return Spent(new_id(), kind, model, **(values | {"cost": Decimal("0.002")} | changes))


def lately(**named: UUID) -> UsageFilter:
    today = datetime.now(UTC).date()
    return UsageFilter(today - timedelta(days=1), today + timedelta(days=1), **named)


async def limit(chat: ChatWorld, budget: float | None) -> None:
    await chat.identity.set_limits(chat.acme, Limits(monthly_budget=budget))


async def test_what_was_spent_adds_up(chat: ChatWorld) -> None:
    await chat.usage.record(chat.acme, Bill((spent(), spent(estimated_calls=1))))
    await chat.usage.record(chat.acme, Bill((spent(calls=2, cost=Decimal("0.0000000001")),)))

    assert await chat.usage.totals(chat.acme, lately()) == UsageTotals(
        calls=4,
        input_tokens=300,
        output_tokens=60,
        total_tokens=360,
        cost=Decimal("0.0040000001"),
        unpriced_calls=0,
        estimated_calls=1,
    )


async def test_nothing_spent_costs_nothing(chat: ChatWorld) -> None:
    assert await chat.usage.totals(chat.acme, lately()) == UsageTotals()
    assert await chat.usage.groups(chat.acme, lately(), [Grouping.DAY], limit=10) == []


async def test_an_unknown_cost_is_none_and_counted_and_never_zero(chat: ChatWorld) -> None:
    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal(0), unpriced_calls=1),)))
    alone = await chat.usage.totals(chat.acme, lately())
    await chat.usage.record(chat.acme, Bill((spent(),)))
    beside = await chat.usage.totals(chat.acme, lately())

    assert (alone.cost, alone.unpriced_calls) == (None, 1)
    assert (beside.cost, beside.unpriced_calls) == (Decimal("0.002"), 1)


async def test_a_bill_that_comes_in_twice_counts_once(chat: ChatWorld) -> None:
    bill = Bill((spent(),))

    await chat.usage.record(chat.acme, bill)
    await chat.usage.record(chat.acme, bill)

    assert (await chat.usage.totals(chat.acme, lately())).calls == 1
    assert (await chat.usage.month(chat.acme)).spent == Decimal("0.002")


async def test_usage_is_told_apart_by_day_model_and_bot(chat: ChatWorld) -> None:
    bot = new_id()
    await chat.usage.record(chat.acme, Bill((spent("openai/x"), spent("google/y")), bot_id=bot))
    await chat.usage.record(chat.acme, Bill((spent("google/y"), spent("gemini/z", UsageKind.EMBEDDING))))

    groups = await chat.usage.groups(chat.acme, lately(), [Grouping.DAY, Grouping.MODEL, Grouping.BOT], limit=10)
    kinds = await chat.usage.groups(chat.acme, lately(), [Grouping.KIND], limit=10)

    today = groups[0].key[Grouping.DAY]
    assert isinstance(today, date)
    assert [tuple(group.key.values()) for group in groups] == [
        (today, "gemini/z", None),
        (today, "google/y", bot),
        (today, "google/y", None),
        (today, "openai/x", bot),
    ]
    assert [(group.key[Grouping.KIND], group.totals.calls) for group in kinds] == [("chat", 3), ("embedding", 1)]
    assert len(await chat.usage.groups(chat.acme, lately(), [Grouping.MODEL], limit=2)) == 2


@pytest.mark.parametrize("name", ["bot_id", "conversation_id", "message_id", "knowledge_base_id"])
async def test_usage_is_filtered_by_what_it_was_for(chat: ChatWorld, name: str) -> None:
    wanted: dict[str, Any] = {name: new_id()}
    other: dict[str, Any] = {name: new_id()}
    for named in (wanted, other, {}):
        await chat.usage.record(chat.acme, Bill((spent(),), **named))

    assert (await chat.usage.totals(chat.acme, lately(**wanted))).calls == 1
    assert (await chat.usage.totals(chat.acme, lately(**{name: new_id()}))).calls == 0


async def test_usage_is_filtered_by_whole_days(chat: ChatWorld) -> None:
    await chat.usage.record(chat.acme, Bill((spent(),)))
    [group] = await chat.usage.groups(chat.acme, lately(), [Grouping.DAY], limit=10)
    day = group.key[Grouping.DAY]
    assert isinstance(day, date)

    assert (await chat.usage.totals(chat.acme, UsageFilter(day, day))).calls == 1
    before, after = day - timedelta(days=1), day + timedelta(days=1)
    assert (await chat.usage.totals(chat.acme, UsageFilter(before, before))).calls == 0
    assert (await chat.usage.totals(chat.acme, UsageFilter(after, after))).calls == 0


async def test_another_organisation_sees_and_pays_nothing(chat: ChatWorld) -> None:
    await chat.usage.record(chat.acme, Bill((spent(),)))

    assert await chat.usage.totals(chat.globex, lately()) == UsageTotals()
    assert (await chat.usage.month(chat.globex)).spent == 0
    months = await chat.usage.months()
    assert (months[chat.acme].spent, months[chat.globex].spent) == (Decimal("0.002"), NOTHING)


async def test_an_answer_is_stored_with_its_bill(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    answer = new_answer(bill=Bill((spent(),), bot_id=bot.id, conversation_id=question.conversation_id))

    for _ in range(2):
        assert await chat.conversations.finish_turn(
            chat.acme, conversation_id=question.conversation_id, question_id=question.id, answer=answer
        )

    found = await chat.usage.totals(chat.acme, lately(conversation_id=question.conversation_id, bot_id=bot.id))
    assert found.calls == 1


async def test_a_turn_whose_question_is_gone_is_paid_for_all_the_same(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.turn(bot)

    stored = await chat.conversations.finish_turn(
        chat.acme,
        conversation_id=question.conversation_id,
        question_id=question.id,
        answer=new_answer(bill=Bill((spent(),))),
    )

    assert not stored
    assert (await chat.usage.totals(chat.acme, lately())).calls == 1


async def test_a_failed_turn_is_paid_for(chat: ChatWorld) -> None:
    question = await chat.begin(await chat.bot())
    bill = Bill((spent(),), message_id=question.id)

    for _ in range(2):
        await chat.conversations.fail_turn(
            chat.acme, question_id=question.id, problem={}, status=MessageStatus.FAILED, bill=bill
        )

    assert (await chat.usage.totals(chat.acme, lately(message_id=question.id))).calls == 1


async def test_usage_outlives_its_conversation(chat: ChatWorld) -> None:
    bot = await chat.bot()
    question = await chat.begin(bot)
    bill = Bill((spent(),), bot_id=bot.id, conversation_id=question.conversation_id)
    await chat.finish(bot, question, bill=bill)

    await chat.conversations.delete(chat.acme, question.conversation_id)

    assert (await chat.usage.totals(chat.acme, lately(conversation_id=question.conversation_id))).calls == 1


async def test_without_a_budget_anything_may_be_spent(chat: ChatWorld) -> None:
    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal(10_000)),)))

    await chat.usage.reserve(chat.acme, new_id(), Decimal(10_000))
    await chat.usage.check(chat.acme)

    month = await chat.usage.month(chat.acme)
    assert (month.spent, month.reserved, month.budget) == (Decimal(10_000), NOTHING, None)


async def test_a_budget_that_is_spent_refuses_until_the_month_ends(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal("1.00")),)))

    with pytest.raises(BudgetExceeded) as reserving:
        await chat.usage.reserve(chat.acme, new_id(), Decimal("0.01"))
    with pytest.raises(BudgetExceeded) as checking:
        await chat.usage.check(chat.acme)

    left = (await chat.usage.month(chat.acme)).ends_at - datetime.now(UTC)
    for caught in (reserving, checking):
        assert caught.value.retry_after == pytest.approx(left.total_seconds(), abs=120)
    assert (await chat.usage.month(chat.acme)).reserved == 0


async def test_a_budget_that_running_turns_have_reserved_refuses_only_for_a_while(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    running = new_id()
    await chat.usage.reserve(chat.acme, running, Decimal("5.00"))

    with pytest.raises(BudgetExceeded, match="is reserved by running turns") as refused:
        await chat.usage.reserve(chat.acme, new_id(), Decimal("0.01"))

    assert refused.value.retry_after is not None
    assert refused.value.retry_after <= 60
    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal("0.10")),), reservation_id=running))
    await chat.usage.reserve(chat.acme, new_id(), Decimal("0.01"))


async def test_a_budget_of_nothing_lets_nothing_begin(chat: ChatWorld) -> None:
    await limit(chat, 0.0)

    with pytest.raises(BudgetExceeded):
        await chat.usage.reserve(chat.acme, new_id(), Decimal(0))


async def test_simultaneous_turns_share_what_is_left_of_a_budget(chat: ChatWorld) -> None:
    await limit(chat, 1.0)

    async def reserve() -> bool:
        try:
            await chat.usage.reserve(chat.acme, new_id(), Decimal("0.30"))
        except BudgetExceeded:
            return False
        return True

    admitted = sum(await asyncio.gather(*(reserve() for _ in range(12))))

    assert admitted == 4
    assert (await chat.usage.month(chat.acme)).reserved == Decimal("1.20")


async def test_a_bill_takes_the_place_of_its_reservation(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    reservation = new_id()
    await chat.usage.reserve(chat.acme, reservation, Decimal("0.90"))

    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal("0.10")),), reservation_id=reservation))

    month = await chat.usage.month(chat.acme)
    assert (month.spent, month.reserved) == (Decimal("0.10"), NOTHING)


async def test_a_turn_that_spent_nothing_frees_its_reservation(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    question = await chat.begin(await chat.bot())
    await chat.usage.reserve(chat.acme, question.id, Decimal("0.90"))

    await chat.conversations.fail_turn(
        chat.acme,
        question_id=question.id,
        problem={},
        status=MessageStatus.FAILED,
        bill=Bill(reservation_id=question.id),
    )

    assert (await chat.usage.month(chat.acme)).reserved == 0


async def test_what_turns_of_dead_processes_have_reserved_is_free_again(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    bot = await chat.bot()
    orphan, followed = await chat.begin(bot), await chat.begin(bot)
    for question in (orphan, followed):
        await chat.usage.reserve(chat.acme, question.id, Decimal("0.40"))

    await chat.begin(bot, conversation_id=followed.conversation_id)
    assert (await chat.usage.month(chat.acme)).reserved == Decimal("0.40")
    await chat.conversations.interrupt_orphans(chat.acme)

    assert (await chat.usage.month(chat.acme)).reserved == 0


async def test_what_a_process_reserved_that_died_before_its_question_was_stored_is_free_again(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    await chat.usage.reserve(chat.acme, new_id(), Decimal("0.40"))
    await chat.conversations.interrupt_orphans(chat.acme)
    assert (await chat.usage.month(chat.acme)).reserved == Decimal("0.40")

    await chat.kill()
    assert await chat.conversations.interrupt_orphans(chat.acme) == 0

    assert (await chat.usage.month(chat.acme)).reserved == 0


async def test_a_new_month_has_a_new_budget_and_no_old_reservations(chat: ChatWorld) -> None:
    await limit(chat, 1.0)
    await chat.usage.reserve(chat.acme, new_id(), Decimal("0.50"))
    await chat.usage.record(chat.acme, Bill((spent(cost=Decimal(3)),)))

    await chat.pass_months()

    month = await chat.usage.month(chat.acme)
    assert (month.spent, month.reserved) == (NOTHING, NOTHING)
    await chat.usage.reserve(chat.acme, new_id(), Decimal("0.50"))


async def test_storage_counts_attachments_and_documents_against_the_quota(chat: ChatWorld) -> None:
    await chat.identity.set_limits(chat.acme, Limits(quota_bytes=1_000))
    await chat.attachment(size=30)
    await chat.document(size=12)

    storage = await chat.usage.storage(chat.acme)

    assert (storage.bytes, storage.quota_bytes) == (42, 1_000)


async def test_an_unknown_organisation_has_no_month(chat: ChatWorld) -> None:
    with pytest.raises(NotFound):
        await chat.usage.month(new_id())
