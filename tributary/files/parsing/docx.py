"""Word documents (DOCX, DOCM and their templates): what a reader of the final version sees.

Headings by style and outline level, with their numbers; lists with their labels; tables with merged cells filled;
footnotes below the paragraph that refers to them; text boxes and charts behind theirs; headers and footers once,
at the end. Deleted and hidden text, comments and generated tables of contents are left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.docx_numbering import Numbering
from tributary.files.parsing.docx_styles import Style, Styles
from tributary.files.parsing.docx_text import WordReader, Words
from tributary.files.parsing.graphics import alternative_text, charts_of, diagram_lines, pictures_of, says_anything
from tributary.files.parsing.grids import Cell, spread
from tributary.files.parsing.html import write_html
from tributary.files.parsing.mail import pages_of
from tributary.files.parsing.package import Package, open_package
from tributary.files.parsing.pictures import MAX_PICTURE_BYTES, gather
from tributary.files.parsing.titles import useful_title
from tributary.files.parsing.writing import Writing, cleaned
from tributary.files.parsing.xml import (
    MAX_XML_BYTES,
    Element,
    attribute,
    child,
    children,
    is_on,
    name_of,
    number,
    value_of,
)

_CONTAINERS = frozenset({"ins", "moveTo", "customXml", "smartTag", "sdtContent", "body", "txbxContent", "hdr", "ftr"})
#: A cell with more text than this, in several paragraphs, is a column of a page, and its table no table of data.
_LAYOUT_CELL = 2_000


def parse_docx(path: Path) -> ParsedDocument:
    """The document's text and pictures.

    Raises:
        DamagedFile: its archive or its main part can't be read.
        EmptyFile: it has no text.
        FileTooLarge: it unpacks to too much, or has too much text.
    """
    with open_package(path) as package:
        main = package.main_part()
        writing = Writing()
        writer = _Writer(package, main, writing)
        writer.write(package.xml(main))
        writer.write_margins()
        pictures = gather(writing.sights, lambda part: package.read(part, MAX_PICTURE_BYTES))
        return writing.document(useful_title(package.title()) or writer.title, pictures)


class _Writer:
    """Writes the blocks of one document."""

    def __init__(self, package: Package, part: str, writing: Writing) -> None:
        self._package = package
        self._part = part
        self._writing = writing
        self._styles = Styles(self._related("styles"))
        self._numbering = Numbering(self._related("numbering"))
        self._notes = {kind: self._read_notes(kind) for kind in ("footnote", "endnote")}
        self._marks: dict[tuple[str, str], int] = {}
        self._words = WordReader(self._mark)
        self._code: list[str] = []
        self.title = ""

    def write(self, root: Element | None) -> None:
        body = child(root, "body")
        self._blocks(root if body is None else body)
        self._end_code()

    def write_margins(self) -> None:
        """Headers and footers: each text once, however many sections repeat it."""
        seen: set[str] = set()
        for kind in ("header", "footer"):
            for part in self._package.related(self._part, kind):
                root = self._package.xml(part)
                lines = list(self._lines(root)) if root is not None else []
                text = "\n".join(line for line in lines if any(map(str.isalpha, line)))
                if text and text not in seen:
                    seen.add(text)
                    self._writing.paragraph(text)

    def _related(self, kind: str) -> Element | None:
        return next((self._package.xml(part) for part in self._package.related(self._part, kind)), None)

    def _read_notes(self, kind: str) -> dict[str, Element]:
        root = self._related(f"{kind}s")
        return {attribute(each, "id") or "": each for each in children(root, kind) if attribute(each, "type") is None}

    def _mark(self, kind: str, note: str) -> str:
        if note not in self._notes[kind]:
            return ""
        return f"[^{self._marks.setdefault((kind, note), len(self._marks) + 1)}]"

    def _blocks(self, container: Element | None) -> None:
        for each in container if container is not None else ():
            name = name_of(each)
            if name == "p":
                self._paragraph(each)
            elif name == "tbl":
                self._end_code()
                self._table(each)
            elif name in _CONTAINERS:
                self._blocks(each)
            elif name == "sdt" and child(each, "sdtPr", "showingPlcHdr") is None:
                self._blocks(child(each, "sdtContent"))
            elif name == "AlternateContent":
                self._blocks(child(each, "Choice"))
            elif name == "altChunk":
                self._end_code()
                self._foreign(attribute(each, "id") or "")

    def _foreign(self, relation_id: str) -> None:
        """A page of HTML that programs put in the place of paragraphs, for Word to convert when it opens the file."""
        related = self._package.relations(self._part).get(relation_id)
        data = self._package.read(related.part, MAX_XML_BYTES) if related is not None and related.part else None
        for page in pages_of(data or b""):
            write_html(page, self._writing)

    def _paragraph(self, element: Element) -> None:
        style = self._styles.of(element)
        if style.is_contents:
            return
        words = self._words.read(element)
        if style.is_code and not words.drawings:
            self._code.append(words.text)
            return
        self._end_code()
        if words.text.strip():
            self._text(element, style, words.text)
        self._behind([words])

    def _text(self, element: Element, style: Style, text: str) -> None:
        label, depth = self._label(element, style)
        if style.is_title:
            self.title = self.title or cleaned(text)[:200]
            self._writing.heading(1, text)
        elif style.level:
            self._writing.heading(style.level, f"{label} {text}" if label and label != "-" else text)
        elif label:
            self._writing.item(depth, label, text)
        else:
            self._writing.paragraph(text)

    def _label(self, element: Element, style: Style) -> tuple[str, int]:
        """Label and depth of a numbered paragraph. The list `0` is how a paragraph says that it is in none."""
        own = child(element, "pPr", "numPr")
        list_id = value_of(own, "numId") or style.list
        depth = number(value_of(own, "ilvl"), style.depth)
        label = self._numbering.label(list_id, depth) if list_id not in {"", "0"} else None
        return label or "", depth

    def _end_code(self) -> None:
        if self._code:
            self._writing.code("\n".join(self._code))
            self._code = []

    def _behind(self, read: Sequence[Words]) -> None:
        """What stands beside the text of paragraphs: drawings, then notes."""
        for words in read:
            for drawing in words.drawings:
                self._drawing(drawing)
            for kind, note in words.notes:
                if (mark := self._mark(kind, note)) and (element := self._notes[kind].pop(note, None)) is not None:
                    self._writing.paragraph(f"{mark}: {' '.join(self._lines(element))}")

    def _drawing(self, drawing: Element) -> None:
        for part in pictures_of(self._package, self._part, drawing):
            self._writing.picture(part)
        self._writing.paragraph(alternative_text(drawing))
        for line in diagram_lines(self._package, self._part, drawing):
            self._writing.item(0, "-", line)
        for title, rows in charts_of(self._package, self._part, drawing):
            self._writing.paragraph(title)
            if says_anything(rows):
                self._writing.table(rows, header=True)
        for box in _text_boxes(drawing):
            self._blocks(box)
            self._end_code()

    def _table(self, table: Element) -> None:
        rows = [row for row in _rows(table) if not _is_deleted(row)]
        cells = [list(_cells(row)) for row in rows]
        read: list[Words] = []
        grid = self._grid(rows, cells, read)
        if self._is_layout(cells, grid):
            for cell in (cell for row in cells for cell in row):
                self._blocks(cell)
            self._end_code()
            return
        named = bool(rows) and is_on(child(rows[0], "trPr"), "tblHeader")
        self._writing.table(grid, header=True if named and len(rows) > 1 else None)
        self._behind(read)

    def _grid(self, rows: Sequence[Element], cells: Sequence[Sequence[Element]], read: list[Words]) -> list[list[str]]:
        above: dict[int, str] = {}
        lines: list[list[Cell]] = []
        for row, row_cells in zip(rows, cells, strict=True):
            before = number(value_of(child(row, "trPr"), "gridBefore"))
            line = [Cell("")] * min(before, 64)
            column = len(line)
            for cell in row_cells:
                across = max(1, number(value_of(cell, "tcPr", "gridSpan"), 1))
                merged = child(cell, "tcPr", "vMerge")
                if merged is not None and attribute(merged, "val") != "restart":
                    text = above.get(column, "")
                else:
                    text = cleaned(" ".join(self._lines(cell, read)))
                above[column] = text if merged is not None and len(text) <= 200 else ""
                line.append(Cell(text, across))
                column += across
            lines.append(line)
        return spread(lines)

    def _is_layout(self, cells: Sequence[Sequence[Element]], grid: Sequence[Sequence[str]]) -> bool:
        """Whether the table only puts things beside each other: a frame, columns of a page, a table of tables."""
        if sum(map(len, cells)) <= 1 or any(len(text) > _LAYOUT_CELL for row in grid for text in row):
            return True
        inner = [each for row in cells for cell in row for each in cell]
        if any(name_of(each) == "tbl" for each in inner):
            return True
        return any(name_of(each) == "p" and self._styles.of(each).level for each in inner)

    def _lines(self, container: Element, read: list[Words] | None = None) -> Iterator[str]:
        """The paragraphs in a cell, a note or a margin, each as one text."""
        for each in container:
            name = name_of(each)
            if name == "p":
                words = self._words.read(each)
                label, _ = self._label(each, self._styles.of(each))
                if read is not None:
                    read.append(words)
                if words.text.strip():
                    yield f"{label} {words.text.strip()}" if label else words.text.strip()
            elif name not in {"tcPr", "trPr", "tblPr", "tblGrid", "sdtPr", "del", "moveFrom", "Fallback"}:
                yield from self._lines(each, read)


def _rows(table: Element) -> Iterator[Element]:
    for each in table:
        if name_of(each) == "tr":
            yield each
        elif name_of(each) in {"sdt", "sdtContent", "ins", "customXml"}:
            yield from _rows(each)


def _cells(row: Element) -> Iterator[Element]:
    for each in row:
        if name_of(each) == "tc":
            yield each
        elif name_of(each) in {"sdt", "sdtContent", "ins", "customXml"}:
            yield from _cells(each)


def _is_deleted(row: Element) -> bool:
    properties = child(row, "trPr")
    return child(properties, "del") is not None or is_on(properties, "hidden")


def _text_boxes(drawing: Element) -> Iterator[Element]:
    """The text boxes of a drawing. One within another is found when that one is read, and what is there for old
    readers says the same again."""
    for each in drawing:
        name = name_of(each)
        if name == "txbxContent":
            yield each
        elif name != "Fallback":
            yield from _text_boxes(each)
