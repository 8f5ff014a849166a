"""Pictures as models take them."""

import io

import pytest
from PIL import Image

from tests.support.files import encoded, jpeg, picture, png, png_that_claims, webp
from tributary.domain.attachments import FileType
from tributary.domain.errors import DamagedFile, FileTooLarge
from tributary.files.images import PreparedImage, prepare_image, thumbnail

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def corner(data: bytes, *, right: bool = False, bottom: bool = False) -> tuple[int, ...]:
    """The colour in the middle of a quarter, to the nearest primary."""
    image = opened(data).convert("RGB")
    width, height = image.size
    pixel = image.getpixel((width * (3 if right else 1) // 4, height * (3 if bottom else 1) // 4))
    assert isinstance(pixel, tuple)
    return tuple(255 if value > 127 else 0 for value in pixel)


@pytest.mark.parametrize("data", [jpeg(), jpeg("L"), png(), png("RGBA"), png("L"), png("LA"), webp()])
def test_a_plain_picture_keeps_its_bytes(data: bytes) -> None:
    prepared = prepare_image(data)
    assert prepared.data == data
    assert (prepared.width, prepared.height) == (40, 30)


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_photo_is_turned_upright(orientation: int) -> None:
    upright = picture()
    turned = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(upright.transpose(turned[orientation]), "JPEG", quality=95, exif=exif)
    prepared = prepare_image(data)
    assert (prepared.width, prepared.height) == upright.size
    assert corner(prepared.data) == RED
    assert corner(prepared.data, right=True) == BLUE
    assert corner(prepared.data, bottom=True) == WHITE
    assert opened(prepared.data).getexif().get(0x0112) is None


def test_a_picture_of_inks_becomes_one_of_light() -> None:
    prepared = prepare_image(jpeg("CMYK"))
    assert opened(prepared.data).mode == "RGB"
    assert prepared.file_type is FileType.JPEG
    assert corner(prepared.data) == RED


def test_a_palette_becomes_colours() -> None:
    prepared = prepare_image(png("P"))
    assert opened(prepared.data).mode == "RGB"
    assert corner(prepared.data, right=True) == BLUE


def test_a_transparent_palette_keeps_its_transparency() -> None:
    image = picture("P")
    data = encoded(image, "PNG", transparency=image.getpixel((0, 0)))
    prepared = opened(prepare_image(data).data)
    assert prepared.mode == "RGBA"
    assert prepared.getpixel((1, 1))[3] == 0  # type: ignore[index]


def test_sixteen_bits_of_grey_keep_their_tones() -> None:
    image = Image.new("I;16", (3, 1))
    for x, value in enumerate((0, 0x4000, 0xFFFF)):
        image.putpixel((x, 0), value)
    prepared = opened(prepare_image(encoded(image, "PNG")).data)
    assert prepared.mode == "L"
    assert [prepared.getpixel((x, 0)) for x in range(3)] == [0, 0x40, 0xFF]


def test_an_animation_becomes_its_first_frame() -> None:
    prepared = prepare_image(webp(frames=3))
    image = opened(prepared.data)
    assert not getattr(image, "is_animated", False)
    assert prepared.file_type is FileType.WEBP
    assert corner(prepared.data) == RED


def test_an_animated_png_becomes_its_first_frame() -> None:
    frames = [Image.new("RGB", (40, 30), colour) for colour in ("green", "black")]
    prepared = prepare_image(encoded(picture(), "PNG", save_all=True, append_images=frames))
    assert not getattr(opened(prepared.data), "is_animated", False)
    assert corner(prepared.data) == RED


def test_a_picture_that_grows_when_encoded_anew_is_made_smaller_until_it_fits() -> None:
    noise = Image.effect_noise((400, 400), 90).quantize(16)
    prepared = prepare_image(encoded(noise, "PNG"), max_bytes=60_000)
    assert len(prepared.data) <= 60_000
    assert opened(prepared.data).size == (prepared.width, prepared.height)
    assert 100 < prepared.width < 400
    assert prepared.file_type is FileType.JPEG


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\xff\xd8\xff", jpeg()[:200], png()[:40]])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedFile):
        prepare_image(data)


def test_a_picture_of_too_many_pixels_is_refused() -> None:
    with pytest.raises(FileTooLarge):
        prepare_image(png_that_claims(60_000, 60_000))


@pytest.mark.parametrize(
    "data", [jpeg(size=(900, 600)), png("RGBA", (900, 600)), webp((900, 600)), jpeg("CMYK", (900, 600))]
)
def test_a_thumbnail_is_a_small_jpeg_of_the_same_shape(data: bytes) -> None:
    image = opened(thumbnail(data, 300))
    assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (300, 200))


def test_a_thumbnail_of_a_transparent_picture_is_on_white() -> None:
    clear = Image.new("RGBA", (40, 30), (0, 0, 0, 0))
    assert corner(thumbnail(encoded(clear, "PNG"))) == WHITE


@pytest.mark.parametrize("size", [(1, 1), (1, 2000), (2000, 1)])
def test_a_thumbnail_copes_with_any_shape(size: tuple[int, int]) -> None:
    assert max(opened(thumbnail(png(size=size), 100)).size) <= 100


def test_a_prepared_picture_is_a_value() -> None:
    assert prepare_image(png()) == PreparedImage(png(), FileType.PNG, 40, 30)
