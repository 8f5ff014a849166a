from collections.abc import Callable
from pathlib import Path

import pypdfium2
import pytest
from reportlab.pdfgen.canvas import Canvas

from tributary.domain.errors import DamagedFile, FileTooLarge
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing import limits
from tributary.files.parsing.pdf import page_characters, parse_pdf

Draw = Callable[[Canvas], None]


def write_pdf(path: Path, *pages: Draw, title: str = "", password: str | None = None) -> Path:
    canvas = Canvas(str(path), encrypt=password)
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def lines(*texts: str, size: float = 11, font: str = "Helvetica", top: float = 760, step: float = 1.25) -> Draw:
    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, size)
        for number, text in enumerate(texts):
            canvas.drawString(72, top - number * step * size, text)

    return draw


def both(*parts: Draw) -> Draw:
    def draw(canvas: Canvas) -> None:
        for part in parts:
            part(canvas)

    return draw


def page_texts(document: ParsedDocument) -> list[str]:
    return [document.text[page.start : page.end] for page in document.pages]


def test_pages_keep_their_numbers_and_offsets(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", lines("The first page."), lambda canvas: None, lines("The third page."))
    document = parse_pdf(path)
    assert [page.number for page in document.pages] == [1, 2, 3]
    assert page_texts(document) == ["The first page.", "", "The third page."]
    assert document.text == "The first page.\n\n\n\nThe third page."


def test_lines_of_a_paragraph_stay_together_and_paragraphs_apart(tmp_path: Path) -> None:
    first = lines("A paragraph begins here and", "goes on in a second line and", "ends in a third.")
    second = lines("Another one follows below", "with a line of its own.", top=700)
    document = parse_pdf(write_pdf(tmp_path / "a.pdf", both(first, second)))
    assert document.text == (
        "A paragraph begins here and\ngoes on in a second line and\nends in a third.\n\n"
        "Another one follows below\nwith a line of its own."
    )


def test_a_word_broken_at_a_line_end_is_whole_again(tmp_path: Path) -> None:
    page = lines("Nothing stands in the way of an exam-", "ple that is broken at the end.")
    assert "an example that" in parse_pdf(write_pdf(tmp_path / "a.pdf", page)).text


def test_a_compound_broken_at_its_hyphen_keeps_it(tmp_path: Path) -> None:
    page = lines("The long-term plan is old.", "Others ask for a plan that is long-", "term and cheap.")
    assert "is long-term and cheap" in parse_pdf(write_pdf(tmp_path / "a.pdf", page)).text


def test_the_boxes_of_a_passage_are_found_again(tmp_path: Path) -> None:
    page = both(lines("Some words of an exam-", "ple before the", "needle in the text."), lines("More.", top=600))
    path = write_pdf(tmp_path / "a.pdf", lines("Another page."), page)
    parsed = parse_pdf(path)
    text = page_texts(parsed)[1]
    start = text.index("needle")
    with pypdfium2.PdfDocument(path) as document:
        loaded = document[1]
        characters = page_characters(loaded, text)
        textpage = loaded.get_textpage()
        found = "".join(textpage.get_text_range(index, 1) for index in characters[start : start + 6])
        left, bottom, _right, top = textpage.get_charbox(characters[start])
        textpage.close()
        loaded.close()
    assert found == "needle"
    assert len(characters) == len(text)
    assert bottom < 760 - 2 * 1.25 * 11 + 8 < top + 4
    assert left == pytest.approx(72, abs=2)


def test_text_of_another_page_is_not_laid_over_this_one(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", lines("One page."))
    with pypdfium2.PdfDocument(path) as document:
        page = document[0]
        with pytest.raises(ValueError, match="was not laid out"):
            page_characters(page, "Another page.")
        page.close()


def test_headings_are_told_by_their_type(tmp_path: Path) -> None:
    body = ["Here is a long line of body text, of which there is much more"] * 6
    page = both(
        lines("A Report on Rivers", size=24, top=780),
        lines("Water levels", size=16, top=740),
        lines(*body, top=710),
        lines("In spring", font="Helvetica-Bold", top=600),
        lines(*body, top=570),
    )
    document = parse_pdf(write_pdf(tmp_path / "a.pdf", page))
    assert [(heading.level, document.text[heading.start : heading.end]) for heading in document.headings] == [
        (1, "A Report on Rivers"),
        (2, "Water levels"),
        (3, "In spring"),
    ]


def test_a_line_at_the_head_of_every_page_is_no_heading(tmp_path: Path) -> None:
    body = ["Here is a long line of body text, of which there is much more"] * 6
    pages = [
        both(lines(f"Annual Report, page {number}", size=18, top=790), lines(*body, top=740)) for number in range(6)
    ]
    assert parse_pdf(write_pdf(tmp_path / "a.pdf", *pages)).headings == ()


def test_the_title_is_the_one_in_the_metadata(tmp_path: Path) -> None:
    page = lines("Something else in large type", size=30)
    assert parse_pdf(write_pdf(tmp_path / "a.pdf", page, title="On  Rivers")).title == "On Rivers"


@pytest.mark.parametrize("useless", ["", "untitled", "(anonymous)", "Microsoft Word - draft.docx", "report_final.pdf"])
def test_a_useless_title_gives_way_to_the_largest_lines(tmp_path: Path, useless: str) -> None:
    body = ["Here is a long line of body text, of which there is much more"] * 6
    page = both(lines("Contoso", size=30, top=790), lines("Plan of Benefits", size=20, top=740), lines(*body, top=690))
    assert parse_pdf(write_pdf(tmp_path / "a.pdf", page, title=useless)).title == "Contoso – Plan of Benefits"


def test_a_document_without_large_type_has_no_title(tmp_path: Path) -> None:
    assert parse_pdf(write_pdf(tmp_path / "a.pdf", lines("Just a line."), title="untitled")).title == ""


def test_pages_that_are_pictures_are_a_document_without_text(tmp_path: Path) -> None:
    document = parse_pdf(write_pdf(tmp_path / "a.pdf", lambda canvas: canvas.rect(10, 10, 100, 100)))
    assert document.text == ""
    assert len(document.pages) == 1


def test_no_break_spaces_are_spaces(tmp_path: Path) -> None:
    assert parse_pdf(write_pdf(tmp_path / "a.pdf", lines("Non\xa0breaking"))).text == "Non breaking"


def test_a_password_is_named_as_the_reason(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "a.pdf", lines("Secret."), password="open sesame")
    with pytest.raises(DamagedFile, match="password"):
        parse_pdf(path)


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\n", b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n%%EOF", b"words"])
def test_a_broken_file_is_damaged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.pdf"
    path.write_bytes(content)
    with pytest.raises(DamagedFile):
        parse_pdf(path)


def test_too_many_pages_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_PAGES", 2)
    path = write_pdf(tmp_path / "a.pdf", *[lines("A page.")] * 3)
    with pytest.raises(FileTooLarge, match="3 pages"):
        parse_pdf(path)


def test_too_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_CHARACTERS", 20)
    with pytest.raises(FileTooLarge, match="characters"):
        parse_pdf(write_pdf(tmp_path / "a.pdf", lines("More than twenty characters.")))
