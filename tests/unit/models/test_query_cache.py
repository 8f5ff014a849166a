import asyncio
from pathlib import Path

import numpy as np
import pytest

from tributary.domain.errors import InvalidRequest, ProviderError
from tributary.models.calibration import UNKNOWN
from tributary.models.embeddings import ImageEmbedders, QueryCache, TextEmbedders
from tributary.models.protocols import TextEmbedder
from tributary.models.remote_embeddings import Limits, Purpose, RemoteEmbedder
from tributary.models.remote_space import Embedded
from tributary.settings import Settings

NAME = "openai/m"


class Counting(TextEmbedders):
    """A registry of one embedder that counts its calls and can be made to wait or fail."""

    def __init__(self, data: Path) -> None:
        super().__init__(Settings(data=data))
        self.texts: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.failure: ProviderError | None = None
        self.made = RemoteEmbedder(
            name=NAME, open=lambda: self._call, max_tokens=100, limits=Limits(8, 800), calibration=UNKNOWN, timeout=5.0
        )

    async def _call(self, texts: list[str], _: Purpose) -> Embedded:
        self.texts += texts
        await self.open.wait()
        if self.failure:
            raise self.failure
        return Embedded([[1.0, float(len(text))] for text in texts])

    def embedder(self, name: str) -> TextEmbedder:
        assert name == NAME
        return self.made


@pytest.fixture
def registry(tmp_path: Path) -> Counting:
    return Counting(tmp_path)


async def test_a_question_is_embedded_once_and_then_remembered(registry: Counting) -> None:
    queries = QueryCache(registry)

    first = await queries.embed_query(NAME, "a")
    second = await queries.embed_query(NAME, "a")

    assert registry.texts == ["a"]
    np.testing.assert_array_equal(first, second)
    assert queries.embedder(NAME) is registry.made


async def test_who_asks_at_the_same_time_shares_one_call(registry: Counting) -> None:
    queries = QueryCache(registry)

    await asyncio.gather(*(queries.embed_query(NAME, "a") for _ in range(8)))

    assert registry.texts == ["a"]


async def test_one_who_gives_up_does_not_take_the_answer_from_the_others(registry: Counting) -> None:
    queries = QueryCache(registry)
    registry.open.clear()
    impatient, patient = (asyncio.create_task(queries.embed_query(NAME, "a")) for _ in range(2))
    while not registry.texts:
        await asyncio.sleep(0)
    impatient.cancel()
    registry.open.set()

    assert (await patient).shape == (2,)
    assert registry.texts == ["a"]


async def test_a_failure_is_told_to_all_and_forgotten(registry: Counting) -> None:
    queries = QueryCache(registry)
    registry.failure = ProviderError("refused")
    outcomes = await asyncio.gather(*(queries.embed_query(NAME, "a") for _ in range(3)), return_exceptions=True)
    registry.failure = None

    assert [type(outcome) for outcome in outcomes] == [ProviderError] * 3
    assert (await queries.embed_query(NAME, "a")).shape == (2,)
    assert registry.texts == ["a", "a"]


async def test_the_least_recently_asked_question_is_forgotten_first(registry: Counting) -> None:
    queries = QueryCache(registry, size=2)
    for text in ("a", "b", "a", "c", "a", "b"):
        await queries.embed_query(NAME, text)

    assert registry.texts == ["a", "b", "c", "b"]


async def test_a_remembered_vector_cannot_be_changed(registry: Counting) -> None:
    vector = await QueryCache(registry).embed_query(NAME, "a")

    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 0.0


def test_embedders_of_one_name_are_one_object(tmp_path: Path) -> None:
    registry = TextEmbedders(Settings(data=tmp_path))

    assert registry.embedder("openai/m") is registry.embedder("openai/m")


def test_an_unknown_embedding_is_an_invalid_request(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest):
        TextEmbedders(Settings(data=tmp_path)).embedder("cohere/embed")


@pytest.mark.parametrize("embedding", ["local/minilm", "openai/text-embedding-3-small"])
def test_a_model_that_sees_no_pictures_leaves_them_to_the_local_descriptor(tmp_path: Path, embedding: str) -> None:
    spaces = ImageEmbedders(TextEmbedders(Settings(data=tmp_path)))

    assert spaces.image_embedder(embedding).name == "local/image-descriptor"
    assert spaces.image_embedder(embedding) is spaces.image_embedder("local/multilingual-e5-small")
    assert spaces.shared_embedder(embedding) is None


def test_gemini_sees_pictures_in_the_space_of_its_texts(tmp_path: Path) -> None:
    spaces = ImageEmbedders(TextEmbedders(Settings(data=tmp_path)))
    name = "gemini/gemini-embedding-2"

    assert spaces.image_embedder(name) is spaces.shared_embedder(name)
    assert (spaces.image_embedder(name).name, spaces.image_embedder(name).dimension) == (name, 3072)
