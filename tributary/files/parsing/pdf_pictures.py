"""Pictures on the pages of a PDF, each beside the line of text that stands nearest to it."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from tributary.domain.knowledge import Page, Picture
from tributary.files.parsing.pdf_text import PageText, RawPage
from tributary.files.parsing.pictures import BROKEN, MAX_PICTURE_BYTES, Gallery, is_large_enough

Box = tuple[float, float, float, float]

#: A picture over this share of a page with that many characters is its scan, not what it shows.
_BACKGROUND_SHARE = 0.9
_BACKGROUND_CHARACTERS = 300
#: Objects of one page that are looked at; drawings have hundreds of thousands.
_MAX_OBJECTS = 20_000
#: A line beside a picture counts as nearer than one as far above or below.
_SIDEWAYS = 0.5


@dataclass(frozen=True, slots=True)
class _Seen:
    """A picture on page `page` (from 0), beside the page's line of that number; -1 on a page without lines."""

    page: int
    line: int
    data: bytes


class PdfPictures:
    """Gathers pictures page by page, while the pages are open."""

    def __init__(self) -> None:
        self._gallery = Gallery()
        self._seen: list[_Seen] = []

    def look(self, number: int, page: pypdfium2.PdfPage, textpage: pypdfium2.PdfTextPage, raw: RawPage) -> None:
        if self._gallery.full:
            return
        for image in _images(page):
            try:
                box = tuple(image.get_bounds())
                data = None if _is_background(page, box, raw) else self._take(image)
            except (pypdfium2.PdfiumError, *BROKEN):
                continue
            if data is not None:
                self._seen.append(_Seen(number, _nearest_line(textpage, raw, box), data))
            if self._gallery.full:
                return

    def placed(self, pages: Sequence[Page], laid_out: Sequence[PageText]) -> tuple[Picture, ...]:
        """The pictures with their place in the document's text."""
        return tuple(self._place(seen, pages[seen.page], laid_out[seen.page]) for seen in self._seen)

    def _place(self, seen: _Seen, page: Page, text: PageText) -> Picture:
        offset = page.start + text.line_starts[seen.line] if seen.line >= 0 else page.start
        return Picture(seen.data, offset, page.number)

    def _take(self, image: pypdfium2.PdfImage) -> bytes | None:
        width, height = image.get_px_size()
        if not is_large_enough(width, height):
            return None
        raw = bytes(image.get_data(decode_simple=False))
        if len(raw) > MAX_PICTURE_BYTES or not self._gallery.is_new(raw + width.to_bytes(4, "big")):
            return None
        if image.get_filters() == ["DCTDecode"] and b"Adobe" not in raw[:4096]:
            with Image.open(io.BytesIO(raw), formats=("JPEG",)) as picture:
                return self._gallery.take(picture)
        return self._gallery.take(image.get_bitmap(render=False).to_pil())


def _images(page: pypdfium2.PdfPage) -> list[pypdfium2.PdfImage]:
    if pdfium.FPDFPage_CountObjects(page) > _MAX_OBJECTS:
        return []
    try:
        return list(page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    except pypdfium2.PdfiumError:
        return []


def _is_background(page: pypdfium2.PdfPage, box: tuple[float, ...], raw: RawPage) -> bool:
    left, bottom, right, top = box
    wide, high = page.get_size()
    covers = (right - left) * (top - bottom) >= _BACKGROUND_SHARE * wide * high
    return covers and len(raw.text) >= _BACKGROUND_CHARACTERS


def _nearest_line(textpage: pypdfium2.PdfTextPage, raw: RawPage, box: tuple[float, ...]) -> int:
    """By the gap between line and picture; -1 without lines."""
    left, bottom, right, top = box
    count = textpage.count_chars()
    best, nearest = -1, float("inf")
    for number, line in enumerate(raw.lines):
        above, below = line.bottom - top, bottom - (line.top + line.height)
        vertical = max(above, below, 0.0)
        if vertical >= nearest or line.end > count:
            continue
        first, last = textpage.get_charbox(line.start), textpage.get_charbox(line.end - 1)
        sideways = max(first[0] - right, left - last[2], 0.0)
        gap = vertical + _SIDEWAYS * sideways
        if gap < nearest:
            best, nearest = number, gap
    return best if best >= 0 or not raw.lines else 0
