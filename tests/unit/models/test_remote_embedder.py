import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.domain.errors import MessageTooLarge, ProviderError
from tributary.models.calibration import UNKNOWN, Calibration, calibration_of
from tributary.models.remote_embeddings import Limits, Purpose, RemoteEmbedder, cut
from tributary.models.remote_space import Embedded
from tributary.models.retry import RetryPolicy


class Server:
    """Vectors that say how long a text is, and a record of what was asked."""

    def __init__(self, window: int = 10**9) -> None:
        self.batches: list[list[str]] = []
        self.window = window

    async def __call__(self, texts: list[str], _: Purpose) -> Embedded:
        self.batches.append(texts)
        await asyncio.sleep(0)
        if any(len(text) > self.window for text in texts):
            raise MessageTooLarge("too long")
        return Embedded([[1.0, float(len(text))] for text in texts])


def _embedder(server: Server, *, texts: int = 3, tokens: int = 1_000, window: int = 100) -> RemoteEmbedder:
    return RemoteEmbedder(
        name="openai/m",
        open=lambda: server,
        max_tokens=window,
        limits=Limits(texts=texts, tokens=tokens),
        calibration=UNKNOWN,
        timeout=5.0,
        retry=RetryPolicy(first_delay=0.0),
    )


async def test_batches_hold_at_most_so_many_texts_and_tokens() -> None:
    server = Server()

    await _embedder(server, texts=3).embed_documents(["a"] * 8)
    assert [len(batch) for batch in server.batches] == [3, 3, 2]

    server.batches.clear()
    # 30 bytes are 10 tokens.
    await _embedder(server, texts=100, tokens=25).embed_documents(["a" * 30] * 5)
    assert [len(batch) for batch in server.batches] == [2, 2, 1]


async def test_rows_keep_the_order_of_texts_over_all_batches() -> None:
    texts = ["x" * length for length in range(1, 30)]

    vectors = await _embedder(Server(), texts=4).embed_documents(texts)

    np.testing.assert_allclose(vectors[:, 1] / vectors[:, 0], range(1, 30), rtol=1e-4)


async def test_no_texts_are_no_vectors_and_no_call() -> None:
    server = Server()

    assert (await _embedder(server).embed_documents([])).shape == (0, 0)
    assert server.batches == []


async def test_a_text_over_the_window_is_cut_to_it() -> None:
    server = Server()

    await _embedder(server, window=10).embed_documents(["y" * 1000])

    assert server.batches == [["y" * 30]]


async def test_one_text_that_is_too_long_shortens_no_other() -> None:
    server = Server(window=60)
    embedder = _embedder(server, texts=8)
    texts = ["a" * 50, "b" * 200, "c" * 60]

    vectors = await embedder.embed_documents(texts)

    lengths = (vectors[:, 1] / vectors[:, 0]).round().astype(int)
    assert lengths.tolist() == [50, 50, 60]


async def test_a_server_that_calls_everything_too_long_ends_as_a_provider_error() -> None:
    with pytest.raises(ProviderError, match="every text too long"):
        await _embedder(Server(window=0)).embed_query("a question")


async def test_the_first_answer_fixes_the_dimension() -> None:
    server = Server()
    embedder = _embedder(server)
    assert embedder.dimension == 0

    assert await embedder.find_dimension() == 2
    assert await embedder.find_dimension() == 2

    assert len(server.batches) == 1


async def test_a_failed_batch_ends_the_others() -> None:
    under_way: set[str] = set()

    async def call(texts: list[str], _: Purpose) -> Embedded:
        if texts[0] == "bad":
            raise ProviderError("refused")
        under_way.add(texts[0])
        try:
            await asyncio.Event().wait()
        finally:
            under_way.discard(texts[0])
        return Embedded([])

    embedder = _embedder(Server(), texts=1)
    embedder.open = lambda: call

    with pytest.raises(ProviderError, match="refused"):
        await embedder.embed_documents(["good", "bad", "late", "later", "last"])

    assert under_way == set()


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_a_cut_text_is_a_beginning_of_the_text_within_the_size(text: str, size: int) -> None:
    shortened = cut(text, size)

    assert len(shortened.encode("utf-8", "replace")) <= size
    assert text.startswith(shortened)


@pytest.mark.parametrize("name", ["gemini/gemini-embedding-2", "openai/text-embedding-3-small", "openai/anything"])
def test_a_calibrated_similarity_rises_with_the_cosine_within_0_and_1(name: str) -> None:
    cosine = np.linspace(-1, 1, 41, dtype=np.float32)

    similarity = calibration_of(name).similarity(cosine)

    assert ((similarity >= 0) & (similarity <= 1)).all()
    assert (np.diff(similarity) > 0).all()


def test_a_calibration_puts_its_middle_at_one_half() -> None:
    similarity = Calibration(middle=0.6, slope=10).similarity(np.asarray([0.6], dtype=np.float32))

    assert similarity[0] == pytest.approx(0.5)
