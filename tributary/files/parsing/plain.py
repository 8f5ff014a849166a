"""Plain text documents."""

import re
from pathlib import Path

from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.limits import check_characters, check_not_blank
from tributary.files.parsing.markdown import heading_text
from tributary.files.text import decode_text

#: A first line by itself: short, and set off by a blank line or an underline.
_BREAK = r"(?:\r\n|\n|\r)"
_TITLE_LINE = re.compile(
    rf"(?:[ \t]*{_BREAK})*[ \t]*(?P<title>\S[^\r\n]{{1,98}}[^\s.,;:。，])[ \t]*{_BREAK}"
    rf"[ \t]*(?:[=\-~*]{{3,}}[ \t]*)?{_BREAK}"
)
_TITLE_WITHIN = 4_096


def parse_text(path: Path) -> ParsedDocument:
    """The decoded text, verbatim; the title is a first line that stands by itself.

    Raises:
        EmptyFile: nothing but white space.
        DamagedFile: it can't be decoded as text.
        FileTooLarge: more text than a document may have.
    """
    text = decode_text(path.read_bytes())
    check_characters(len(text))
    check_not_blank(text)
    titled = _TITLE_LINE.match(text[:_TITLE_WITHIN])
    return ParsedDocument(text=text, title=heading_text(titled["title"].lstrip("# ")) if titled else "")
