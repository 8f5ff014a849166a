from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import office
from tests.support.office import paragraph, word_of
from tributary.domain.errors import DamagedFile, EmptyFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.docx import parse_docx


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], ParsedDocument]:
    def parse(content: bytes) -> ParsedDocument:
        path = tmp_path / "0b5e"
        path.write_bytes(content)
        return parse_docx(path)

    return parse


def test_headings_paragraphs_lists_and_tables_come_in_their_order(read: Callable[[bytes], ParsedDocument]) -> None:
    def write(document: Any) -> None:
        document.add_heading("Crane handbook", 0)
        document.add_paragraph("Read this first.")
        document.add_heading("Loads", 1)
        document.add_paragraph("Check the hook", style="List Bullet")
        document.add_paragraph("Check the rope", style="List Bullet")
        document.add_paragraph("both strands", style="List Bullet 2")
        document.add_heading("Limits", 2)
        table = document.add_table(rows=3, cols=2)
        for row, texts in zip(table.rows, [("Crane", "Tonnes"), ("Ada", "12"), ("Bob | old", "7.5")], strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
        document.add_paragraph("The end.")

    document = read(office.docx(write))
    assert document.text == (
        "# Crane handbook\n\nRead this first.\n\n# Loads\n\n- Check the hook\n- Check the rope\n- both strands\n\n"
        "## Limits\n\n| Crane | Tonnes |\n| --- | --- |\n| Ada | 12 |\n| Bob \\| old | 7.5 |\n\nThe end."
    )
    assert document.title == "Crane handbook"
    assert [document.text[each.start : each.end] for each in document.headings] == [
        "# Crane handbook",
        "# Loads",
        "## Limits",
    ]
    assert [each.level for each in document.headings] == [1, 1, 2]


def test_what_was_deleted_or_hidden_is_no_text_and_what_was_inserted_is(
    read: Callable[[bytes], ParsedDocument],
) -> None:
    body = (
        "<w:p><w:r><w:t>We pay </w:t></w:r><w:del><w:r><w:delText>500</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t>700</w:t></w:r></w:ins><w:r><w:t> euros</w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secretly</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>.</w:t></w:r></w:p>'
        "<w:moveFrom><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:moveFrom>"
        "<w:p><w:moveFrom><w:r><w:t>was here</w:t></w:r></w:moveFrom></w:p>"
        "<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>lost row</w:t></w:r></w:p></w:tc></w:tr>"
        f"<w:tr><w:tc>{paragraph('left row')}</w:tc></w:tr></w:tbl>"
    )
    assert read(word_of(body)).text == "We pay 700 euros.\n\nleft row"


def test_fields_links_and_forms_give_what_is_shown_of_them(read: Callable[[bytes], ParsedDocument]) -> None:
    body = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DATE </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>3 May</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
        '<w:p><w:hyperlink r:id="r9"><w:r><w:t>our site</w:t></w:r></w:hyperlink>'
        "<w:r><w:noBreakHyphen/><w:t>x</w:t><w:softHyphen/><w:tab/><w:t>y</w:t><w:br/><w:t>z</w:t></w:r></w:p>"
        "<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>Filled in</w:t></w:r></w:p></w:sdtContent></w:sdt>"
        "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:p><w:r><w:t>Click here</w:t></w:r></w:p>"
        "</w:sdtContent></w:sdt>"
    )
    assert read(word_of(body)).text == "3 May\n\nour site-x y\nz\n\nFilled in"


def test_notes_stand_below_the_paragraph_that_refers_to_them(read: Callable[[bytes], ParsedDocument]) -> None:
    body = (
        '<w:p><w:r><w:t>Rivers flow</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
        + paragraph("Seas do not.")
        + '<w:p><w:r><w:t>Lakes</w:t></w:r><w:r><w:endnoteReference w:id="2"/></w:r></w:p>'
    )
    notes = (
        f'<w:{{0}}s xmlns:w="{office.W}"><w:{{0}} w:type="separator" w:id="0"><w:p/></w:{{0}}>'
        f'<w:{{0}} w:id="2">{paragraph("{1}")}</w:{{0}}></w:{{0}}s>'
    )
    parts = {
        "footnotes.xml": ("footnotes", notes.format("footnote", "Mostly.")),
        "endnotes.xml": ("endnotes", notes.format("endnote", "Still.")),
    }
    assert read(word_of(body, parts)).text == (
        "Rivers flow[^1]\n\n[^1]: Mostly.\n\nSeas do not.\n\nLakes[^2]\n\n[^2]: Still."
    )


def test_headers_and_footers_come_once_behind_the_text(read: Callable[[bytes], ParsedDocument]) -> None:
    margin = f'<w:hdr xmlns:w="{office.W}">{{}}</w:hdr>'
    parts = {
        "header1.xml": ("header", margin.format(paragraph("Project Falcon"))),
        "header2.xml": ("header", margin.format(paragraph("Project Falcon"))),
        "footer1.xml": ("footer", margin.format(paragraph("12 / 40"))),
    }
    assert read(word_of(paragraph("Body."), parts)).text == "Body.\n\nProject Falcon"


NUMBERING = f"""<w:numbering xmlns:w="{office.W}">
<w:abstractNum w:abstractNumId="5">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%2)"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1.%2.%3"/></w:lvl>
</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="5"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>"""


def numbered(text: str, depth: int, list_id: int = 1) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{list_id}"/></w:numPr>')


