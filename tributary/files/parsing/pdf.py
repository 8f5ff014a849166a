"""PDF documents through pdfium: text by pages, headings by type size, title.

The document's text is its page texts joined by `PAGE_SEPARATOR`; `Page.start` and `end` leave the separator out, and a
page without text has an empty range, so that page numbers are always those of the file. `page_characters` leads from a
page's stored text back to pdfium's characters, whose boxes a viewer marks.
"""

import ctypes
import math
import re
import statistics
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium

from tributary.domain.errors import DamagedFile
from tributary.domain.knowledge import Page, ParsedDocument
from tributary.files.pages import without_needless_password
from tributary.files.parsing.limits import check_characters, check_pages
from tributary.files.parsing.pdf_headings import find_headings, title_on_first_page
from tributary.files.parsing.pdf_pictures import PdfPictures
from tributary.files.parsing.pdf_text import (
    LINE_END_HYPHEN,
    NOT_ON_PAGE,
    PageText,
    RawLine,
    RawPage,
    hyphen_rule,
    lay_out,
    origins_of,
    paragraph_rule,
    usual_step,
)
from tributary.files.parsing.titles import MAX_TITLE, useful_title

PAGE_SEPARATOR = "\n\n"

_LINE = re.compile(r"[^\r\n]+")
#: What lines are trimmed of; one that holds nothing else is no line. Controls and soft hyphens are dropped anyway.
_BLANKS = "".join(map(chr, range(33))) + "\x7f\x85\xa0\xad\u2028\u2029\ufeff\uffff"
_BOLD = 600
#: Fonts that every reader has, and TeX's, carry no weight but in their names.
_BOLD_NAME = re.compile(rb"(?i)bold|black|heavy|CMBX|SFBX")
_MAX_FONT_NAME = 128


def parse_pdf(path: Path) -> ParsedDocument:
    """The document's text, layout and pictures; text is empty where its pages are pictures.

    Raises:
        DamagedFile: pdfium can't read it, it needs a password, or it has no pages.
        FileTooLarge: more pages or text than a document may have.
    """
    with closing(open_pdf(path)) as document:
        check_pages(len(document))
        pictures = PdfPictures()
        raw = list(_raw_pages(document, pictures))
        metadata_title = _metadata_title(document)
    step = usual_step(raw)
    keeps_hyphen = hyphen_rule(raw)
    laid_out = [lay_out(page, paragraph_rule(page, step), keeps_hyphen) for page in raw]
    pages = _place(laid_out)
    return ParsedDocument(
        text=PAGE_SEPARATOR.join(page.text for page in laid_out),
        pages=pages,
        title=metadata_title or title_on_first_page(raw, step)[:MAX_TITLE],
        headings=find_headings(raw, laid_out, [page.start for page in pages], step),
        pictures=pictures.placed(pages, laid_out),
    )


def page_characters(page: pypdfium2.PdfPage, text: str) -> list[int]:
    """pdfium's character index of each character of the page's stored `text`; -1 for line breaks of ours.

    Raises:
        ValueError: the text was not parsed from this page.
    """
    with closing(page.get_textpage()) as textpage:
        raw = _raw_page(textpage)
        indices = _character_indices(textpage, raw.text)
    return [at if at == NOT_ON_PAGE else indices[at] for at in origins_of(raw, text)]


def open_pdf(path: Path) -> pypdfium2.PdfDocument:
    """The open document, which the caller closes. Raises `DamagedFile`, as `parse_pdf` does."""
    try:
        document = pypdfium2.PdfDocument(without_needless_password(path))
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise DamagedFile("The PDF is protected by a password and can't be read without it.") from error
        raise DamagedFile("The PDF is damaged: it can't be opened.") from error
    if not len(document):
        document.close()
        raise DamagedFile("The PDF has no pages.")
    return document


def _raw_pages(document: pypdfium2.PdfDocument, pictures: PdfPictures) -> Iterator[RawPage]:
    """Every page; one that can't be loaded counts as blank, unless that is true of all."""
    characters = loaded = 0
    for number in range(len(document)):
        page = _load(document, number)
        if page is None:
            yield RawPage("", ())
            continue
        loaded += 1
        with closing(page), closing(page.get_textpage()) as textpage:
            raw = _raw_page(textpage)
            pictures.look(number, page, textpage, raw)
        characters += len(raw.text)
        check_characters(characters)
        yield raw
    if not loaded:
        raise DamagedFile("The PDF is damaged: none of its pages can be read.")


def _load(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage | None:
    try:
        return document[number]
    except pypdfium2.PdfiumError:
        return None


def _raw_page(textpage: pypdfium2.PdfTextPage) -> RawPage:
    text = textpage.get_text_range()
    indices = _character_indices(textpage, text)
    lines = []
    for found in _LINE.finditer(text):
        content = found[0].strip(_BLANKS)
        if content:
            start = found.start() + found[0].index(content)
            lines.append(_measure(textpage, indices, start, start + len(content)))
    return RawPage(text, tuple(lines))


def _measure(textpage: pypdfium2.PdfTextPage, indices: Sequence[int], start: int, end: int) -> RawLine:
    sampled = first, _, last = indices[start], indices[(start + end) // 2], indices[end - 1]
    return RawLine(
        start=start,
        end=end,
        top=_baseline(textpage, first),
        bottom=_baseline(textpage, last),
        height=max(0.1, statistics.median(_height(textpage, at) for at in sampled)),
        bold=sum(_is_bold(textpage, at) for at in sampled) >= 2,
    )


def _baseline(textpage: pypdfium2.PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, index, x, y)
    return y.value


def _height(textpage: pypdfium2.PdfTextPage, index: int) -> float:
    """Of the type as it stands on the page: many programs set a font size of 1 and scale it by the matrix."""
    matrix = pdfium.FS_MATRIX()
    scaled = pdfium.FPDFText_GetMatrix(textpage, index, matrix)
    scale = math.hypot(matrix.c, matrix.d) if scaled else 1.0
    return float(pdfium.FPDFText_GetFontSize(textpage, index) * scale)


def _is_bold(textpage: pypdfium2.PdfTextPage, index: int) -> bool:
    if pdfium.FPDFText_GetFontWeight(textpage, index) >= _BOLD:
        return True
    name = ctypes.create_string_buffer(_MAX_FONT_NAME)
    pdfium.FPDFText_GetFontInfo(textpage, index, name, _MAX_FONT_NAME, ctypes.c_int())
    return _BOLD_NAME.search(name.value) is not None


def _character_indices(textpage: pypdfium2.PdfTextPage, text: str) -> Sequence[int]:
    """Where each character of `text` stands among pdfium's: the same place, except on pages where its text leaves
    some out (controls, parts of surrogate pairs)."""
    count = textpage.count_chars()
    if count == len(text):
        return range(count)
    indices: list[int] = []
    at = -1
    for character in text:
        wanted = 2 if character == LINE_END_HYPHEN else ord(character)
        ahead = at + 1
        while ahead < count and pdfium.FPDFText_GetUnicode(textpage, ahead) != wanted:
            ahead += 1
        at = ahead if ahead < count else min(at + 1, count - 1)
        indices.append(at)
    return indices


def _place(pages: Sequence[PageText]) -> tuple[Page, ...]:
    placed: list[Page] = []
    start = 0
    for number, page in enumerate(pages, start=1):
        placed.append(Page(number, start, start + len(page.text)))
        start += len(page.text) + len(PAGE_SEPARATOR)
    return tuple(placed)


def _metadata_title(document: pypdfium2.PdfDocument) -> str:
    return useful_title(document.get_metadata_value("Title"))
