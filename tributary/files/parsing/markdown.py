"""Markdown documents. Their text stays verbatim, so offsets are those of the decoded source."""

import re
from collections.abc import Iterator
from pathlib import Path

from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.limits import check_characters, check_not_blank
from tributary.files.text import decode_text

#: A line with its break (`\\r\\n`, `\\n` or `\\r`); the match at the end of the text is empty.
LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})(?P<info>[^\r\n]*)")

_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))??(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:(?P<first>=+)|-{2,})[ \t]*$")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(?P<body>(?:.*\r?\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
_FRONT_TITLE = re.compile(r"(?im)^title[ \t]*:[ \t]*(?P<quote>[\"']?)(?P<title>.+?)(?P=quote)[ \t]*\r?$")
_TAG = re.compile(r"<[^<>]{1,200}>")
_LINK = re.compile(r"!?\[(?P<label>[^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?")
_ATTRIBUTES = re.compile(r"[ \t]*\{[#.][^{}]*\}[ \t]*$")
_EMPHASIS = re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3}|`+|~~)(?=\S)(?P<inner>.+?)(?<=[^\s\\])\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MAX_TITLE = 200
#: A longer line is no heading, whatever it begins with; this also bounds what the expressions above may cost.
_MAX_HEADING = 1_000
#: A title stands near the top; a document that has none is not searched to its end.
_TITLE_WITHIN = 65_536


def parse_markdown(path: Path) -> ParsedDocument:
    """The decoded source; the title is the front matter's, else the first heading's.

    Raises:
        EmptyFile: nothing but white space.
        DamagedFile: it can't be decoded as text.
        FileTooLarge: more text than a document may have.
    """
    text = decode_text(path.read_bytes())
    check_characters(len(text))
    check_not_blank(text)
    return ParsedDocument(text=text, title=markdown_title(text[:_TITLE_WITHIN]))


def markdown_title(text: str) -> str:
    """The front matter's title, else the first heading of the highest level near it, else nothing."""
    front = _FRONT_MATTER.match(text)
    titled = _FRONT_TITLE.search(front["body"]) if front else None
    if titled:
        return heading_text(titled["title"])[:_MAX_TITLE]
    for _level, heading in _headings(text[front.end() :] if front else text):
        if heading:
            return heading[:_MAX_TITLE]
    return ""


def front_matter_end(text: str) -> int:
    """Where a leading front matter ends; 0 without one."""
    front = _FRONT_MATTER.match(text)
    return front.end() if front else 0


def atx_heading(line: str) -> tuple[int, str] | None:
    """Level and readable text of a `# heading` line; None for any other."""
    found = _ATX.match(line) if len(line) <= _MAX_HEADING else None
    return (len(found["marks"]), heading_text(found["text"] or "")) if found else None


def underline_level(line: str) -> int | None:
    """1 or 2 where the line underlines the one above as a heading (`===`, `---`); None for any other."""
    found = _UNDERLINE.match(line)
    if found is None:
        return None
    return 1 if found["first"] else 2


def closes_fence(line: str, marks: str) -> bool:
    """Whether the line ends the fenced code that `marks` opened."""
    stripped = line.strip()
    return len(stripped) >= len(marks) and not stripped.strip(marks[0])


def heading_text(raw: str) -> str:
    """A heading as people read it: without tags, link targets, emphasis marks and attributes."""
    text = _TAG.sub("", _ATTRIBUTES.sub("", raw[:_MAX_HEADING]))
    text = _LINK.sub(lambda link: link["label"], text)
    text = _EMPHASIS.sub(lambda marked: marked["inner"], text)
    return " ".join(_ESCAPE.sub(r"\1", text).split())


def _headings(text: str) -> Iterator[tuple[int, str]]:
    fence = ""
    above = ""
    for found in LINE.finditer(text):
        line = found[0].rstrip("\r\n")
        if fence:
            fence = "" if closes_fence(line, fence) else fence
            continue
        opening = FENCE.match(line)
        if opening:
            fence = opening["marks"]
        elif heading := atx_heading(line):
            yield heading
        elif above.strip() and (level := underline_level(line)):
            yield level, heading_text(above)
        above = line
