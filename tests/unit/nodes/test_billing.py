"""What a turn is expected to cost, and its bill."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from nodes.chat.billing import CONTEXT_TOKENS, expected_tokens
from tributary.domain.attachments import AttachedFile
from tributary.domain.ids import new_id
from tributary.domain.usage import Bill
from tributary.models.pricing import Price, Prices
from tributary.spending import ANSWER_TOKENS, Spending

REMOTE = "openrouter/a/b"
LOCAL = "local/multilingual-e5-small"


class Ledger:
    """Notes what is asked of it."""

    def __init__(self) -> None:
        self.reserved: list[Decimal] = []

    async def reserve(self, organisation_id: UUID, reservation_id: UUID, amount: Decimal) -> None:
        self.reserved.append(amount)

    async def record(self, organisation_id: UUID, bill: Bill) -> None:
        raise AssertionError("nothing was spent")


def file(modality: str, size: int) -> AttachedFile:
    return AttachedFile(id="1", filename="f", contentType="x/y", modality=modality, size=size, storageKey="k")


@pytest.mark.parametrize(
    ("files", "tokens"),
    [
        ([], 0),
        ([file("image", 2_000_000)], 1_000),
        ([file("text", 400)], 101),
        ([file("pdf", 600)], 11),
        ([file("audio", 5_000), file("image", 1)], 1_011),
    ],
)
def test_a_turn_is_expected_to_read_its_prompt_its_files_and_some_context(
    files: Sequence[AttachedFile], tokens: int
) -> None:
    assert expected_tokens("p" * 40, "m" * 80, files) == CONTEXT_TOKENS + 10 + 20 + tokens


@pytest.mark.parametrize(
    ("model", "embeddings", "amounts"),
    [
        (REMOTE, [], [Decimal(100 + 2 * ANSWER_TOKENS)]),
        ("openai/unpriced", [LOCAL], [Decimal(0)]),
        ("local/extractive", ["gemini/gemini-embedding-2"], [Decimal(0)]),
        ("local/extractive", [LOCAL], []),
        ("local/extractive", [], []),
    ],
)
async def test_what_costs_something_is_reserved_and_what_runs_here_is_not(
    model: str, embeddings: list[str], amounts: list[Decimal]
) -> None:
    learnt: list[str] = []

    async def learn(name: str) -> None:
        learnt.append(name)

    ledger: Any = Ledger()
    prices = Prices({}, {REMOTE: Price(Decimal(1), Decimal(2))}.get)
    spending = Spending(ledger=ledger, prices=prices, learn=learn)

    await spending.reserve(new_id(), new_id(), model=model, embeddings=embeddings, tokens=100)

    assert ledger.reserved == amounts
    assert learnt == [model] * len(amounts)
