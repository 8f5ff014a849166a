"""Pictures for model calls: made ready in the sandbox, once."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from tests.support import files
from tributary.domain.attachments import FileType
from tributary.domain.errors import DamagedFile
from tributary.files.images import PreparedImage, shrink_image
from tributary.files.pictures import PreparedPictures
from tributary.files.sandbox import Sandbox


class CountingSandbox(Sandbox):
    """Counts what it is asked to do."""

    def __init__(self) -> None:
        super().__init__(workers=1)
        self.tasks = 0

    async def run(self, *args: Any, **options: Any) -> Any:  # type: ignore[override] # whatever it is
        self.tasks += 1
        return await super().run(*args, **options)


class Stored:
    """A stored picture that counts how often it is read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.reads = 0

    async def __call__(self) -> bytes:
        self.reads += 1
        return self.data


@pytest.fixture(scope="module")
def sandbox() -> Iterator[CountingSandbox]:
    with CountingSandbox() as sandbox:
        yield sandbox


@pytest.fixture
def pictures(sandbox: CountingSandbox) -> PreparedPictures:
    sandbox.tasks = 0
    return PreparedPictures(sandbox)


def opened(image: PreparedImage) -> Image.Image:
    return Image.open(io.BytesIO(image.data))


async def test_a_plain_picture_keeps_its_bytes_and_is_looked_at_once(
    pictures: PreparedPictures, sandbox: CountingSandbox
) -> None:
    stored = Stored(files.png())
    for _ in range(3):
        made = await pictures.prepared("k", stored, max_bytes=0)
        assert (made.data, made.file_type, made.width) == (stored.data, FileType.PNG, 40)
    assert (sandbox.tasks, stored.reads) == (1, 3)


async def test_a_turned_picture_stands_upright_and_is_made_once(
    pictures: PreparedPictures, sandbox: CountingSandbox
) -> None:
    stored = Stored(files.jpeg(orientation=6))
    first = await pictures.prepared("k", stored, max_bytes=0)
    assert opened(first).size == (30, 40)
    assert await pictures.prepared("k", stored, max_bytes=0) == first
    assert (sandbox.tasks, stored.reads) == (1, 1)


@pytest.mark.parametrize("data", [files.jpeg("CMYK"), files.png("P"), files.webp(frames=3)], ids=["cmyk", "p", "anim"])
async def test_odd_pictures_become_plain_ones(pictures: PreparedPictures, data: bytes) -> None:
    made = opened(await pictures.prepared("k", Stored(data), max_bytes=0))
    assert made.mode in {"RGB", "RGBA"}
    assert getattr(made, "n_frames", 1) == 1


async def test_a_picture_is_made_smaller_to_the_bytes_it_may_have(pictures: PreparedPictures) -> None:
    noise = Image.effect_noise((1_200, 900), 90).convert("RGB")
    stored = Stored(files.encoded(noise, "PNG"))
    small = await pictures.prepared("k", stored, max_bytes=100_000)
    assert len(small.data) <= 100_000
    assert (small.file_type, small.data[:3]) == (FileType.JPEG, b"\xff\xd8\xff")
    assert (await pictures.prepared("k", stored, max_bytes=0)).data == stored.data


async def test_what_is_kept_is_bounded(sandbox: CountingSandbox) -> None:
    turned = [Stored(files.jpeg(orientation=6, size=(40 + n, 30))) for n in range(3)]
    size = len((await PreparedPictures(sandbox).prepared("k", turned[0], max_bytes=0)).data)
    pictures = PreparedPictures(sandbox, kept_bytes=2 * size + 50)
    for number, stored in enumerate(turned):
        await pictures.prepared(str(number), stored, max_bytes=0)
    for number in (2, 1, 0):
        await pictures.prepared(str(number), turned[number], max_bytes=0)
    assert [stored.reads for stored in turned[1:]] == [1, 1]


async def test_a_picture_that_can_not_be_decoded_says_so(pictures: PreparedPictures) -> None:
    with pytest.raises(DamagedFile):
        await pictures.prepared("k", Stored(files.png()[:60]), max_bytes=0)


def test_a_picture_that_is_made_smaller_stays_upright_and_transparent() -> None:
    turned = shrink_image(files.jpeg(orientation=6, size=(400, 300)), 50_000)
    assert opened(turned).size == (300, 400)
    half = Image.new("RGBA", (400, 300), (200, 30, 60, 128))
    clear = shrink_image(files.encoded(half, "PNG"), 50_000)
    assert (clear.file_type, opened(clear).mode) == (FileType.WEBP, "RGBA")


def test_a_huge_picture_is_no_longer_than_models_look_at() -> None:
    made = shrink_image(files.encoded(Image.new("RGB", (7_000, 700), "red"), "PNG"), 2**20)
    assert (made.width, made.height) == (3_072, 307)
