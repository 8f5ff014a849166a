"""Pictures in the space of Gemini's texts, over HTTP: what is sent, and that nothing wrong that comes back is kept."""

import base64
import io
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.support.files import encoded, jpeg, png, webp
from tests.support.provider import Provider
from tests.support.provider_faults import Fault, Refuse, WrongCount, WrongDimension, WrongValue
from tributary.domain.errors import DamagedFile, ProviderError
from tributary.domain.usage import UsageKind
from tributary.models.embeddings import ImageEmbedders, TextEmbedders
from tributary.models.metering import Meter, metered
from tributary.models.protocols import SharedSpaceEmbedder
from tributary.models.remote_images import RemoteImageEmbedder
from tributary.models.retry import RetryPolicy

GEMINI = "gemini/gemini-embedding-2"
AT_ONCE = RetryPolicy(attempts=3, first_delay=0.001, longest_delay=0.001)


@pytest.fixture
async def embedders(provider: Provider, tmp_path: Path) -> AsyncIterator[TextEmbedders]:
    registry = TextEmbedders(provider.settings(tmp_path))
    yield registry
    await registry.aclose()


@pytest.fixture
def pictures(embedders: TextEmbedders) -> SharedSpaceEmbedder:
    embedder = ImageEmbedders(embedders).shared_embedder(GEMINI)
    assert isinstance(embedder, RemoteImageEmbedder)
    embedder.retry = AT_ONCE
    return embedder


def coloured(colour: str | tuple[int, int, int], format_name: str = "PNG", **options: Any) -> bytes:
    return encoded(Image.new("RGB", (32, 24), colour), format_name, **options)


def sent(provider: Provider) -> list[list[list[dict[str, Any]]]]:
    """The parts of each request of each call."""
    return [[request["content"]["parts"] for request in call.body["requests"]] for call in provider.embeds]


def only_picture(provider: Provider) -> tuple[bytes, str]:
    """The bytes that went out, and their media type."""
    [[[part]]] = sent(provider)
    [blob] = part.values()
    return base64.urlsafe_b64decode(blob["data"]), blob.get("mimeType") or blob["mime_type"]


async def test_each_picture_is_a_content_of_its_own_and_six_go_into_a_call(
    pictures: SharedSpaceEmbedder, provider: Provider
) -> None:
    images = [coloured((20 * number, 0, 0)) for number in range(13)]

    vectors = await pictures.embed_images(images)
    again = await pictures.embed_images(images[::-1])

    assert vectors.shape == (13, 3072)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    np.testing.assert_array_equal(vectors, again[::-1])
    calls = sent(provider)[:3]
    assert [len(call) for call in calls] == [6, 6, 1]
    assert all(len(parts) == 1 for call in calls for parts in call)
    assert provider.embeds[0].path == "/v1beta/models/gemini-embedding-2:batchEmbedContents"
    assert provider.embeds[0].body["requests"][0]["outputDimensionality"] == 3072


@pytest.mark.parametrize(
    ("image", "kind"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (webp(), "image/jpeg"),
        (webp(frames=3), "image/jpeg"),
        (jpeg("CMYK"), "image/jpeg"),
        (jpeg(orientation=6), "image/jpeg"),
        (png("P"), "image/png"),
        (png(size=(4_000, 10)), "image/jpeg"),
    ],
    ids=["png", "jpeg", "webp", "animation", "cmyk", "turned", "palette", "large"],
)
async def test_pictures_go_out_as_png_or_jpeg_upright_and_not_too_large(
    pictures: SharedSpaceEmbedder, provider: Provider, image: bytes, kind: str
) -> None:
    await pictures.embed_images([image])

    data, told = only_picture(provider)
    with Image.open(io.BytesIO(data)) as shown:
        assert told == kind == f"image/{(shown.format or '').lower()}"
        assert shown.mode in ("RGB", "RGBA")
        assert max(shown.size) <= 1_024


async def test_a_turned_picture_is_sent_as_it_is_meant_to_be_seen(
    pictures: SharedSpaceEmbedder, provider: Provider
) -> None:
    await pictures.embed_images([jpeg(size=(40, 30), orientation=6)])

    with Image.open(io.BytesIO(only_picture(provider)[0])) as shown:
        assert shown.size == (30, 40)


