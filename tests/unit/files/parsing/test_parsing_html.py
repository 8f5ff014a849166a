from collections.abc import Callable
from pathlib import Path

import pytest

from tributary.domain.errors import DamagedFile, EmptyFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.html import parse_html

Read = Callable[[str | bytes], ParsedDocument]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def parse(content: str | bytes) -> ParsedDocument:
        path = tmp_path / "0b5e"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return parse_html(path)

    return parse


def test_a_page_s_blocks_come_in_their_order(read: Read) -> None:
    page = """<!doctype html><html><head><title>Ferry &amp; times</title><style>p{}</style></head><body>
    <nav><a href=/>Home</a></nav><h1>Ferries</h1><p>They <b>leave</b>
    at&nbsp;noon<br>daily.<h2>Stops</h2><ul><li>Kiel<ol start=3><li>East<li>West</ol><li>Oslo <p>by night</p></ul>
    <script>alert(1)</script><pre><code>a
      b &lt;c&gt;</code></pre><div>loose <span>words</span></div></body></html>"""
    document = read(page)
    assert document.title == "Ferry & times"
    assert document.text == (
        "# Ferries\n\nThey leave at noon\ndaily.\n\n## Stops\n\n- Kiel\n  3. East\n  4. West\n- Oslo\n  by night\n\n"
        "```\na\n      b <c>\n```\n\nloose words"
    )
    assert [document.text[each.start : each.end] for each in document.headings] == ["# Ferries", "## Stops"]


def test_what_no_reader_sees_is_left_out(read: Read) -> None:
    page = (
        "<html><body><p>Seen</p><p hidden>a</p><p style='color:red; display : none'>b</p><template>c</template>"
        "<div aria-hidden=true>d</div><noscript>e</noscript><!-- f --><svg><text>g</text></svg>"
        "<p style='visibility:hidden'>h</p><select><option>i</option></select></body></html>"
    )
    assert read(page).text == "Seen"


def test_tables_keep_captions_headers_and_merged_cells(read: Read) -> None:
    page = """<table><caption>Depths</caption><thead><tr><th rowspan=2>Port<th colspan=2>Depth
    <tr><th>low<th>high</thead><tr><td rowspan=2>Kiel<td>8<td>9<tr><td>7<td>a | b</table>"""
    assert read(page).text == (
        "Depths\n\n| Port | Depth low | Depth high |\n| --- | --- | --- |\n| Kiel | 8 | 9 |\n| Kiel | 7 | a \\| b |"
    )


def test_a_table_that_lays_out_the_page_is_read_as_its_contents(read: Read) -> None:
    page = "<table><tr><td><h1>News</h1><p>Today</p></td><td><table><tr><th>a<th>b<tr><td>1<td>2</table></td></table>"
    assert read(page).text == "# News\n\nToday\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_alternative_texts_of_pictures_are_words(read: Read) -> None:
    assert read("<p>See <img src=x.png alt='the old crane'> here</p>").text == "See the old crane here"


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="windows-1251">', "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=koi8-r">', "koi8-r"),
        ('<?xml version="1.0" encoding="iso-8859-5"?>', "iso8859-5"),
        ("", "utf-16"),
        ("<meta charset=utf-16>", "utf-8"),
        ("<meta charset=windows-1251>", "utf-8-sig"),
        ("<meta charset=nonsense>", "utf-8"),
        ("<meta charset=utf-8>", "cp1251"),
    ],
)
def test_the_encoding_is_the_mark_s_then_the_declared_one_then_the_bytes_own(
    read: Read, declaration: str, encoding: str
) -> None:
    words = "Корабли уходят из гавани на рассвете и возвращаются к вечеру"
    page = f"<html><head><title>x</title></head><body><p>{words}</p></body></html>"
    source = declaration + page if declaration.startswith("<?") else page.replace("<title>", f"{declaration}<title>")
    assert read(source.encode(encoding)).text == words


def test_names_are_wider_than_in_python_as_browsers_have_them(read: Read) -> None:
    assert read("<meta charset=iso-8859-1><p>“5 €”</p>".encode("cp1252")).text == "“5 €”"
    assert read("<meta charset=gb2312><p>朱镕基</p>".encode("gb18030")).text == "朱镕基"


def test_a_page_may_nest_deeper_than_python_s_calls(read: Read) -> None:
    assert read("<div>" * 5_000 + "deep").text == "deep"


def test_a_page_that_nests_a_hundred_thousand_deep_is_refused_at_once(read: Read) -> None:
    with pytest.raises(DamagedFile, match="nest"):
        read("<div>" * 100_000 + "deep")


def test_elements_that_end_by_themselves_do_not_count_as_nested(read: Read) -> None:
    assert read("<p>word<br>" * 30_000).text.count("word") == 30_000


def test_a_line_of_ten_megabytes_is_read(read: Read) -> None:
    document = read("<p>" + "word " * 1_900_000)
    assert len(document.text) == 5 * 1_900_000 - 1


def test_a_page_without_words_is_empty(read: Read) -> None:
    with pytest.raises(EmptyFile):
        read("<html><body><script>1</script></body></html>")
