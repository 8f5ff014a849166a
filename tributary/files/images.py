"""Pictures: whether one is sound, and pictures as models and people need them.

Pillow is loaded by the functions that decode. Call them in the sandbox: the bytes come from strangers.
"""

import importlib
import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tributary.domain.attachments import MAX_SENT_FILE_BYTES, FileType
from tributary.domain.errors import DamagedFile, FileTooLarge

if TYPE_CHECKING:
    from PIL import Image

#: The largest picture: what phones take, and at four bytes a pixel what a worker's memory holds. The decoder of WebP
#: keeps four copies.
MAX_PIXELS = 100_000_000
MAX_WEBP_PIXELS = 60_000_000
THUMBNAIL_SIDE = 320
#: Of a picture that is made smaller: models look at no more.
LONGEST_SIDE = 3_072
QUALITY = 90
#: A picture that grows over its limit when it is encoded anew is made smaller so many times at most.
SHRINK_STEPS = 6
_ORIENTATION = 0x0112
_UPRIGHT = frozenset({0, 1})
_LYING = frozenset({5, 6, 7, 8})
_PNG_DEPTH_OFFSET = 24

_NAMES = {FileType.JPEG: "JPEG", FileType.PNG: "PNG", FileType.WEBP: "WebP"}
_FORMATS = {FileType.JPEG: "JPEG", FileType.PNG: "PNG", FileType.WEBP: "WEBP"}
_PLUGINS = {FileType.JPEG: "JpegImagePlugin", FileType.PNG: "PngImagePlugin", FileType.WEBP: "WebPImagePlugin"}
_PLAIN_MODES = {
    FileType.JPEG: frozenset({"L", "RGB"}),
    FileType.PNG: frozenset({"L", "LA", "RGB", "RGBA"}),
    FileType.WEBP: frozenset({"RGB", "RGBA"}),
}
_TARGET_MODES = {"1": "L", "L": "L", "LA": "LA", "RGBA": "RGBA", "PA": "RGBA", "RGBa": "RGBA", "La": "LA"}


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An encoded picture that stands upright, in RGB, RGBA or greyscale of 8 bits, with one frame. `width` and
    `height` are in pixels."""

    data: bytes
    file_type: FileType
    width: int
    height: int


def check_image(path: Path, file_type: FileType) -> tuple[int, int]:
    """Decodes all pixels of the first frame. Width and height in pixels, as the picture is meant to be seen.

    Raises:
        DamagedFile: it can't be decoded to the end.
        FileTooLarge: it has more pixels than `MAX_PIXELS`, or `MAX_WEBP_PIXELS`.
    """
    with path.open("rb") as file, _opened(file, file_type) as image:
        width, height = image.size
        if file_type is FileType.JPEG:
            # At an eighth of its size all of the scan is still read, in a fraction of the memory and half the time.
            image.draft("RGB", (max(1, width // 8), max(1, height // 8)))
        image.load()
        lying = _orientation(image) in _LYING
    return (height, width) if lying else (width, height)


def prepare_image(data: bytes, max_bytes: int = MAX_SENT_FILE_BYTES) -> PreparedImage:
    """The picture as a model takes it. One that is plain already keeps its bytes; else it is encoded anew in its
    own format, with its first frame only; where it would grow over `max_bytes`, as a JPEG or WebP that fits.

    Raises:
        DamagedFile: it is no JPEG, PNG or WebP, or can't be decoded.
        FileTooLarge: it has more pixels than `MAX_PIXELS`, or `MAX_WEBP_PIXELS`.
    """
    file_type = image_type(data)
    with _opened(io.BytesIO(data), file_type) as image:
        image.load()
        if _is_plain(image, data, file_type):
            return PreparedImage(data, file_type, image.width, image.height)
        upright = _normalised(image)
        encoded = _encode(upright, file_type)
        if len(encoded) <= max_bytes:
            return PreparedImage(encoded, file_type, upright.width, upright.height)
        return _encode_within(upright, _compact_type(upright), max_bytes)


def shrink_image(data: bytes, max_bytes: int) -> PreparedImage:
    """The picture in at most `max_bytes`, upright, its first frame: a JPEG, or a WebP where it is transparent.
    Raises as `prepare_image`."""
    file_type = image_type(data)
    with _opened(io.BytesIO(data), file_type) as image:
        if file_type is FileType.JPEG:
            image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        image.load()
        upright = _normalised(image)
    upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return _encode_within(upright, _compact_type(upright), max_bytes)


def thumbnail(data: bytes, side: int = THUMBNAIL_SIDE) -> bytes:
    """A JPEG of at most `side` by `side` pixels, upright, on white. Raises as `prepare_image`."""
    from PIL import Image

    file_type = image_type(data)
    with _opened(io.BytesIO(data), file_type) as image:
        if file_type is FileType.JPEG:
            image.draft("RGB", (side, side))
        image.load()
        small = _normalised(image)
        small.thumbnail((side, side))
        if small.mode in {"LA", "RGBA"}:
            coloured = small.convert("RGBA")
            small = Image.new("RGB", small.size, "white")
            small.paste(coloured, mask=coloured)
        return _encode(small, FileType.JPEG)


def image_type(data: bytes) -> FileType:
    """The type by its mark. Raises `DamagedFile` for what is none of the three."""
    if data.startswith(b"\xff\xd8\xff"):
        return FileType.JPEG
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileType.PNG
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return FileType.WEBP
    raise DamagedFile("The picture is no JPEG, PNG or WebP.")


@contextmanager
def _opened(file: IO[bytes], file_type: FileType) -> "Iterator[Image.Image]":
    """The picture with its header read; what goes wrong while it is open is told in our words."""
    from PIL import Image

    importlib.import_module(f"PIL.{_PLUGINS[file_type]}")  # else Pillow loads all of its forty formats
    name = _NAMES[file_type]
    most = MAX_WEBP_PIXELS if file_type is FileType.WEBP else MAX_PIXELS
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata and large sizes: judged here, by errors
            with Image.open(file, formats=[_FORMATS[file_type]]) as image:
                if image.width * image.height > most:
                    raise _too_large(f"{image.width} × {image.height} pixels", most)
                yield image
    except Image.DecompressionBombError as error:
        raise _too_large("far too many pixels", most) from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise DamagedFile(f"The {name} is damaged or cut short: it can't be decoded to the end.") from error


def _too_large(size: str, most: int) -> FileTooLarge:
    return FileTooLarge(f"The picture has {size}; at most {most // 1_000_000} million are accepted.")


def _orientation(image: "Image.Image") -> int:
    """The EXIF orientation, 1 to 8; 1 where the metadata can't be read, since then no viewer turns it either. To be
    asked once the pixels are loaded: Pillow looks for EXIF behind them, and would report their faults here."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except (OSError, SyntaxError, ValueError, KeyError, TypeError, IndexError, struct.error):
        return 1
    return value if isinstance(value, int) else 1


