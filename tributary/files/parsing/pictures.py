"""Pictures inside documents: found where they stand, brought to a size that a descriptor sees, and told once.

What is left out: icons, rules and bars (small, thin or of one colour), forms that only a printer's driver draws (EMF,
WMF, SVG), and a picture that was there before, such as a logo on each page.
"""

import hashlib
import io
import struct
import time
from collections.abc import Callable, Sequence

from PIL import Image, ImageOps

from tributary.domain.knowledge import Picture
from tributary.files.parsing.writing import Sight

#: Pictures of one document.
MAX_PICTURES = 200
MAX_PICTURE_BYTES = 32 * 2**20
MAX_PICTURE_PIXELS = 50_000_000
#: Seconds that the pictures of one document may take; those behind are left out, never its text.
GATHERING_SECONDS = 30.0
#: The descriptor looks at no more than this.
_SIDE = 512
_SMALLEST_SIDE = 48
_SMALLEST_AREA = 80 * 80
_MOST_STRETCHED = 10
_QUALITY = 88
_FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
#: What decoders raise on broken pictures. The document is read all the same.
BROKEN = (
    OSError, SyntaxError, ValueError, EOFError, TypeError, KeyError, IndexError, ArithmeticError, AttributeError,
    struct.error, Image.DecompressionBombError,
)  # fmt: skip


class Gallery:
    """The pictures of one document, while they are gathered in its order."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._ends = time.monotonic() + GATHERING_SECONDS
        self.count = 0

    @property
    def full(self) -> bool:
        return self.count >= MAX_PICTURES or time.monotonic() > self._ends

    def is_new(self, data: bytes) -> bool:
        """Whether these bytes were not asked for before."""
        digest = hashlib.sha256(data).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True

    def take(self, image: Image.Image) -> bytes | None:
        """The picture as a JPEG; None where it is none that anybody would search for, or was here before in another
        form."""
        if not is_large_enough(image.width, image.height):
            return None
        if image.format == "JPEG":
            image.draft("RGB", (_SIDE, _SIDE))
        small = _plain(image)
        if all(low == high for low, high in small.getextrema()):  # type: ignore[misc] # RGB has three
            return None
        buffer = io.BytesIO()
        small.save(buffer, "JPEG", quality=_QUALITY)
        data = buffer.getvalue()
        if not self.is_new(data):
            return None
        self.count += 1
        return data


def is_large_enough(width: int, height: int) -> bool:
    """In pixels. Too many are too large."""
    short, long = min(width, height), max(width, height)
    return (
        short >= _SMALLEST_SIDE
        and width * height >= _SMALLEST_AREA
        and long <= _MOST_STRETCHED * short
        and width * height <= MAX_PICTURE_PIXELS
    )


def gather(sights: Sequence[Sight], load: Callable[[str], bytes | None]) -> tuple[Picture, ...]:
    """The pictures that stand at `sights`, in that order. `load` brings the bytes of a sight's source; None where there
    are none."""
    gallery = Gallery()
    pictures: list[Picture] = []
    sources: set[str] = set()
    for sight in sights:
        if sight.source in sources:
            continue
        if gallery.full:
            break
        sources.add(sight.source)
        data = load(sight.source)
        if not data or len(data) > MAX_PICTURE_BYTES or not gallery.is_new(data):
            continue
        if (taken := decoded(gallery, data)) is not None:
            pictures.append(Picture(taken, sight.offset, sight.page))
    return tuple(pictures)


def decoded(gallery: Gallery, data: bytes) -> bytes | None:
    """An encoded picture as the gallery takes it; None where it can't be decoded, too."""
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return gallery.take(image)
    except BROKEN:
        return None


def _plain(image: Image.Image) -> Image.Image:
    """Upright, small, in RGB on white."""
    turned = ImageOps.exif_transpose(image)
    if turned.mode.startswith("I"):
        turned = turned.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if turned.mode not in {"RGB", "L"}:
        transparent = turned.mode in {"RGBA", "LA", "PA"} or "transparency" in turned.info
        if transparent:
            coloured = turned.convert("RGBA")
            turned = Image.new("RGB", coloured.size, "white")
            turned.paste(coloured, mask=coloured)
    small = turned.convert("RGB")
    small.thumbnail((_SIDE, _SIDE))
    return small
