"""Counting calls and pricing them."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tributary.domain.conversations import Usage
from tributary.domain.errors import BudgetExceeded
from tributary.domain.usage import UsageKind
from tributary.models.catalogue import Catalogue, read_catalogue, write_catalogue
from tributary.models.cost import cost_of
from tributary.models.metering import (
    Meter,
    ModelCall,
    admit,
    answer_usage,
    metered,
    note,
    owner_of,
    plain_meter,
    spent_or,
    spent_so_far,
)
from tributary.models.pricing import Price, Prices, listed_price

REMOTE = "openrouter/a/b"


def call(model: str = REMOTE, kind: UsageKind = UsageKind.CHAT, **more: Any) -> ModelCall:
    return ModelCall(model, kind, 10, 2, 12, **more)


def test_calls_of_one_model_and_purpose_are_added_up() -> None:
    meter = Meter(lambda each: each.cost)
    meter.note(call(cost=Decimal("0.1")))
    meter.note(call(estimated=True))
    meter.note(call(kind=UsageKind.EMBEDDING, cost=Decimal(1)))

    chat, embedding = meter.spent
    assert (chat.calls, chat.input_tokens, chat.output_tokens, chat.total_tokens) == (2, 20, 4, 24)
    assert (chat.cost, chat.unpriced_calls, chat.estimated_calls) == (Decimal("0.1"), 1, 1)
    assert (embedding.kind, embedding.cost) == (UsageKind.EMBEDDING, Decimal(1))


def test_what_is_taken_is_not_told_again() -> None:
    meter = plain_meter()
    meter.note(call())
    first = meter.take()
    meter.note(call())
    second = meter.take()

    assert [each.calls for each in (*first, *second)] == [1, 1]
    assert first[0].id != second[0].id
    assert meter.take() == ()


def test_what_ingestion_asks_of_a_chat_model_is_ingestion() -> None:
    meter = Meter(lambda _: None, answers=UsageKind.INGEST)
    meter.note(call())
    meter.note(call(kind=UsageKind.EMBEDDING))

    assert [each.kind for each in meter.spent] == [UsageKind.INGEST, UsageKind.EMBEDDING]


async def test_calls_in_tasks_below_are_counted_by_the_meter_above() -> None:
    async def work() -> None:
        note(call())

    with metered(plain_meter()) as meter:
        await asyncio.gather(asyncio.create_task(work()), work())
    note(call())

    assert [each.calls for each in meter.spent] == [2]
    assert spent_so_far() == ()


async def test_a_gate_is_asked_before_remote_calls_alone() -> None:
    async def refuse(_: Meter) -> None:
        raise BudgetExceeded("used up")

    with metered(Meter(lambda _: None, gate=refuse)):
        await admit("local/extractive")
        with pytest.raises(BudgetExceeded):
            await admit(REMOTE)
    await admit(REMOTE)


def test_calls_that_cost_something_have_an_owner() -> None:
    with metered(Meter(lambda _: None, owner="acme")):
        assert owner_of(REMOTE) == "acme"
        assert owner_of("local/multilingual-e5-small") is None
    assert owner_of(REMOTE) is None


def test_the_usage_of_an_answer_is_that_of_all_its_calls() -> None:
    with metered(Meter(lambda _: Decimal("0.5"))):
        assert answer_usage() is None
        note(call())
        note(call(kind=UsageKind.EMBEDDING))
        note(call(model="openrouter/c/d"))

        assert answer_usage() == Usage(inputTokens=20, outputTokens=4, totalTokens=24, costUsd=1.0)
    with metered(plain_meter()):
        note(call())
        assert answer_usage() == Usage(inputTokens=10, outputTokens=2, totalTokens=12, costUsd=None)


def test_where_nobody_meters_the_answer_s_usage_is_what_was_spent() -> None:
    usage = Usage(inputTokens=3, outputTokens=2, totalTokens=5)

    [spent] = spent_or(REMOTE, usage)
    assert (spent.calls, spent.total_tokens, spent.unpriced_calls) == (1, 5, 1)
    [free] = spent_or("local/extractive", usage)
    assert (free.cost, free.unpriced_calls) == (Decimal(0), 0)
    assert spent_or(REMOTE, Usage(inputTokens=0, outputTokens=0, totalTokens=0)) == ()
    with metered(plain_meter()):
        assert spent_or(REMOTE, usage) == ()


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25}, "0.25"),
        ({"cost": 0}, "0"),
        ({"cost": "1e-7"}, "1E-7"),
        ({"cost": 0.01, "is_byok": True, "cost_details": {"upstream_inference_cost": 0.2}}, "0.21"),
        ({"cost": 0.01, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.2}}, "0.01"),
        ({"cost": 0.01, "is_byok": True, "cost_details": None}, "0.01"),
        ({"cost": None}, None),
        ({}, None),
        (None, None),
        ({"cost": "much"}, None),
        ({"cost": -1}, None),
        ({"cost": float("nan")}, None),
    ],
    ids=repr,
)
def test_the_cost_that_openrouter_tells_is_read_with_tolerance(usage: Any, cost: str | None) -> None:
    assert cost_of(usage) == cost


@pytest.mark.parametrize(
    "pricing",
    [None, {}, {"prompt": "1"}, {"prompt": "x", "completion": "1"}, {"prompt": "-1", "completion": "-1"},
     {"prompt": "nan", "completion": "1"}, "0.1"],
    ids=repr,
)  # fmt: skip
def test_a_price_that_makes_no_sense_is_none(pricing: Any) -> None:
    assert listed_price(pricing) is None


def test_a_call_costs_what_the_provider_says_else_the_operator_else_the_list() -> None:
    prices = Prices({"openai/x": (2.0, 10.0)}, {REMOTE: Price(Decimal(1), Decimal(2), Decimal(3))}.get)

    assert prices.cost(call(cost=Decimal("0.7"))) == Decimal("0.7")
    assert prices.cost(call("openai/x")) == Decimal("0.00004")
    assert prices.cost(call()) == Decimal(17)
    assert prices.cost(call("local/extractive")) == 0
    assert prices.cost(call("google/y")) is None


def test_prices_of_the_list_are_kept_exactly_over_a_restart(tmp_path: Path) -> None:
    priced = {"id": "a/b", "context_length": 8_000, "pricing": {"prompt": "0.0000001", "completion": "0.0000004"}}
    unpriced = {"id": "c/d", "context_length": 8_000}
    made = Catalogue.parse({"data": [priced, unpriced]}, url="u", fetched_at=1.0)

    write_catalogue(tmp_path / "list.json", made)
    kept = read_catalogue(tmp_path / "list.json", "u")

    assert kept == made
    expected = Price(Decimal("0.0000001"), Decimal("0.0000004"))
    assert kept is not None
    assert kept.price("a/b") == kept.price("a/b:nitro") == expected
    assert kept.price("c/d") is None