def _is_plain(image: "Image.Image", data: bytes, file_type: FileType) -> bool:
    if file_type is FileType.PNG and data[_PNG_DEPTH_OFFSET] > 8:
        return False
    animated = file_type is not FileType.JPEG and getattr(image, "is_animated", False)
    return image.mode in _PLAIN_MODES[file_type] and _orientation(image) in _UPRIGHT and not animated


def _normalised(image: "Image.Image") -> "Image.Image":
    """The first frame, upright, with 8 bits a channel."""
    from PIL import ImageOps

    image.seek(0)
    turned = ImageOps.exif_transpose(image) if _orientation(image) not in _UPRIGHT else image
    if turned.mode.startswith("I"):  # 16 bits of grey: `convert` would cut the bright ones off
        return turned.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    transparent = "transparency" in turned.info
    target = "RGBA" if transparent else _TARGET_MODES.get(turned.mode, "RGB")
    return turned.convert(target) if turned.mode != target else turned


def _compact_type(image: "Image.Image") -> FileType:
    """The format in which a picture that is too large keeps most of its pixels."""
    return FileType.WEBP if image.mode in {"LA", "RGBA"} else FileType.JPEG


def _encode_within(image: "Image.Image", file_type: FileType, max_bytes: int) -> PreparedImage:
    encoded = _encode(image, file_type)
    for _ in range(SHRINK_STEPS):
        if len(encoded) <= max_bytes:
            break
        factor = 0.95 * (max_bytes / len(encoded)) ** 0.5
        image = image.resize((max(1, int(image.width * factor)), max(1, int(image.height * factor))))
        encoded = _encode(image, file_type)
    return PreparedImage(encoded, file_type, image.width, image.height)


def _encode(image: "Image.Image", file_type: FileType) -> bytes:
    buffer = io.BytesIO()
    if file_type is FileType.PNG:
        image.save(buffer, _FORMATS[file_type])
    else:
        image.save(buffer, _FORMATS[file_type], quality=QUALITY)
    return buffer.getvalue()
