"""Documents with known content, for comparing parsers: what must come out, in which order, and what must not."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
from docx import Document
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml.parser import parse_xml
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_PARAGRAPH = "<w:p {w}>{runs}</w:p>"


@dataclass(frozen=True)
class Specimen:
    """`wanted` in the order of the document; `headings` with their words; `rows` are rows of tables, cell by cell."""

    name: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def word_document(path: Path) -> Specimen:
    document = Document()
    document.add_heading("Mooring rules", 0)
    document.add_heading("Lines", 1)
    document.add_paragraph("Every ship is held by at least six lines.")
    for text, style in (("bow line", "List Bullet"), ("of nylon", "List Bullet 2"), ("stern line", "List Bullet")):
        document.add_paragraph(text, style=style)
    body = document.element.body
    revised = (
        _run("The fee is ") + f"<w:del>{_run('500').replace('w:t', 'w:delText')}</w:del><w:ins>{_run('700')}</w:ins>"
        + _run(" euros.") + _run("internal remark", "<w:vanish/>")
    )  # fmt: skip
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "x"</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{_run("harbour office")}'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
    )
    control = f"<w:sdt><w:sdtContent>{_run('Chosen berth nine')}</w:sdtContent></w:sdt>"
    box = (
        '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox><w:txbxContent>'
        f"<w:p>{_run('Danger zone')}</w:p></w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    for runs in (revised, field, control, box):
        body.insert(len(body) - 1, parse_xml(_PARAGRAPH.format(w=_W, runs=runs)))
    document.add_heading("Prices", 2)
    table = document.add_table(rows=3, cols=3)
    for row, texts in enumerate([("Berth", "Summer", "Winter"), ("North", "11", "12"), ("", "13", "14")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    document.sections[0].header.paragraphs[0].text = "Port of Testing"
    notes = f'<w:footnotes {_W}><w:footnote w:id="2"><w:p>{_run("Open at eight.")}</w:p></w:footnote></w:footnotes>'
    part = Part(PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, notes.encode(), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    document.save(str(path))
    return Specimen(
        name="docx",
        wanted=(
            *("Mooring rules", "Lines", "six lines", "bow line", "of nylon", "stern line", "The fee is 700 euros."),
            *("harbour office", "Open at eight.", "Chosen berth nine", "Danger zone", "Prices", "Berth", "14"),
            "Port of Testing",
        ),
        unwanted=("500", "internal remark", "HYPERLINK"),
        headings=("Mooring rules", "Lines", "Prices"),
        rows=(("Berth", "Summer", "Winter"), ("North", "11", "12"), ("North", "13", "14")),
    )


def presentation(path: Path) -> Specimen:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Tide report"
    frame = slide.placeholders[1].text_frame
    frame.text = "High water at six"
    inner = frame.add_paragraph()
    inner.text, inner.level = "four metres", 1
    slide.notes_slide.notes_text_frame.text = "Mention the storm."
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Levels"
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, 10, 10).text_frame.text = "grouped words"
    table = slide.shapes.add_table(2, 2, 0, 0, 10, 10).table
    for row, texts in enumerate([("Gauge", "Metres"), ("East pier", "3.1")]):
        for column, text in enumerate(texts):
            table.cell(row, column).text = text
    data = CategoryChartData()  # type: ignore[no-untyped-call]
    data.categories = ["Spring tide", "Neap tide"]
    data.add_series("Range", (4.2, 2.1))  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 10, 10, data)
    hidden = made.slides.add_slide(made.slide_layouts[5])
    hidden.shapes.title.text = "Withdrawn"
    hidden._element.set("show", "0")
    made.save(str(path))
    return Specimen(
        name="pptx",
        wanted=(
            *("Tide report", "High water at six", "four metres", "Mention the storm.", "Levels", "grouped words"),
            *("Gauge", "East pier", "Spring tide", "4.2"),
        ),
        unwanted=("Withdrawn",),
        headings=("Tide report", "Levels"),
        rows=(("Gauge", "Metres"), ("East pier", "3.1")),
    )


def workbook(path: Path) -> Specimen:
    made = openpyxl.Workbook()
    sheet = made.worksheets[0]
    sheet.title = "Berths"
    for row in (["Berth plan 2024"], [], ["Quay", "Length", "Free"], ["West", 0.1 + 0.2, True], [None, 250, False]):
        sheet.append(row)
    sheet.merge_cells("A4:A5")
    secret = made.create_sheet("Payroll")
    secret.append(["salary of", 99999])
    secret.sheet_state = "hidden"
    other = made.create_sheet("Ships")
    other.append(["Name", "Tonnes"])
    other.append(["Ada", 1200])
    made.save(path)
    return Specimen(
        name="xlsx",
        wanted=("Berths", "Berth plan 2024", "Quay", "West", "250", "Ships", "Tonnes", "1200"),
        unwanted=("salary of", "NaN", "Unnamed", "0.30000000000000004", "1200.0"),
        headings=("Berths", "Ships"),
        rows=(("Quay", "Length", "Free"), ("Name", "Tonnes"), ("Ada", "1200")),
    )


_PAGE = """<!doctype html><html><head><meta charset="windows-1252"><title>Pilots</title>
<style>.x{color:red}</style></head><body><nav><a href="/">Start page</a></nav><main><h1>Pilots of the port</h1>
<p>A pilot comes aboard at the Schlüsselturm
&amp; leaves at sea.</p><h2>Fees</h2><table><thead><tr><th rowspan="2">Ship</th><th colspan="2">Fee</th></tr>
<tr><th>day</th><th>night</th></tr></thead><tbody><tr><td>Ferry</td><td>10</td><td>20</td></tr></tbody></table>
<ul><li>by boat<ul><li>in calm
weather</li></ul></li><li>by helicopter</li></ul><p style="display: none">invisible text</p><p hidden>hidden words</p>
<pre>radio  --channel 12
  wait</pre><p>Last line.</p><script>var secret = "script words"</script></main></body></html>"""


def page(path: Path) -> Specimen:
    path.write_bytes(_PAGE.encode("cp1252"))
    return Specimen(
        name="html",
        wanted=(
            *("Pilots of the port", "Schlüsselturm & leaves at sea", "Fees", "Ship", "Ferry", "20", "by boat"),
            *("in calm weather", "by helicopter", "radio  --channel 12\n  wait", "Last line."),
        ),
        unwanted=("invisible text", "hidden words", "script words", "color:red", "Start page"),
        headings=("Pilots of the port", "Fees"),
        rows=(("Ship", "Fee day", "Fee night"), ("Ferry", "10", "20")),
    )


def large_word_document(path: Path) -> None:
    document = Document()
    for chapter in range(40):
        document.add_heading(f"Chapter {chapter}", 1)
        for number in range(40):
            document.add_paragraph(f"Sentence {number} of chapter {chapter} tells of ships and tides. " * 4)
        table = document.add_table(rows=1, cols=4)
        for row in range(5):
            cells = table.add_row().cells
            for column in range(4):
                cells[column].text = f"{row}·{column}"
    document.save(str(path))


def large_presentation(path: Path) -> None:
    made = Presentation()
    for number in range(120):
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text = f"Slide {number}"
        slide.placeholders[1].text_frame.text = "\n".join(f"Point {each} of slide {number}" for each in range(8))
    made.save(str(path))


def large_workbook(path: Path) -> None:
    made = openpyxl.Workbook(write_only=True)
    sheet: Any = made.create_sheet("Log")
    sheet.append([f"column {number}" for number in range(10)])
    for row in range(10_000):
        sheet.append([f"text {row}", *(row * number / 7 for number in range(9))])
    made.save(path)


def large_page(path: Path) -> None:
    buffer = io.StringIO()
    buffer.write("<!doctype html><html><body>")
    for number in range(3_000):
        buffer.write(
            f"<div class=a><h3>Item {number}</h3><p>Words <b>of</b> <a href=x>item</a> {number}. " + "tide " * 20
        )
        buffer.write("</p><ul><li>one<li>two</ul></div>")
    path.write_text(buffer.getvalue(), "utf-8")


SPECIMENS: dict[str, tuple[Callable[[Path], Specimen], Callable[[Path], None]]] = {
    "docx": (word_document, large_word_document),
    "pptx": (presentation, large_presentation),
    "xlsx": (workbook, large_workbook),
    "html": (page, large_page),
}
