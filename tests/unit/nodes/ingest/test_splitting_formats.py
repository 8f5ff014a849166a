"""What the parsers of Office documents and HTML write is what the splitter reads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nodes.ingest.blocks import Kind, header_row, read_blocks
from nodes.ingest.splitting import split
from tests.support import office
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.docx import parse_docx
from tributary.files.parsing.html import parse_html
from tributary.files.parsing.pptx import parse_pptx
from tributary.files.parsing.xlsx import parse_xlsx


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def parsed(parse: Any, tmp_path: Path, content: bytes) -> ParsedDocument:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    document: ParsedDocument = parse(path)
    return document


def test_rows_of_a_long_sheet_carry_its_name_and_its_column_names(tmp_path: Path) -> None:
    rows: list[list[object]] = [["Name | alias", "Tonnes"], *([f"ship {number}", number] for number in range(300))]
    document = parsed(parse_xlsx, tmp_path, office.xlsx({"Fleet of 2024": rows}))
    tables = [block for block in read_blocks(document) if block.kind is Kind.TABLE]
    assert [header_row(document.text, table) for table in tables] == ["Name | alias | Tonnes"]
    first, *others = split(document, count_tokens=count_words, max_tokens=120)
    assert first.text.startswith("# Fleet of 2024")
    assert len(others) > 5
    assert {chunk.heading for chunk in others} == {"Fleet of 2024 > Name | alias | Tonnes"}
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in others)


def test_headings_of_a_word_document_are_taken_by_their_words(tmp_path: Path) -> None:
    def write(document: Any) -> None:
        document.add_heading("Lists <T> of *C#*", 1)
        document.add_heading("#1 things", 2)
        document.add_paragraph("# no heading")

    document = parsed(parse_docx, tmp_path, office.docx(write))
    blocks = list(read_blocks(document))
    assert [block.kind for block in blocks] == [Kind.HEADING, Kind.HEADING, Kind.PARAGRAPH]
    assert blocks[-1].path == ("Lists <T> of *C#*", "#1 things")


def test_chunks_of_slides_stay_on_theirs_under_its_title(tmp_path: Path) -> None:
    def write(presentation: Any) -> None:
        for number in range(3):
            slide = presentation.slides.add_slide(presentation.slide_layouts[1])
            slide.shapes.title.text = f"Step {number}"
            slide.placeholders[1].text_frame.text = " ".join(f"word{each}." for each in range(40))

    document = parsed(parse_pptx, tmp_path, office.pptx(write))
    chunks = split(document, count_tokens=count_words, max_tokens=60)
    assert {chunk.page for chunk in chunks} == {1, 2, 3}
    assert {(chunk.page, chunk.heading) for chunk in chunks if not chunk.text.startswith("#")} <= {
        (number + 1, f"Step {number}") for number in range(3)
    }


def test_code_and_tables_of_a_page_are_blocks_of_their_kind(tmp_path: Path) -> None:
    page = b"<h1>A</h1><pre># x\n| a |</pre><ul><li>b</ul><table><tr><th>c<th>d<tr><td>1<td>2</table><p>---"
    blocks = list(read_blocks(parsed(parse_html, tmp_path, page)))
    assert [block.kind for block in blocks] == [Kind.HEADING, Kind.CODE, Kind.ITEM, Kind.TABLE, Kind.PARAGRAPH]
