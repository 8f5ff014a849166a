"""PowerPoint presentations (PPTX, PPTM, slide shows and templates): a page a slide, with its notes.

Shapes come in the order in which a screen reader tells them, the title first. Hidden slides, which no audience sees,
are empty pages, so that the numbers of the others stay right.
"""

from collections.abc import Iterator
from pathlib import Path

from tributary.domain.errors import DamagedFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.graphics import alternative_text, charts_of, diagram_lines, pictures_of, says_anything
from tributary.files.parsing.limits import check_pages
from tributary.files.parsing.package import Package, open_package
from tributary.files.parsing.pictures import MAX_PICTURE_BYTES, gather
from tributary.files.parsing.titles import useful_title
from tributary.files.parsing.writing import Writing, cleaned
from tributary.files.parsing.xml import Element, attribute, child, children, descendants, name_of, number

_TITLES = frozenset({"title", "ctrTitle"})
#: Placeholders that say the same on each slide, and nothing of it.
_FURNITURE = frozenset({"sldNum", "dt", "hdr"})
_ON = frozenset({"1", "true"})
_BULLETED = frozenset({"body", "obj", ""})


def parse_pptx(path: Path) -> ParsedDocument:
    """The presentation's text and pictures.

    Raises:
        DamagedFile: its archive or its main part can't be read.
        EmptyFile: it has no text.
        FileTooLarge: it unpacks to too much, or has too many slides or too much text.
    """
    with open_package(path) as package:
        main = package.main_part()
        root = package.xml(main)
        if root is None:
            raise DamagedFile("The presentation is damaged: its main part is missing.")
        relations = package.relations(main)
        ids = [_relation_id(each) for each in children(child(root, "sldIdLst"), "sldId")]
        check_pages(len(ids))
        writer = _Writer(package, Writing())
        for slide_id in ids:
            related = relations.get(slide_id)
            writer.slide(related.part if related else "")
        pictures = gather(writer.writing.sights, lambda part: package.read(part, MAX_PICTURE_BYTES))
        return writer.writing.document(useful_title(package.title()), pictures)


def _relation_id(element: Element) -> str:
    """`id` without a namespace is the slide's number."""
    return next((str(value) for key, value in element.attrib.items() if str(key).endswith("}id")), "")


