"""Embeddings of remote providers over HTTP: what is sent, and that nothing wrong that comes back is kept."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.provider import Provider
from tests.support.provider_faults import (
    ErrorInside200,
    Fault,
    Hold,
    Refuse,
    WrongCount,
    WrongDimension,
    WrongValue,
)
from tributary.domain.errors import InvalidRequest, ProviderError, ProviderTimeout, TributaryError
from tributary.models.embeddings import QueryCache, TextEmbedders
from tributary.models.remote_embeddings import RemoteEmbedder
from tributary.models.retry import RetryPolicy

GEMINI = "gemini/gemini-embedding-2"
SMALL = "openai/text-embedding-3-small"
OWN = "openai/own-embedder"
REMOTE = [GEMINI, SMALL, OWN]
AT_ONCE = RetryPolicy(attempts=3, first_delay=0.001, longest_delay=0.001)


@pytest.fixture
async def embedders(provider: Provider, tmp_path: Path) -> AsyncIterator[TextEmbedders]:
    registry = TextEmbedders(provider.settings(tmp_path))
    yield registry
    await registry.aclose()


def _remote(embedders: TextEmbedders, name: str) -> RemoteEmbedder:
    embedder = embedders.embedder(name)
    assert isinstance(embedder, RemoteEmbedder)
    embedder.retry = AT_ONCE
    return embedder


@pytest.mark.parametrize(("name", "dimension"), [(GEMINI, 3072), (SMALL, 1536), (OWN, 1536)])
async def test_documents_come_back_as_unit_rows_in_their_order(
    embedders: TextEmbedders, name: str, dimension: int
) -> None:
    embedder = _remote(embedders, name)
    texts = [f"text number {number}" for number in range(70)]

    vectors = await embedder.embed_documents(texts)
    again = await embedder.embed_documents(list(reversed(texts)))

    assert vectors.shape == (70, dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(vectors, again[::-1])


@pytest.mark.parametrize("name", REMOTE)
async def test_a_question_is_nearest_to_the_text_that_answers_it(embedders: TextEmbedders, name: str) -> None:
    embedder = _remote(embedders, name)
    texts = ["the tide turns twice a day", "bread needs salt and time", "a kettle boils at sea level"]

    query = await embedder.embed_query("when does the tide turn on this day")
    similarities = embedder.similarity(await embedder.embed_documents(texts) @ query)

    assert int(np.argmax(similarities)) == 0
    assert ((similarities >= 0) & (similarities <= 1)).all()


async def test_gemini_gets_the_task_in_the_text_and_no_more_than_a_batch(
    embedders: TextEmbedders, provider: Provider
) -> None:
    embedder = _remote(embedders, GEMINI)
    await embedder.embed_query("What is new?")
    await embedder.embed_documents([f"passage {number}" for number in range(150)])

    query, *batches = provider.embeds
    assert query.path == "/v1beta/models/gemini-embedding-2:batchEmbedContents"
    [asked] = query.body["requests"]
    assert asked["content"]["parts"] == [{"text": "task: search result | query: What is new?"}]
    assert asked["outputDimensionality"] == 3072
    assert asked["taskType"] == "TASK_TYPE_UNSPECIFIED"
    sizes = [len(batch.body["requests"]) for batch in batches]
    assert sum(sizes) == 150
    assert max(sizes) <= 100
    sent = {request["content"]["parts"][0]["text"] for batch in batches for request in batch.body["requests"]}
    assert sent == {f"title: none | text: passage {number}" for number in range(150)}


async def test_an_openai_compatible_server_gets_strings_and_not_token_numbers(
    embedders: TextEmbedders, provider: Provider
) -> None:
    await _remote(embedders, OWN).embed_documents(["one", "two"])

    request = provider.embeds[-1]
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {provider.key}"
    assert request.body["model"] == "own-embedder"
    assert request.body["input"] == ["one", "two"]


async def test_the_dimension_of_an_unlisted_model_is_asked_for_once(
    embedders: TextEmbedders, provider: Provider
) -> None:
    assert await embedders.dimension(OWN) == 1536
    assert await embedders.dimension(OWN) == 1536
    assert len(provider.embeds) == 1


async def test_the_dimension_of_a_known_model_is_asked_of_nobody(embedders: TextEmbedders, provider: Provider) -> None:
    assert await embedders.dimension(GEMINI) == 3072
    assert await embedders.dimension(SMALL) == 1536
    assert provider.requests == []


@pytest.mark.parametrize("fault", [WrongCount(-1), WrongCount(+1)], ids=repr)
@pytest.mark.parametrize("name", REMOTE)
async def test_a_wrong_count_is_asked_for_again_and_never_kept(
    embedders: TextEmbedders, provider: Provider, name: str, fault: Fault
) -> None:
    embedder = _remote(embedders, name)
    provider.next_embeddings(fault)

    vectors = await embedder.embed_documents(["one", "two", "three"])

    assert vectors.shape[0] == 3
    assert len(provider.embeds) == 2
    provider.next_embeddings(*[fault] * 3)
    with pytest.raises(ProviderError, match="vectors instead of 3"):
        await embedder.embed_documents(["one", "two", "three"])


@pytest.mark.parametrize("name", REMOTE)
async def test_a_vector_of_another_space_is_refused(embedders: TextEmbedders, provider: Provider, name: str) -> None:
    embedder = _remote(embedders, name)
    await embedder.embed_query("one")
    provider.next_embeddings(WrongDimension(768))

    with pytest.raises(ProviderError, match="768 dimensions instead of") as caught:
        await embedder.embed_query("two")

    assert not caught.value.transient


@pytest.mark.parametrize("name", REMOTE)
async def test_a_vector_of_zeros_is_refused(embedders: TextEmbedders, provider: Provider, name: str) -> None:
    embedder = _remote(embedders, name)
    provider.next_embeddings(*[WrongValue(0.0)] * 3)

    with pytest.raises(ProviderError, match="points nowhere"):
        await embedder.embed_query("one")


@pytest.mark.parametrize("fault", [Refuse(429), Refuse(503)], ids=repr)
@pytest.mark.parametrize("name", REMOTE)
async def test_an_overloaded_provider_loses_no_text(
    embedders: TextEmbedders, provider: Provider, name: str, fault: Fault
) -> None:
    embedder = _remote(embedders, name)
    provider.next_embeddings(fault, fault)

    vectors = await embedder.embed_documents([f"text {number}" for number in range(100)])

    assert vectors.shape[0] == 100


async def test_an_error_inside_200_is_a_provider_error(embedders: TextEmbedders, provider: Provider) -> None:
    provider.next_embeddings(*[ErrorInside200(502, "upstream is down")] * 3)

    with pytest.raises(ProviderError, match="upstream is down"):
        await _remote(embedders, OWN).embed_query("one")


@pytest.mark.parametrize("name", REMOTE)
async def test_a_refused_key_is_final_and_never_quoted(embedders: TextEmbedders, provider: Provider, name: str) -> None:
    sent, provider.key = provider.key, "another-key"

    with pytest.raises(ProviderError) as caught:
        await _remote(embedders, name).embed_query("one")

    assert caught.value.detail == f"{name} refused the API key"
    assert sent not in str(caught.value)
    assert len(provider.embeds) == 1


@pytest.mark.parametrize("name", REMOTE)
async def test_a_silent_provider_is_a_timeout(embedders: TextEmbedders, provider: Provider, name: str) -> None:
    embedder = _remote(embedders, name)
    await embedder.embed_query("warm")
    embedder.timeout = 0.2
    hold = Hold()
    provider.next_embeddings(hold)

    with pytest.raises(ProviderTimeout):
        await embedder.embed_query("one")

    hold.event.set()


@pytest.mark.parametrize("name", REMOTE)
async def test_a_question_goes_ahead_of_documents_that_wait(
    embedders: TextEmbedders, provider: Provider, name: str
) -> None:
    embedder = _remote(embedders, name)
    await embedder.embed_query("warm")
    holds = [Hold() for _ in range(4)]
    provider.next_embeddings(*holds)
    documents = asyncio.create_task(embedder.embed_documents([f"text {number}" for number in range(500)]))
    assert await asyncio.to_thread(provider.wait_for_requests, 5)

    assert (await embedder.embed_query("me first")).shape == (embedder.dimension,)

    assert len(provider.embeds) == 6
    for hold in holds:
        hold.event.set()
    assert (await documents).shape[0] == 500


@pytest.mark.parametrize("name", REMOTE)
async def test_a_missing_key_is_told_by_the_first_call(provider: Provider, tmp_path: Path, name: str) -> None:
    registry = TextEmbedders(provider.settings(tmp_path, google_api_key=None, openai_api_key=None))
    registry.validate(name)

    with pytest.raises(ProviderError, match="_API_KEY is not set"):
        await registry.embedder(name).embed_query("one")

    assert provider.requests == []


async def test_a_blank_text_is_never_sent(embedders: TextEmbedders, provider: Provider) -> None:
    with pytest.raises(InvalidRequest):
        await _remote(embedders, OWN).embed_documents(["one", " \n"])

    assert provider.requests == []


async def test_a_text_that_a_small_server_calls_too_long_is_sent_again_by_half(
    embedders: TextEmbedders, provider: Provider
) -> None:
    embedder = _remote(embedders, OWN)
    refusal = Refuse(400, message="This model's maximum context length is 512 tokens, however you requested 900.")
    # The batch, then the long text alone, twice.
    provider.next_embeddings(refusal, refusal, refusal)

    assert (await embedder.embed_documents(["word " * 400, "short"])).shape[0] == 2

    sent = [[len(text) for text in request.body["input"]] for request in provider.embeds]
    assert sent == [[2000, 5], [2000], [1000], [500], [5]]


@pytest.mark.parametrize("name", REMOTE)
async def test_eight_branches_that_ask_for_one_text_embed_once(
    embedders: TextEmbedders, provider: Provider, name: str
) -> None:
    queries = QueryCache(embedders)
    hold = Hold()
    provider.next_embeddings(hold)
    asking = [asyncio.create_task(queries.embed_query(name, "the same text")) for _ in range(8)]
    assert await asyncio.to_thread(provider.wait_for_requests, 1)
    hold.event.set()

    vectors = await asyncio.gather(*asking)

    assert len(provider.embeds) == 1
    assert all(vector is vectors[0] for vector in vectors)


async def test_a_failed_question_is_asked_again(embedders: TextEmbedders, provider: Provider) -> None:
    queries = QueryCache(embedders)
    provider.next_embeddings(Refuse(400))
    with pytest.raises(TributaryError):
        await queries.embed_query(SMALL, "one")

    assert (await queries.embed_query(SMALL, "one")).shape == (1536,)
