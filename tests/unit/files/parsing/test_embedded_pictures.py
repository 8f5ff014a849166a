import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from tests.support import office
from tributary.domain.knowledge import ParsedDocument, Picture
from tributary.files.parsing import pictures
from tributary.files.parsing.docx import parse_docx
from tributary.files.parsing.html import parse_html
from tributary.files.parsing.pdf import parse_pdf
from tributary.files.parsing.pptx import parse_pptx

RED, BLUE = office.picture("red", (300, 200)), office.picture("blue", (300, 200))


def stored(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    return path


def colour_of(picture: Picture) -> str:
    """Which of the two it is."""
    red, _, blue = Image.open(io.BytesIO(picture.data)).convert("RGB").resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]
    return "red" if red > blue else "blue"


def test_pictures_of_a_word_document_follow_the_words_before_them(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_paragraph("About red.")
        document.add_picture(io.BytesIO(RED))
        document.add_paragraph("About blue.")
        document.add_picture(io.BytesIO(BLUE))
        document.add_picture(io.BytesIO(RED))
        document.add_picture(io.BytesIO(office.picture("red", (20, 20))))
        document.add_picture(io.BytesIO(office.picture("red", (900, 20))))

    document = parse_docx(stored(tmp_path, office.docx(write)))
    assert [(colour_of(each), each.page) for each in document.pictures] == [("red", None), ("blue", None)]
    assert [document.text[: each.offset] for each in document.pictures] == [
        "About red.",
        "About red.\n\nAbout blue.",
    ]


def test_a_picture_that_can_not_be_decoded_leaves_the_text_as_it_is(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_paragraph("Words.")
        document.add_picture(io.BytesIO(RED))

    content = office.docx(write)
    broken = office.changed(content, "word/media/image1.png", b"IDAT", b"XDAT")
    document = parse_docx(stored(tmp_path, broken))
    assert (document.text, document.pictures) == ("Words.", ())


def test_pictures_of_slides_have_their_page(tmp_path: Path) -> None:
    def write(presentation: Any) -> None:
        for colour, data in (("Red", RED), ("Blue", BLUE), ("Red again", RED)):
            slide = presentation.slides.add_slide(presentation.slide_layouts[5])
            slide.shapes.title.text = colour
            slide.shapes.add_picture(io.BytesIO(data), 0, 0)

    document = parse_pptx(stored(tmp_path, office.pptx(write)))
    assert [(colour_of(each), each.page) for each in document.pictures] == [("red", 1), ("blue", 2)]


def test_pictures_that_a_page_holds_itself_are_read_and_others_are_not_fetched(tmp_path: Path) -> None:
    url = "data:image/png;base64," + base64.b64encode(RED).decode()
    page = f"<p>Before<img src='{url}'><p>After<img src='http://127.0.0.1:9/x.png'><img src='data:image/png;base64,%%'>"
    document = parse_html(stored(tmp_path, page.encode()))
    [picture] = document.pictures
    assert (colour_of(picture), document.text[: picture.offset]) == ("red", "Before")


def pdf_with(pages: list[list[tuple[str, bytes, tuple[int, int, int, int]]]], words: int = 1) -> bytes:
    """Pages of 400 × 600 points. What is drawn: a text, and a picture's bytes in a box, from the lower left corner."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(400, 600), invariant=1)
    for drawn in pages:
        for text, data, (x, y, wide, high) in drawn:
            if text:
                for number in range(words):
                    canvas.drawString(x, y - 12 * number, text)
            if data:
                canvas.drawImage(ImageReader(io.BytesIO(data)), x, y, wide, high)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def lines_at(document: ParsedDocument) -> list[tuple[str, int | None, str]]:
    return [(colour_of(each), each.page, document.text[each.offset :].partition("\n")[0]) for each in document.pictures]


def test_pictures_of_a_pdf_stand_at_the_line_nearest_to_them(tmp_path: Path) -> None:
    pages = [
        [("Heading", b"", (50, 560, 0, 0)), ("", RED, (50, 300, 200, 150)), ("Figure 1", b"", (50, 285, 0, 0))],
        [("", BLUE, (50, 300, 200, 150)), ("Above it", b"", (50, 460, 0, 0)), ("Far below", b"", (50, 50, 0, 0))],
    ]
    document = parse_pdf(stored(tmp_path, pdf_with(pages)))
    assert lines_at(document) == [("red", 1, "Figure 1"), ("blue", 2, "Above it")]


def test_a_logo_on_each_page_is_told_once_and_a_scan_behind_its_words_never(tmp_path: Path) -> None:
    logo = ("", RED, (300, 500, 90, 60))
    pages = [[("Words of a page", b"", (50, 400, 0, 0)), logo] for _ in range(5)]
    document = parse_pdf(stored(tmp_path, pdf_with(pages)))
    assert [each[:2] for each in lines_at(document)] == [("red", 1)]
    scan = [[("", BLUE, (0, 0, 400, 600)), ("Words that a scanner read", b"", (50, 550, 0, 0))]]
    assert parse_pdf(stored(tmp_path, pdf_with(scan, words=30))).pictures == ()


def test_the_number_of_pictures_and_their_time_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(document: Any) -> None:
        document.add_paragraph("Many.")
        for shade in range(5):
            document.add_picture(io.BytesIO(office.picture(f"rgb({40 * shade},0,0)")))

    path = stored(tmp_path, office.docx(write))
    assert len(parse_docx(path).pictures) == 5
    monkeypatch.setattr(pictures, "MAX_PICTURES", 3)
    assert len(parse_docx(path).pictures) == 3
    monkeypatch.setattr(pictures, "GATHERING_SECONDS", -1.0)
    assert parse_docx(path).pictures == ()


@pytest.mark.parametrize(
    ("size", "large_enough"),
    [((48, 134), True), ((47, 300), False), ((60, 60), False), ((1000, 90), False), ((9000, 9000), False)],
)
def test_icons_rules_and_bombs_are_no_pictures(size: tuple[int, int], large_enough: bool) -> None:
    assert pictures.is_large_enough(*size) is large_enough


def test_transparent_and_deep_pictures_become_plain_ones(tmp_path: Path) -> None:
    gallery = pictures.Gallery()
    clear = Image.linear_gradient("L").convert("RGBA")
    clear.putalpha(Image.radial_gradient("L"))
    deep = Image.fromarray((np.arange(256 * 256, dtype=np.uint16)).reshape(256, 256))
    for image in (clear, deep, Image.radial_gradient("L").convert("P")):
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        taken = pictures.decoded(gallery, buffer.getvalue())
        assert taken is not None
        assert Image.open(io.BytesIO(taken)).mode == "RGB"
    buffer = io.BytesIO()
    Image.new("RGB", (300, 300), "green").save(buffer, "PNG")
    assert pictures.decoded(gallery, buffer.getvalue()) is None
