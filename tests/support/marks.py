"""What a mark on a page's picture covers, read off its pixels."""

import io
from contextlib import closing

import numpy as np
import pypdfium2
from PIL import Image

#: The most blue that is left of a white ground under the marker, and what anti-aliasing adds.
_BLUE_UNDER_MARK = 150


def marked_text(picture: bytes, document: bytes, page: int) -> str:
    """The characters of page `page` (from 1), without blanks, that stand on marked ground in its picture: those in
    whose boxes no white is left."""
    with Image.open(io.BytesIO(picture)) as image:
        blue = np.asarray(image.convert("RGB"))[:, :, 2]
    with closing(pypdfium2.PdfDocument(document)) as pdf, closing(pdf[page - 1]) as sheet:
        scale = blue.shape[1] / sheet.get_width()
        high = sheet.get_height()
        with closing(sheet.get_textpage()) as text:
            return "".join(
                character
                for index, character in enumerate(text.get_text_range())
                if not character.isspace() and _is_marked(blue, text.get_charbox(index), scale, high)
            )


def _is_marked(
    blue: "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]", box: tuple[float, ...], scale: float, high: float
) -> bool:
    """`box` in points from the lower left corner; it is looked at with a pixel around it, so that ground is in it."""
    left, bottom, right, top = box
    rows = slice(int((high - top) * scale), int((high - bottom) * scale) + 1)
    columns = slice(int(left * scale) - 1, int(right * scale) + 2)
    ground = blue[rows, columns]
    return ground.size > 0 and bool(ground.max() <= _BLUE_UNDER_MARK)
