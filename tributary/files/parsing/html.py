"""HTML pages: what a reader sees of them, as headings, paragraphs, lists, tables and code.

The tree is read with a stack of our own, since pages nest deeper than Python's calls may. Nothing is fetched and
nothing is run. Scripts, styles, hidden elements and navigation are left out.
"""

import base64
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from tributary.domain.errors import DamagedFile
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.html_charset import decode_html
from tributary.files.parsing.html_tables import is_layout, read_table
from tributary.files.parsing.pictures import MAX_PICTURE_BYTES, gather
from tributary.files.parsing.titles import useful_title
from tributary.files.parsing.writing import Writing, cleaned

_TEXT = "-text"
_SKIPPED_TAGS = """
    script style noscript template head iframe frame frameset object embed applet svg canvas audio video map
    select datalist nav rt rp annotation annotation-xml -comment dialog
"""
_SKIPPED = frozenset(_SKIPPED_TAGS.split())
_SKIPPED_ROLES = frozenset({"navigation", "search", "menu", "menubar", "tooltip"})
_HIDDEN = re.compile(r"(?i)(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))")
_HEADING = re.compile(r"h([1-6])$")
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_BLOCK_TAGS = """
    html body address article aside blockquote center dd details div dl dt fieldset figcaption figure footer form
    header hgroup hr legend li main p search section summary table tbody td tfoot th thead tr caption option textarea
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
#: Each level costs the parser a look at all levels above it.
_MAX_DEPTH = 10_000
#: Tables within tables that are still looked at as tables of data.
_MAX_TABLES = 12
#: Elements that nothing but their end tag ends, so that they nest as deep as a page likes.
_NESTING = re.compile(
    r"<(/)?(?:a|abbr|article|aside|b|big|blockquote|center|cite|code|details|div|dl|em|fieldset|font|form|i|ol|s"
    r"|section|small|span|strike|strong|sub|sup|table|tt|u|ul)(?=[\s/>])",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[ \t\n\r\f]+")


def parse_html(path: Path) -> ParsedDocument:
    """The page's text under its title, and the pictures that it holds itself (`data:` URLs).

    Raises:
        DamagedFile: it can't be decoded as text, or nests too deep.
        EmptyFile: nothing of it is seen.
        FileTooLarge: more text than a document may have.
    """
    writing = Writing()
    title = write_html(path.read_bytes(), writing)
    pictures = gather(writing.sights, _decode_data_url)
    return writing.document(useful_title(title), pictures)


def write_html(data: bytes, writing: Writing) -> str:
    """Writes what is seen of a page; its title as it stands. Raises as `parse_html` does."""
    source = decode_html(data)
    _check_depth(source)
    tree = LexborHTMLParser(source)
    if tree.root is not None:
        _Reader(writing).read(tree.root)
    title = None if tree.head is None else tree.head.css_first("title")
    return "" if title is None else title.text(deep=True)


def _decode_data_url(url: str) -> bytes | None:
    """The bytes that a `data:` URL holds; None where it holds none in base64, or too many."""
    head, comma, body = url.partition(",")
    if not comma or not head.lower().rstrip().endswith(";base64") or len(body) > 2 * MAX_PICTURE_BYTES:
        return None
    try:
        return base64.b64decode("".join(unquote(body).split()), validate=True)
    except ValueError:
        return None


def _check_depth(source: str) -> None:
    if source.count("<") <= _MAX_DEPTH:
        return
    depth = 0
    for tag in _NESTING.finditer(source):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > _MAX_DEPTH:
            raise DamagedFile(f"The page nests its elements more than {_MAX_DEPTH:,} deep.")


@dataclass(slots=True)
class _List:
    """A list that is open. `count` is the last number given; None without numbers."""

    count: int | None


class _Reader:
    """Gathers the words between two block boundaries and writes them as what the elements around say."""

    def __init__(self, writing: Writing) -> None:
        self._writing = writing
        self._words: list[str] = []
        self._lists: list[_List] = []
        self._marker: str | None = None
        self._items = 0
        self._preformatted = 0
        self._tables = 0

    def read(self, root: LexborNode) -> None:
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, seen = stack.pop()
            if seen:
                self._leave(node)
            elif self._enter(node):
                stack.append((node, True))
                stack.extend((each, False) for each in reversed(list(node.iter(include_text=True))))
        self._flush()

    def _enter(self, node: LexborNode) -> bool:
        """Whether to go on with what is in the node, and to leave it then."""
        tag = node.tag or ""
        if tag == _TEXT:
            self._read_text(node)
            return False
        if _is_skipped(tag, node):
            return False
        if tag == "table" and not self._lays_out(node) and self._read_table(node):
            return False
        if tag in _LISTS or tag in _BLOCKS or tag == "pre" or _HEADING.match(tag):
            self._flush()
        self._open(tag, node)
        return True

    def _lays_out(self, table: LexborNode) -> bool:
        """Below so many tables it is not looked for any more: each level looks at all levels under it."""
        return self._tables >= _MAX_TABLES or is_layout(table)

    def _open(self, tag: str, node: LexborNode) -> None:
        if tag == "table":
            self._tables += 1
        elif tag in _LISTS:
            self._lists.append(_List(_start(node) if tag == "ol" else None))
        elif tag == "li":
            self._items += 1
            self._marker = self._next_marker()
        elif tag == "pre":
            self._preformatted += 1
        elif tag == "br":
            self._words.append("\n")
        elif tag == "img":
            self._read_image(node)

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        heading = _HEADING.match(tag)
        if heading:
            self._writing.heading(int(heading[1]), self._take())
        elif tag == "pre":
            self._preformatted -= 1
            if not self._preformatted:
                self._writing.code(self._take())
        elif tag in _BLOCKS:
            self._flush()
        if tag in _LISTS:
            self._flush()
            self._lists.pop()
        elif tag == "li":
            self._items -= 1
            self._marker = None
        elif tag == "table":
            self._tables -= 1

    def _read_text(self, node: LexborNode) -> None:
        text = node.text_content or ""
        self._words.append(text if self._preformatted else _SPACE.sub(" ", text))

    def _read_image(self, node: LexborNode) -> None:
        source = node.attributes.get("src") or ""
        alternative = cleaned(node.attributes.get("alt") or "")
        if source[:11].lower() == "data:image/":
            self._flush()
            self._writing.picture(source)
        if alternative:
            self._words.append(f" {alternative} ")

    def _read_table(self, node: LexborNode) -> bool:
        table = read_table(node, _text_of)
        if table is None:
            return False
        self._flush()
        for image in node.css("img[src^='data:image/']"):
            self._writing.picture(image.attributes.get("src") or "")
        self._writing.paragraph(table.caption)
        self._writing.table(table.rows, header=table.header)
        return True

    def _next_marker(self) -> str:
        if not self._lists or self._lists[-1].count is None:
            return "-"
        self._lists[-1].count += 1
        return f"{self._lists[-1].count}."

    def _take(self) -> str:
        text = "".join(self._words)
        self._words = []
        return text

    def _flush(self) -> None:
        """Writes what was gathered: an item's first words behind its marker, others of it indented below."""
        if self._preformatted:
            return
        text = self._take()
        if not text.strip():
            return
        if not self._items:
            self._writing.paragraph(text)
            return
        depth = max(0, len(self._lists) - 1)
        if self._marker is None:
            self._writing.item(depth + 1, "", text)
        else:
            self._writing.item(depth, self._marker, text)
            self._marker = None


def _is_skipped(tag: str, node: LexborNode) -> bool:
    if tag in _SKIPPED:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or _HIDDEN.search(attributes.get("style") or ""):
        return True
    role = (attributes.get("role") or "").lower()
    return role in _SKIPPED_ROLES or (attributes.get("aria-hidden") or "").lower() == "true"


def _start(node: LexborNode) -> int:
    stated = (node.attributes.get("start") or "").strip()
    return int(stated) - 1 if stated.removeprefix("-").isdecimal() and len(stated) < 7 else 0


def _text_of(cell: LexborNode) -> str:
    """The words in a table's cell, on one line."""
    words: list[str] = []
    stack = [cell]
    while stack:
        node = stack.pop()
        tag = node.tag or ""
        if tag == _TEXT:
            words.append(node.text_content or "")
        elif node is cell or not _is_skipped(tag, node):
            if tag in _BLOCKS or tag in _LISTS or tag == "br":
                words.append(" ")
            elif tag == "img":
                words.append(f" {node.attributes.get('alt') or ''} ")
            stack.extend(reversed(list(node.iter(include_text=True))))
    return cleaned("".join(words))
