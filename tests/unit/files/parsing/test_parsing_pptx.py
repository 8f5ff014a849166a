from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from tests.support import office
from tributary.domain.errors import EmptyFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.pptx import parse_pptx

TITLE_AND_CONTENT, TITLE_ONLY, BLANK = 1, 5, 6


@pytest.fixture
def read(tmp_path: Path) -> Callable[[bytes], ParsedDocument]:
    def parse(content: bytes) -> ParsedDocument:
        path = tmp_path / "0b5e"
        path.write_bytes(content)
        return parse_pptx(path)

    return parse


def pages(document: ParsedDocument) -> list[str]:
    assert [page.number for page in document.pages] == list(range(1, len(document.pages) + 1))
    return [document.text[page.start : page.end] for page in document.pages]


def add_slide(presentation: Any, layout: int, title: str = "") -> Any:
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if title:
        slide.shapes.title.text = title
    return slide


def add_box(slide: Any, text: str) -> Any:
    box = slide.shapes.add_textbox(Inches(1), Inches(4), Inches(3), Inches(1))
    box.text_frame.text = text
    return box


def test_a_slide_is_a_page_with_its_title_bullets_and_notes(read: Callable[[bytes], ParsedDocument]) -> None:
    def write(presentation: Any) -> None:
        slide = add_slide(presentation, TITLE_AND_CONTENT, "Harbour plan")
        frame = slide.placeholders[1].text_frame
        frame.text = "Dredge the basin"
        for text, level in [("by June", 1), ("Build the quay", 0)]:
            paragraph = frame.add_paragraph()
            paragraph.text, paragraph.level = text, level
        slide.notes_slide.notes_text_frame.text = "Say that money is there."
        add_box(add_slide(presentation, TITLE_ONLY, "Thanks"), "Questions?")

    document = read(office.pptx(write))
    assert pages(document) == [
        "# Harbour plan\n\n- Dredge the basin\n  - by June\n- Build the quay\n\nSay that money is there.",
        "# Thanks\n\nQuestions?",
    ]
    assert document.title == "Harbour plan"
    assert [document.text[each.start : each.end] for each in document.headings] == ["# Harbour plan", "# Thanks"]


def test_the_title_comes_first_wherever_it_stands_among_the_shapes(read: Callable[[bytes], ParsedDocument]) -> None:
    def write(presentation: Any) -> None:
        slide = add_slide(presentation, TITLE_ONLY, "Title")
        box = add_box(slide, "drawn first")
        slide.shapes._spTree.remove(box._element)
        slide.shapes._spTree.insert(2, box._element)

    assert pages(read(office.pptx(write))) == ["# Title\n\ndrawn first"]


def test_groups_tables_and_charts_are_read(read: Callable[[bytes], ParsedDocument]) -> None:
    def write(presentation: Any) -> None:
        slide = add_slide(presentation, BLANK)
        group = slide.shapes.add_group_shape()
        group.shapes.add_textbox(0, 0, 10, 10).text_frame.text = "in a group"
        table = slide.shapes.add_table(3, 3, 0, 0, 10, 10).table
        for row, texts in enumerate([("Port", "Ships", ""), ("Kiel", "4", "5"), ("", "6", "7")]):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(1, 0).merge(table.cell(2, 0))
        data = CategoryChartData()  # type: ignore[no-untyped-call]
        data.categories = ["May", "June"]
        data.add_series("Tonnes", (3.5, 4))  # type: ignore[no-untyped-call]
        slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 10, 10, data)

    [page] = pages(read(office.pptx(write)))
    assert page == (
        "in a group\n\n| Port | Ships | Ships |\n| --- | --- | --- |\n| Kiel | 4 | 5 |\n| Kiel | 6 | 7 |\n\n"
        "|  | Tonnes |\n| --- | --- |\n| May | 3.5 |\n| June | 4 |"
    )


def test_hidden_and_empty_slides_keep_their_number(read: Callable[[bytes], ParsedDocument]) -> None:
    def write(presentation: Any) -> None:
        add_slide(presentation, BLANK)
        add_slide(presentation, TITLE_ONLY, "Hidden")._element.set("show", "0")
        add_slide(presentation, TITLE_ONLY, "Third")

    assert pages(read(office.pptx(write))) == ["", "", "# Third"]


def test_a_picture_is_told_by_what_its_author_wrote_of_it(
    read: Callable[[bytes], ParsedDocument], tmp_path: Path
) -> None:
    image = tmp_path / "a.png"
    image.write_bytes(office.picture("red"))

    def write(presentation: Any) -> None:
        shape = add_slide(presentation, BLANK).shapes.add_picture(str(image), 0, 0)
        shape._element._nvXxPr.cNvPr.set("descr", "The old lighthouse")

    assert pages(read(office.pptx(write))) == ["The old lighthouse"]


def test_a_presentation_without_words_is_empty(read: Callable[[bytes], ParsedDocument]) -> None:
    with pytest.raises(EmptyFile):
        read(office.pptx(lambda presentation: add_slide(presentation, BLANK)))
