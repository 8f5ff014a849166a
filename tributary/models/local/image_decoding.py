"""Encoded pictures to pixels, small and upright, as the descriptor sees them."""

import io
import struct
import threading
import warnings
from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tributary.domain.errors import DamagedFile

#: The longest side that the descriptor works with, in pixels.
SIDE = 256
#: No side is made shorter than this: below it no keypoint finds room.
SHORTEST_SIDE = 24
#: More is refused unread. JPEG is decoded at a fraction of its size, so its memory stays small; PNG and WebP take
#: up to four bytes a pixel.
MAX_PIXELS = 100_000_000
#: Of the pictures above this many pixels one at a time is decoded.
_LARGE = 16_000_000

_FORMATS = ("JPEG", "PNG", "WEBP")
_DECODING_ERRORS = (OSError, SyntaxError, ValueError, EOFError, struct.error)
_METADATA_ERRORS = (*_DECODING_ERRORS, KeyError, TypeError, IndexError)
_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_REDUCIBLE = frozenset({"L", "LA", "RGB", "RGBA", "CMYK"})

Pixels = NDArray[np.float32]

_one_large = threading.Lock()


def decode_image(data: bytes) -> Pixels:
    """The picture in RGB from 0 to 1, upright, transparent parts on white: shape `(height, width, 3)`.

    Raises:
        DamagedFile: it is no JPEG, PNG or WebP, can't be decoded, or has more than `MAX_PIXELS`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd metadata and large sizes: judged here, by errors
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                pixels = image.width * image.height
                if pixels > MAX_PIXELS:
                    raise DamagedFile("The picture has too many pixels to be described.")
                if image.format in ("JPEG", "MPO"):
                    image.draft("RGB", (2 * SIDE, 2 * SIDE))
                with _one_large if pixels > _LARGE else nullcontext():
                    image.load()
                    return _pixels(image)
    except Image.DecompressionBombError as error:
        raise DamagedFile("The picture has too many pixels to be described.") from error
    except _DECODING_ERRORS as error:
        raise DamagedFile("The picture can't be decoded.") from error


def _pixels(image: Image.Image) -> Pixels:
    turn = _TURNS.get(_orientation(image))
    small = _plain(_reduced(image))
    scale = SIDE / max(small.size)
    width, height = (max(SHORTEST_SIDE, round(side * scale)) for side in small.size)
    small = small.resize((width, height), Image.Resampling.BILINEAR, reducing_gap=2.0)
    upright = small if turn is None else small.transpose(turn)
    return np.asarray(upright, np.float32) / np.float32(255)


def _reduced(image: Image.Image) -> Image.Image:
    """At half to a quarter of a large picture's way to its final size, before conversions copy it."""
    factor = min(max(image.size) // (4 * SIDE), min(image.size) // SHORTEST_SIDE)
    return image.reduce(factor) if factor > 1 and image.mode in _REDUCIBLE else image


def _orientation(image: Image.Image) -> int:
    """From EXIF; 1, upright, where the metadata can't be read, since then no viewer turns it either."""
    try:
        value = image.getexif().get(_ORIENTATION, 1)
    except _METADATA_ERRORS:
        return 1
    return value if isinstance(value, int) else 1


def _plain(image: Image.Image) -> Image.Image:
    """In RGB of 8 bits a channel."""
    if image.mode.startswith("I"):  # 16 bits of grey: `convert` would cut the bright ones off
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L").convert("RGB")
    if image.has_transparency_data:
        coloured = image.convert("RGBA")
        ground = Image.new("RGB", image.size, "white")
        ground.paste(coloured, mask=coloured)
        return ground
    return image.convert("RGB")