class _Writer:
    """Writes slide by slide."""

    def __init__(self, package: Package, writing: Writing) -> None:
        self.writing = writing
        self._package = package
        self._footers: set[str] = set()

    def slide(self, part: str) -> None:
        self.writing.begin_page()
        root = self._package.xml(part) if part else None
        if root is None or attribute(root, "show") in {"0", "false"}:
            return
        shapes = list(_shapes(child(root, "cSld", "spTree")))
        for shape in sorted(shapes, key=lambda each: _placeholder(each) not in _TITLES):
            self._shape(part, shape)
        for notes in self._package.related(part, "notesSlide"):
            self._notes(notes)

    def _notes(self, part: str) -> None:
        root = self._package.xml(part)
        for shape in _shapes(child(root, "cSld", "spTree")):
            if _placeholder(shape) == "body":
                for paragraph in children(child(shape, "txBody"), "p"):
                    self.writing.paragraph(_text_of(paragraph))

    def _shape(self, part: str, shape: Element) -> None:
        kind = name_of(shape)
        if kind == "graphicFrame":
            self._graphic(part, shape)
            return
        for picture in pictures_of(self._package, part, shape):
            self.writing.picture(picture)
        if kind == "pic":
            self.writing.paragraph(alternative_text(shape))
            return
        placeholder = _placeholder(shape)
        body = child(shape, "txBody")
        if placeholder in _FURNITURE or body is None:
            return
        if placeholder in _TITLES:
            self.writing.heading(1, " ".join(map(_text_of, children(body, "p"))))
        elif placeholder == "ftr":
            self._footer(" ".join(map(_text_of, children(body, "p"))))
        else:
            self._paragraphs(body, bulleted=placeholder in _BULLETED)

    def _footer(self, text: str) -> None:
        if text not in self._footers:
            self._footers.add(text)
            self.writing.paragraph(text)

    def _paragraphs(self, body: Element, *, bulleted: bool) -> None:
        """Paragraphs of a content placeholder are bullets by the slide's master, unless they say otherwise; those of
        a text box are the reverse."""
        paragraphs = [(each, _text_of(each)) for each in children(body, "p")]
        several = sum(bool(text.strip()) for _, text in paragraphs) > 1
        counts: dict[int, int] = {}
        for paragraph, text in paragraphs:
            properties = child(paragraph, "pPr")
            depth = number(attribute(properties, "lvl") if properties is not None else None)
            numbered = child(properties, "buAutoNum")
            plain = child(properties, "buNone") is not None
            if numbered is not None:
                start = number(attribute(numbered, "startAt"), 1)
                counts[depth] = counts.get(depth, start - 1) + 1
                self.writing.item(depth, f"{counts[depth]}.", text)
            elif child(properties, "buChar") is not None or (bulleted and several and not plain):
                self.writing.item(depth, "-", text)
            else:
                self.writing.paragraph(text)

    def _graphic(self, part: str, frame: Element) -> None:
        self.writing.paragraph(alternative_text(frame))
        for table in descendants(frame, "tbl"):
            rows = list(_rows(table))
            properties = child(table, "tblPr")
            named = properties is not None and attribute(properties, "firstRow") in _ON
            self.writing.table(rows, header=True if named and len(rows) > 1 else None)
        for line in diagram_lines(self._package, part, frame):
            self.writing.item(0, "-", line)
        for title, chart in charts_of(self._package, part, frame):
            self.writing.paragraph(title)
            if says_anything(chart):
                self.writing.table(chart, header=True)
        for picture in pictures_of(self._package, part, frame):
            self.writing.picture(picture)


def _shapes(tree: Element | None) -> Iterator[Element]:
    """The shapes in order, those of groups in the place of the group; hidden ones are left out."""
    for each in tree if tree is not None else ():
        name = name_of(each)
        if name == "AlternateContent":
            yield from _shapes(child(each, "Choice"))
        elif _is_hidden(each):
            continue
        elif name == "grpSp":
            yield from _shapes(each)
        elif name in {"sp", "pic", "graphicFrame", "cxnSp"}:
            yield each


def _is_hidden(shape: Element) -> bool:
    return any(
        attribute(properties, "hidden") in _ON
        for each in shape
        if name_of(each).startswith("nv") and (properties := child(each, "cNvPr")) is not None
    )


def _placeholder(shape: Element) -> str | None:
    """The placeholder's type, empty for one without; None for a shape that is no placeholder."""
    for each in shape:
        if name_of(each).startswith("nv"):
            found = child(each, "nvPr", "ph")
            return None if found is None else attribute(found, "type") or ""
    return None


def _text_of(paragraph: Element) -> str:
    parts: list[str] = []
    for each in paragraph.iter():
        name = name_of(each)
        if name == "t":
            parts.append(each.text or "")
        elif name == "br":
            parts.append("\n")
        elif name == "tab":
            parts.append("\t")
    return "".join(parts)


def _rows(table: Element) -> Iterator[list[str]]:
    """The texts of a table. A cell that a merged one covers is there, and empty: it gets the text of that one."""
    above: list[str] = []
    for row in children(table, "tr"):
        line: list[str] = []
        for column, cell in enumerate(children(row, "tc")):
            text = cleaned(" ".join(map(_text_of, children(child(cell, "txBody"), "p"))))
            if attribute(cell, "hMerge") in _ON and line:
                text = line[-1]
            elif attribute(cell, "vMerge") in _ON and column < len(above):
                text = above[column]
            line.append(text)
        above = line
        yield line