def test_numbers_of_lists_are_counted_as_word_shows_them(read: Callable[[bytes], ParsedDocument]) -> None:
    body = "".join(
        [
            numbered("one", 0),
            numbered("a", 1),
            numbered("b", 1),
            numbered("deep", 2),
            numbered("two", 0),
            numbered("a again", 1),
            numbered("seven", 0, 2),
            numbered("no list", 0, 0),
        ]
    )
    document = read(word_of(body, {"numbering.xml": ("numbering", NUMBERING)}))
    assert document.text == "1. one\n  a) a\n  b) b\n    1.b.1 deep\n2. two\n  a) a again\n7. seven\n\nno list"


def test_a_heading_has_its_number_and_a_contents_list_is_left_out(read: Callable[[bytes], ParsedDocument]) -> None:
    styles = (
        f'<w:styles xmlns:w="{office.W}"><w:style w:styleId="U1"><w:name w:val="heading 1"/><w:pPr>'
        '<w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
        '<w:style w:styleId="Own"><w:name w:val="My chapter"/><w:basedOn w:val="U1"/></w:style>'
        '<w:style w:styleId="T"><w:name w:val="toc 1"/></w:style>'
        '<w:style w:styleId="K"><w:name w:val="Source Code"/></w:style></w:styles>'
    )
    body = (
        paragraph("Scope 4", '<w:pStyle w:val="T"/>')
        + paragraph("Scope", '<w:pStyle w:val="U1"/>')
        + paragraph("x = 1", '<w:pStyle w:val="K"/>')
        + paragraph("  y = 2", '<w:pStyle w:val="K"/>')
        + paragraph("Terms", '<w:pStyle w:val="Own"/>')
        + paragraph("Part", '<w:outlineLvl w:val="2"/>')
    )
    parts = {"styles.xml": ("styles", styles), "numbering.xml": ("numbering", NUMBERING)}
    document = read(word_of(body, parts))
    assert document.text == "# 1. Scope\n\n```\nx = 1\n  y = 2\n```\n\n# 2. Terms\n\n### Part"
    assert document.title == "1. Scope"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"


def test_merged_cells_say_their_text_in_each_row_and_column(read: Callable[[bytes], ParsedDocument]) -> None:
    start, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = [
        cell("Region") + cell("Sales", '<w:gridSpan w:val="2"/>'),
        cell("North", start) + cell("Q1") + cell("5"),
        cell("", goes_on) + cell("Q2") + cell("6"),
    ]
    body = f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
    assert read(word_of(body)).text.splitlines() == [
        "| Region | Sales | Sales |",
        "| --- | --- | --- |",
        "| North | Q1 | 5 |",
        "| North | Q2 | 6 |",
    ]


def test_a_table_that_only_frames_text_is_read_as_text(read: Callable[[bytes], ParsedDocument]) -> None:
    inner = f"<w:tbl><w:tr>{cell('a')}{cell('b')}</w:tr><w:tr>{cell('1')}{cell('2')}</w:tr></w:tbl>"
    body = f"<w:tbl><w:tr>{cell('Left column')}<w:tc>{inner}{paragraph('below')}</w:tc></w:tr></w:tbl>"
    assert read(word_of(body)).text == "Left column\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nbelow"


def test_text_boxes_are_read_once(read: Callable[[bytes], ParsedDocument]) -> None:
    box = f"<w:txbxContent>{paragraph('In the box')}</w:txbxContent>"
    body = (
        '<w:p xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><w:r><mc:AlternateContent>'
        f"<mc:Choice><w:drawing><wps>{box}</wps></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict>{box}</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert read(word_of(paragraph("Beside.") + body)).text == "Beside.\n\nIn the box"


def test_what_looks_like_a_mark_in_ordinary_words_stays_words(read: Callable[[bytes], ParsedDocument]) -> None:
    document = read(word_of(paragraph("# not a heading") + paragraph("---") + paragraph("```")))
    assert document.text == "\\# not a heading\n\n\\---\n\n\\```"
    assert document.headings == ()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (word_of("<w:p/>"), EmptyFile),
        (word_of("<w:p><w:r>"), DamagedFile),
        (word_of(paragraph("x"))[:-30], DamagedFile),
        (office.package("", {}), EmptyFile),
        (office.archive({"word/document.xml": "<a/>"}), DamagedFile),
        (word_of("<w:p>" * 5_000 + "</w:p>" * 5_000), DamagedFile),
    ],
)
def test_a_document_that_says_nothing_or_is_broken_is_refused(
    read: Callable[[bytes], ParsedDocument], content: bytes, error: type[Exception]
) -> None:
    with pytest.raises(error):
        read(content)


PAGE = "<html><body><h1>Tides</h1><p>High at six</p></body></html>"
MAILED = """MIME-Version: 1.0
Content-Type: multipart/related; boundary=b

--b
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<h1>Tides</h1><p>High=20at six</p>
--b--
"""


@pytest.mark.parametrize("chunk", [PAGE, MAILED])
def test_pages_of_html_in_the_place_of_paragraphs_are_read(read: Callable[[bytes], ParsedDocument], chunk: str) -> None:
    body = paragraph("Before.") + '<w:altChunk r:id="r0"/>' + paragraph("After.")
    document = read(word_of(body, {"afchunk.mht": ("aFChunk", chunk)}))
    assert document.text == "Before.\n\n# Tides\n\nHigh at six\n\nAfter."


def test_strict_documents_are_read_like_transitional_ones(read: Callable[[bytes], ParsedDocument]) -> None:
    strict = "http://purl.oclc.org/ooxml/wordprocessingml/main"
    document = f'<w:document xmlns:w="{strict}"><w:body>{paragraph("Strictly.")}</w:body></w:document>'
    assert read(office.package(document, {})).text == "Strictly."
