"""Reading what OpenAI-compatible servers answer to a batch of texts."""

from types import SimpleNamespace
from typing import Any

import pytest

from tributary.models.embedding_calls import openai_call
from tributary.models.remote_embeddings import Purpose


def answering(data: list[dict[str, Any]], **more: Any) -> Any:
    """A client of a server that answers so."""

    class Embeddings:
        async def create(self, *, input: list[str], model: str) -> Any:  # noqa: A002 - the SDK's name
            return SimpleNamespace(data=[SimpleNamespace(**each) for each in data], **more)

    return SimpleNamespace(async_client=Embeddings(), model="own")


async def test_vectors_are_put_in_the_order_of_their_texts() -> None:
    data = [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]

    answer = await openai_call(answering(data))(["one", "two"], Purpose.DOCUMENT)

    assert answer.rows == [[1.0], [2.0]]


async def test_vectors_without_a_place_stay_in_their_order() -> None:
    answer = await openai_call(answering([{"embedding": [2.0]}, {"embedding": [1.0]}]))(["a", "b"], Purpose.QUERY)

    assert answer.rows == [[2.0], [1.0]]


@pytest.mark.parametrize(
    ("more", "tokens"),
    [
        ({"usage": SimpleNamespace(prompt_tokens=3, total_tokens=3)}, 3),
        ({"usage": SimpleNamespace(prompt_tokens=0, total_tokens=0)}, None),
        ({"usage": SimpleNamespace()}, None),
        ({"usage": None}, None),
        ({}, None),
    ],
    ids=repr,
)
async def test_a_server_that_counts_no_tokens_is_as_good(more: dict[str, Any], tokens: int | None) -> None:
    answer = await openai_call(answering([{"index": 0, "embedding": [1.0]}], **more))(["one"], Purpose.QUERY)

    assert answer.tokens == tokens
