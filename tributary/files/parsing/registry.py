"""Which formats a knowledge base takes, and the parser of each. A format is added by its module and a line here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from tributary.domain.attachments import FileType
from tributary.domain.errors import UnsupportedType
from tributary.domain.knowledge import ParsedDocument
from tributary.files.parsing.delimited import parse_delimited
from tributary.files.parsing.detection import CSV, DOCX, HTML, PPTX, TSV, XLSX, detect
from tributary.files.parsing.docx import parse_docx
from tributary.files.parsing.html import parse_html
from tributary.files.parsing.image import parse_image
from tributary.files.parsing.limits import PARSE_SECONDS
from tributary.files.parsing.markdown import parse_markdown
from tributary.files.parsing.pdf import parse_pdf
from tributary.files.parsing.plain import parse_text
from tributary.files.parsing.pptx import parse_pptx
from tributary.files.parsing.xlsx import parse_xlsx
from tributary.files.sniff import ALLOWED


@dataclass(frozen=True, slots=True)
class Format:
    """A format of documents. `seconds` is what the sandbox allows its parser."""

    name: str
    parse: Callable[[Path], ParsedDocument]
    seconds: float = PARSE_SECONDS
    #: Whether the name that people gave the file belongs to its text, as a picture has no other words.
    named: bool = False


_IMAGE_SECONDS = 30.0

#: By content type, as `document_type_of` finds it.
FORMATS: Mapping[str, Format] = {
    FileType.PDF.value: Format("PDF", parse_pdf),
    FileType.TEXT.value: Format("plain text (.txt)", parse_text),
    FileType.MARKDOWN.value: Format("Markdown (.md)", parse_markdown),
    HTML: Format("HTML", parse_html),
    DOCX: Format("Word (.docx)", parse_docx),
    PPTX: Format("PowerPoint (.pptx)", parse_pptx),
    XLSX: Format("Excel (.xlsx)", parse_xlsx),
    CSV: Format("CSV", parse_delimited),
    TSV: Format("TSV", parse_delimited),
    FileType.JPEG.value: Format("JPEG", parse_image, _IMAGE_SECONDS, named=True),
    FileType.PNG.value: Format("PNG", parse_image, _IMAGE_SECONDS, named=True),
    FileType.WEBP.value: Format("WebP", parse_image, _IMAGE_SECONDS, named=True),
}
_MAX_NAME = 200


def document_type_of(path: Path, filename: str) -> str:
    """The content type of a stored file, told from its bytes; `filename` is the user's and only tells formats apart
    whose bytes are alike (plain text, Markdown, CSV, a fragment of HTML).

    Raises:
        EmptyFile: there are no bytes.
        DamagedFile: an Office document that can't be unpacked or needs a password.
        UnsupportedType: a knowledge base does not take it; `detail` names what it is and what is taken.
    """
    taken = ", ".join(dict.fromkeys(each.name for each in FORMATS.values()))
    try:
        found = detect(path, filename)
    except UnsupportedType as error:
        reason = error.detail.removesuffix(f" Accepted are {ALLOWED}.")
        raise UnsupportedType(f"{reason} A knowledge base takes {taken}.") from error
    if found not in FORMATS:
        raise UnsupportedType(f"The file is {found}. A knowledge base takes {taken}.")
    return found


def parse_document(path: Path, content_type: str, filename: str) -> ParsedDocument:
    """Parses a stored file of a known content type; what the sandbox runs, with `FORMATS[content_type].seconds`.

    A document without a title of its own is called after its file, and a picture's text begins with its title.

    Raises:
        UnsupportedType: no format has this content type.
        CallerError: why the parser refuses the file (`DamagedFile`, `EmptyFile`, `FileTooLarge`).
    """
    format_ = FORMATS.get(content_type)
    if format_ is None:
        raise UnsupportedType(f"Documents of the type {content_type} can't be read.")
    parsed = format_.parse(path)
    title = parsed.title or title_from(filename)
    if not format_.named:
        return replace(parsed, title=title)
    names = dict.fromkeys(part for part in (title, title_from(filename), parsed.text) if part)
    return replace(parsed, title=title, text="\n\n".join(names))


def title_from(filename: str) -> str:
    """A file's name as people would write it: without its ending, underscores and runs of blanks."""
    stem = PurePath(filename.replace("\\", "/")).stem
    words = "".join(each if each.isprintable() and each != "_" else " " for each in stem).split()
    return " ".join(words)[:_MAX_NAME]
