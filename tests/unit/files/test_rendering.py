import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from tests.support import office
from tests.support.pages import pdf_of
from tributary.domain.errors import Conflict, DamagedFile, NotFound
from tributary.files.parsing.pdf import parse_pdf
from tributary.files.rendering import MAX_PIXELS, MAX_SIDE, Passage, render_page

PDF = "application/pdf"


def stored(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    return path


def drawn(path: Path, number: int = 1, width: int = 600, passage: Passage | None = None) -> Image.Image:
    image = Image.open(io.BytesIO(render_page(path, PDF, number, width, passage)))
    image.load()
    assert image.format == "PNG"
    return image.convert("RGB")


def one_line(turned: int = 0, size: tuple[float, float] = (400, 300)) -> bytes:
    """A page with `left middle right` at its centre height."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size, invariant=1)
    canvas.setPageRotation(turned)
    canvas.setFont("Helvetica", 20)
    canvas.drawString(100, 150, "left middle right")
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def passage_of(path: Path, words: str) -> Passage:
    text = parse_pdf(path).text
    start = text.index(words)
    return Passage(text, start, start + len(words))


def marked_area(plain: Image.Image, marked: Image.Image) -> tuple[int, int, int, int]:
    """Where the mark is, in pixels: what was white and is no more."""
    changed = (np.asarray(plain) == 255).all(axis=2) & (np.asarray(marked) != 255).any(axis=2)
    rows, columns = np.nonzero(changed)
    return int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1


def test_a_page_is_as_wide_as_asked_for(tmp_path: Path) -> None:
    path = stored(tmp_path, pdf_of(["First.", "Second."]))
    assert drawn(path, 2, 500).width == 500
    assert drawn(path, 1, 50).width == 50


def test_captions_at_the_end_of_a_page_are_no_part_of_what_it_shows(tmp_path: Path) -> None:
    path = stored(tmp_path, one_line())
    passage = passage_of(path, "middle")
    told = f"{passage.page_text}\n\n[Picture: A tower.]\n\n[Picture: A bridge.]"
    among, behind = Passage(told, passage.start, len(told)), Passage(told, len(told) - 9, len(told))
    assert marked_area(drawn(path, 1, 400), drawn(path, 1, 400, Passage(told, passage.start, passage.end)))
    assert marked_area(drawn(path, 1, 400), drawn(path, 1, 400, among))
    assert np.array_equal(np.asarray(drawn(path, 1, 400)), np.asarray(drawn(path, 1, 400, behind)))
    with pytest.raises(Conflict):
        drawn(path, 1, 400, Passage("Other.\n\n[Picture: A tower.]", 0, 3))


def test_the_passage_is_marked_where_its_words_stand(tmp_path: Path) -> None:
    path = stored(tmp_path, one_line())
    left, top, right, bottom = marked_area(drawn(path, width=400), drawn(path, 1, 400, passage_of(path, "middle")))
    assert 125 < left < 135
    assert 190 < right < 200
    assert 125 < top < 135
    assert 150 < bottom < 160


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_mark_turns_with_its_page(tmp_path: Path, turned: int) -> None:
    upright, lying = stored(tmp_path, one_line()), tmp_path / "turned"
    # reportlab gives the size as the page is seen.
    lying.write_bytes(one_line(turned, (400, 300) if turned == 180 else (300, 400)))
    passage = passage_of(upright, "middle")
    marked = drawn(upright, 1, 400, passage).rotate(-turned, expand=True)
    width = 400 if turned == 180 else 300
    expected = marked_area(drawn(upright, width=400).rotate(-turned, expand=True), marked)
    found = marked_area(drawn(lying, width=width), drawn(lying, 1, width, passage))
    assert found == pytest.approx(expected, abs=3)


def test_a_page_a_thousand_times_as_high_as_wide_stays_within_bounds(tmp_path: Path) -> None:
    image = drawn(stored(tmp_path, one_line(size=(14, 14_000))), width=2_000)
    assert max(image.size) <= MAX_SIDE
    assert image.width * image.height <= MAX_PIXELS


def test_a_page_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    path = stored(tmp_path, pdf_of(["Only."]))
    for number in (0, 2):
        with pytest.raises(NotFound):
            render_page(path, PDF, number, 100, None)
    with pytest.raises(NotFound):
        render_page(stored(tmp_path, office.picture("red")), "image/png", 2, 100, None)


def test_a_text_that_is_not_the_page_s_is_a_conflict(tmp_path: Path) -> None:
    path = stored(tmp_path, one_line())
    with pytest.raises(Conflict):
        drawn(path, 1, 100, Passage("of another file", 0, 5))


def test_a_broken_pdf_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile):
        drawn(stored(tmp_path, b"%PDF-1.7"))


def test_a_picture_is_its_own_page_and_never_enlarged(tmp_path: Path) -> None:
    path = stored(tmp_path, office.picture("blue", (200, 100), "JPEG"))
    for width, size in ((100, (100, 50)), (900, (200, 100))):
        image = Image.open(io.BytesIO(render_page(path, "image/jpeg", 1, width, None)))
        assert (image.format, image.size) == ("PNG", size)
