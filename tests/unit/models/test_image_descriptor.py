import io
import threading
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from tributary.domain.errors import DamagedFile
from tributary.models.local import image_decoding
from tributary.models.local.image_decoding import decode_image
from tributary.models.local.image_descriptor import LocalImageEmbedder, describe_image


def scene(seed: int, size: tuple[int, int] = (320, 240)) -> Image.Image:
    """A picture full of coloured shapes, another one for each seed."""
    random = np.random.RandomState(seed)
    image = Image.new("RGB", size, tuple(random.randint(0, 256, 3)))
    draw = ImageDraw.Draw(image)
    for _ in range(60):
        x, y = random.randint(0, size[0]), random.randint(0, size[1])
        width, height = random.randint(8, 70, 2)
        box = (x, y, x + int(width), y + int(height))
        colour = tuple(random.randint(0, 256, 3))
        if random.rand() < 0.5:
            draw.ellipse(box, fill=colour)
        else:
            draw.rectangle(box, fill=colour)
    return image.filter(ImageFilter.GaussianBlur(0.7))


def encode(image: Image.Image, form: str = "PNG", **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def gallery() -> np.ndarray:
    return np.array([describe_image(encode(scene(seed))) for seed in range(8)])


@pytest.mark.parametrize(
    "edit",
    [
        lambda image: image.convert("L"),
        ImageOps.mirror,
        ImageOps.flip,
        lambda image: image.transpose(Image.Transpose.ROTATE_90),
        lambda image: image.rotate(25, Image.Resampling.BICUBIC),
        lambda image: image.resize((200, 200)),
        lambda image: image.crop((30, 20, 290, 220)),
        lambda image: image.filter(ImageFilter.GaussianBlur(1.5)),
        lambda image: image.point(lambda value: value * 0.6),
        lambda image: ImageOps.expand(image, 25, "white"),
    ],
    ids=["grey", "mirrored", "flipped", "quarter", "turned", "squeezed", "cropped", "blurred", "dark", "framed"],
)
def test_an_edit_is_nearest_to_its_original(gallery: np.ndarray, edit: Callable[[Image.Image], Image.Image]) -> None:
    original = 3
    cosines = gallery @ describe_image(encode(edit(scene(original))))
    assert cosines.argmax() == original
    assert LocalImageEmbedder().similarity(cosines)[original] > 0.6


async def test_every_row_has_unit_length_in_the_order_asked() -> None:
    embedder = LocalImageEmbedder()
    images = [encode(scene(1)), encode(scene(2), "JPEG", quality=90), encode(scene(1), "WEBP", lossless=True)]
    vectors = await embedder.embed_images(images)
    assert vectors.shape == (3, embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-5)
    np.testing.assert_array_equal(vectors, await embedder.embed_images(images))


async def test_no_images_give_no_rows() -> None:
    embedder = LocalImageEmbedder()
    assert (await embedder.embed_images([])).shape == (0, embedder.dimension)


async def test_pictures_are_described_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []

    def spying(data: bytes) -> np.ndarray:
        threads.append(threading.current_thread())
        return describe_image(data)

    monkeypatch.setattr("tributary.models.local.image_descriptor.describe_image", spying)
    await LocalImageEmbedder().embed_images([encode(scene(1))])
    assert threading.main_thread() not in threads


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGB", (40, 40), (128, 128, 128)),
        Image.new("RGB", (40, 40), (200, 30, 30)),
        Image.new("L", (1, 1), 7),
        Image.new("RGB", (2_000, 1), (1, 2, 3)),
        Image.new("1", (50, 50), 1),
        Image.new("I;16", (60, 40), 40_000),
        Image.new("P", (30, 30)),
    ],
    ids=["grey", "red", "pixel", "line", "bits", "deep", "palette"],
)
def test_a_picture_with_nothing_in_it_has_a_finite_unit_vector(image: Image.Image) -> None:
    vector = describe_image(encode(image))
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_an_empty_picture_resembles_no_other(gallery: np.ndarray) -> None:
    blank = describe_image(encode(Image.new("RGB", (64, 64), "grey")))
    assert LocalImageEmbedder().similarity(gallery @ blank).max() < 0.05


def test_a_picture_is_described_as_people_see_it() -> None:
    image = scene(5)
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = encode(image.transpose(Image.Transpose.ROTATE_90), "JPEG", quality=95, exif=exif)
    np.testing.assert_allclose(decode_image(lying), decode_image(encode(image, "JPEG", quality=95)), atol=0.1)


def test_transparent_parts_are_white() -> None:
    image = Image.new("RGBA", (50, 50), (255, 0, 0, 0))
    assert decode_image(encode(image)).min() == 1


def test_sixteen_bits_of_grey_keep_their_bright_parts() -> None:
    values = np.full((64, 64), 65_000, np.uint16)
    values[:, :32] = 20_000
    pixels = decode_image(encode(Image.fromarray(values)))
    assert pixels[128, 20, 0] == pytest.approx(78 / 255, abs=0.01)
    assert pixels[128, 230, 0] == pytest.approx(253 / 255, abs=0.01)


@pytest.mark.parametrize(
    "data",
    [b"", b"no picture", encode(scene(1), "JPEG")[:3_000], encode(scene(1))[:2_000], encode(scene(1), "GIF")],
    ids=["empty", "text", "half a JPEG", "half a PNG", "GIF"],
)
def test_what_can_not_be_decoded_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedFile):
        describe_image(data)


def test_too_many_pixels_are_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_decoding, "MAX_PIXELS", 10_000)
    with pytest.raises(DamagedFile, match="too many pixels"):
        describe_image(encode(Image.new("1", (200, 200))))


def test_similarity_rises_with_the_cosine_from_nothing_to_one() -> None:
    similarities = LocalImageEmbedder().similarity(np.linspace(-1, 1, 50, dtype=np.float32))
    assert (np.diff(similarities) > 0).all()
    assert similarities[0] == pytest.approx(0, abs=1e-3)
    assert similarities[-1] == 1