async def test_a_question_is_nearest_to_the_picture_that_shows_it(
    embedders: TextEmbedders, pictures: SharedSpaceEmbedder
) -> None:
    vectors = await pictures.embed_images([coloured("blue"), coloured("red"), coloured("green", "WEBP")])

    question = await embedders.embedder(GEMINI).embed_query("something red")
    similarities = pictures.text_similarity(vectors @ question)

    assert int(np.argmax(similarities)) == 1
    assert ((similarities >= 0) & (similarities <= 1)).all()
    assert similarities[1] > 0.5 > similarities[0]


@pytest.mark.parametrize(
    "fault", [Refuse(429, retry_after="0"), Refuse(503), WrongCount(-1), WrongValue(0.0)], ids=repr
)
async def test_what_passes_is_survived(pictures: SharedSpaceEmbedder, provider: Provider, fault: Fault) -> None:
    provider.next_embeddings(fault, fault)

    assert (await pictures.embed_images([coloured("red"), coloured("blue")])).shape == (2, 3072)

    assert len(provider.embeds) == 3


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        ([WrongDimension(768)], "768 dimensions"),
        ([WrongCount(+1)] * 3, "3 vectors instead of 2"),
        ([WrongValue(0.0)] * 3, "points nowhere"),
        ([Refuse(400)], "refused the request"),
    ],
    ids=["dimension", "count", "zero", "refusal"],
)
async def test_what_is_wrong_is_never_kept(
    pictures: SharedSpaceEmbedder, provider: Provider, faults: list[Fault], reason: str
) -> None:
    provider.next_embeddings(*faults)

    with pytest.raises(ProviderError, match=reason):
        await pictures.embed_images([coloured("red"), coloured("blue")])


async def test_a_damaged_picture_is_sent_to_nobody(pictures: SharedSpaceEmbedder, provider: Provider) -> None:
    with pytest.raises(DamagedFile):
        await pictures.embed_images([coloured("red"), jpeg()[:200]])

    assert provider.requests == []


async def test_no_pictures_are_no_call(pictures: SharedSpaceEmbedder, provider: Provider) -> None:
    assert (await pictures.embed_images([])).shape == (0, 3072)
    assert provider.requests == []


async def test_a_missing_key_is_told_by_the_first_call(provider: Provider, tmp_path: Path) -> None:
    registry = TextEmbedders(provider.settings(tmp_path, google_api_key=None))

    with pytest.raises(ProviderError, match="GOOGLE_API_KEY is not set"):
        await ImageEmbedders(registry).image_embedder(GEMINI).embed_images([coloured("red")])

    assert provider.requests == []


async def test_a_local_knowledge_base_sends_pictures_nowhere(embedders: TextEmbedders, provider: Provider) -> None:
    await ImageEmbedders(embedders).image_embedder("local/multilingual-e5-small").embed_images([coloured("red")])
    await ImageEmbedders(embedders).image_embedder("openai/own-embedder").embed_images([coloured("red")])

    assert provider.requests == []


async def test_calls_are_counted_by_the_provider_s_figure_where_it_gives_one(
    embedders: TextEmbedders, pictures: SharedSpaceEmbedder
) -> None:
    meter = Meter(lambda call: Decimal(call.input_tokens))
    with metered(meter):
        await pictures.embed_images([coloured("red"), coloured("blue")])
        await embedders.embedder("openai/own-embedder").embed_documents(["two words"])
        await embedders.embedder(GEMINI).embed_query("eleven bytes")

    spent = {each.model: each for each in meter.spent}
    assert {each.kind for each in meter.spent} == {UsageKind.EMBEDDING}
    assert spent["openai/own-embedder"].input_tokens == 2
    assert spent["openai/own-embedder"].estimated_calls == 0
    # LangChain drops what Gemini counted of texts; of pictures it is known.
    assert spent[GEMINI].input_tokens == 2 * 258 + 4
    assert (spent[GEMINI].calls, spent[GEMINI].estimated_calls) == (2, 1)


async def test_an_answer_that_is_refused_is_counted_all_the_same(
    pictures: SharedSpaceEmbedder, provider: Provider
) -> None:
    provider.next_embeddings(WrongCount(-1), Refuse(503))
    meter = Meter(lambda _: None)
    with metered(meter):
        await pictures.embed_images([coloured("red")])

    [spent] = meter.spent
    assert (spent.calls, spent.unpriced_calls) == (2, 2)
