"""Pages of documents as pictures, with a passage marked. Call it in the sandbox: the bytes come from strangers."""

import io
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pypdfium2
from PIL import Image, ImageChops, ImageDraw

from tributary.domain.attachments import FileType
from tributary.domain.errors import Conflict, DamagedFile, NotFound
from tributary.files.images import thumbnail
from tributary.files.parsing.pdf import open_pdf, page_characters
from tributary.text.captions import without_last_caption

#: Pixels of a picture, and of either of its sides: pages may be a thousand times as high as they are wide.
MAX_PIXELS = 8_000_000
MAX_SIDE = 8_000
_MARKER = (255, 226, 110)
#: What a mark stands over its characters, as a share of their height.
_MARGIN = 0.08
#: Characters whose boxes overlap by this share of the lower one's height stand on one line.
_SAME_LINE = 0.5

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Passage:
    """Characters `start` to `end` of the text that was once parsed from the page."""

    page_text: str
    start: int
    end: int


def render_page(path: Path, content_type: str, number: int, width: int, passage: Passage | None) -> bytes:
    """Page `number` (from 1) as a PNG of about `width` pixels across, less where it would be too large. A picture is
    its own page 1, never larger than it is.

    Raises:
        NotFound: there is no such page.
        Conflict: the passage's text is not what the page says.
        DamagedFile: the document or its page can't be read.
    """
    if content_type == FileType.PDF:
        return _render_pdf(path, number, width, passage)
    if number != 1:
        raise NotFound("page", number)
    return _render_picture(path.read_bytes(), width)


def _render_picture(data: bytes, width: int) -> bytes:
    with Image.open(io.BytesIO(thumbnail(data, MAX_SIDE))) as image:
        wide = min(width, image.width)
        high = max(1, round(image.height * wide / image.width))
        return _png(image.resize((wide, high), Image.Resampling.LANCZOS) if wide < image.width else image)


def _render_pdf(path: Path, number: int, width: int, passage: Passage | None) -> bytes:
    with closing(open_pdf(path)) as document:
        if not 1 <= number <= len(document):
            raise NotFound("page", number)
        try:
            page = document[number - 1]
        except pypdfium2.PdfiumError as error:
            raise DamagedFile(f"The PDF is damaged: its page {number} can't be read.") from error
        with closing(page):
            bitmap = page.render(scale=_scale(page, width), may_draw_forms=False)
            image = bitmap.to_pil().convert("RGB")
            boxes = [] if passage is None else _boxes(page, passage)
            if boxes:
                converter = bitmap.get_posconv(page)
                image = _marked(image, [_on_bitmap(converter, box) for box in boxes])
    return _png(image)


def _scale(page: pypdfium2.PdfPage, width: int) -> float:
    wide, high = page.get_size()
    scale = width / max(wide, 1.0)
    most = min(MAX_SIDE / max(wide, high, 1.0), (MAX_PIXELS / max(wide * high, 1.0)) ** 0.5)
    return float(min(scale, most)) * (1 - 1e-9)  # pdfium counts the beginning of a pixel as a whole one


def _boxes(page: pypdfium2.PdfPage, passage: Passage) -> list[Box]:
    """Boxes that cover the passage line by line, in points of the page; of the captions at its end there are none."""
    indices = _characters(page, passage.page_text)[passage.start : passage.end]
    with closing(page.get_textpage()) as textpage:
        boxes = [textpage.get_charbox(index, loose=True) for index in indices if index >= 0]
    return list(_joined(boxes))


def _characters(page: pypdfium2.PdfPage, text: str) -> list[int]:
    """As `page_characters`, of what the page itself says."""
    while True:
        try:
            return page_characters(page, text)
        except ValueError as error:
            spoken = without_last_caption(text)
            if spoken == text:
                raise Conflict("The document's text was read from another version of its file") from error
            text = spoken


def _joined(boxes: Sequence[Box]) -> Iterator[Box]:
    """Neighbours on one line as one box. Blanks have none of their own, and are covered so."""
    line: Box | None = None
    for box in boxes:
        if box[2] <= box[0] or box[3] <= box[1]:
            continue
        if line is not None and _on_one_line(line, box):
            line = min(line[0], box[0]), min(line[1], box[1]), max(line[2], box[2]), max(line[3], box[3])
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _on_one_line(line: Box, box: Box) -> bool:
    """Also where the next column's line has the same height: then a gap wider than a few characters parts them."""
    height = min(line[3] - line[1], box[3] - box[1])
    overlap = min(line[3], box[3]) - max(line[1], box[1])
    gap = max(box[0] - line[2], line[0] - box[2])
    return overlap > _SAME_LINE * height and gap < 3 * height


def _on_bitmap(converter: pypdfium2.PdfPosConv, box: Box) -> Box:
    """In pixels, with a margin; pages may be turned."""
    x0, y0 = converter.to_bitmap(box[0], box[1])
    x1, y1 = converter.to_bitmap(box[2], box[3])
    margin = max(1.0, _MARGIN * abs(y1 - y0))
    return min(x0, x1) - margin, min(y0, y1) - margin, max(x0, x1) + margin, max(y0, y1) + margin


def _marked(image: Image.Image, boxes: Sequence[Box]) -> Image.Image:
    """As with a marker: what is dark under it stays as dark."""
    layer = Image.new("RGB", image.size, "white")
    draw = ImageDraw.Draw(layer)
    for box in boxes:
        draw.rectangle(box, fill=_MARKER)
    return ImageChops.multiply(image, layer)


def _png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()
