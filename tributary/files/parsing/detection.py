"""The true type of a document: what attachments may be as `tributary.files.sniff` finds it, Office packages by what
they declare, HTML by how it begins. A name decides only between types whose bytes are alike.
"""

import re
from pathlib import Path, PurePath
from typing import IO

from tributary.domain.attachments import FileType
from tributary.domain.errors import DamagedFile, TributaryError, UnsupportedType
from tributary.files.pages import needs_password
from tributary.files.signatures import name_of_markup
from tributary.files.sniff import BINARY_SUFFIXES, HEAD_BYTES, sniff
from tributary.files.text import decode_as, detect_encoding, holds_binary

HTML = "text/html"
CSV = "text/csv"
TSV = "text/tab-separated-values"
_OPENXML = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OPENXML}wordprocessingml.document"
PPTX = f"{_OPENXML}presentationml.presentation"
XLSX = f"{_OPENXML}spreadsheetml.sheet"

#: By what the main part is declared as. Templates and documents with macros are the same inside; no macro ever runs.
_MAIN_PARTS = {
    DOCX: re.compile(
        r"wordprocessingml\.(document|template)\.main|ms-word\.(document|template)\.macroEnabled(Template)?\.main"
    ),
    PPTX: re.compile(
        r"presentationml\.(presentation|slideshow|template)\.main"
        r"|ms-powerpoint\.(presentation|slideshow|template)\.macroEnabled\.main"
    ),
    XLSX: re.compile(r"spreadsheetml\.(sheet|template)\.main|ms-excel\.(sheet|template)\.macroEnabled\.main"),
}
_OTHER_MAIN_PARTS = (
    ("ms-excel.sheet.binary", "an Excel binary workbook (XLSB)"),
    ("ms-excel.addin", "an Excel add-in"),
    ("ms-powerpoint.addin", "a PowerPoint add-in"),
    ("ms-visio", "a Visio drawing"),
    ("xps", "an XPS document"),
)
_ZIP = b"PK\x03\x04"
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SECTOR_OFFSET = 48
#: Streams of a compound file that tell what it is, as they are named in its directory.
_ENCRYPTED = "EncryptedPackage"
_STREAMS = {
    "WordDocument": "an old Word document (.doc); save it as .docx to have it read",
    "Workbook": "an old Excel workbook (.xls); save it as .xlsx to have it read",
    "Book": "an old Excel workbook (.xls); save it as .xlsx to have it read",
    "PowerPoint Document": "an old PowerPoint presentation (.ppt); save it as .pptx to have it read",
    "__properties_version1.0": "an Outlook message (.msg)",
}
_NAMED_TEXT = {
    ".html": HTML, ".htm": HTML, ".xhtml": HTML, ".shtml": HTML, ".csv": CSV, ".tsv": TSV, ".tab": TSV,
}  # fmt: skip
_A_TAG = re.compile(r"<(?:!--|/?[a-zA-Z][a-zA-Z0-9-]*[\s/>])")


def detect(path: Path, filename: str) -> str:
    """The content type of a stored file.

    Raises:
        EmptyFile: there are no bytes.
        DamagedFile: a document that needs a password, or whose archive can't be read.
        UnsupportedType: anything else; the first sentence of `detail` names it.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(0)
        if head.startswith(_COMPOUND):
            raise _compound_refusal(file)
        if head.startswith(_ZIP):
            return _office_type(file, filename)
        text = _as_text(head)
        if text is not None and name_of_markup(text) == "an HTML page":
            return _refuse_false_name(HTML, "an HTML page", filename)
        found = sniff(file, filename).value
    if found == FileType.PDF and needs_password(path):
        raise DamagedFile("The PDF is protected by a password and can't be read without it.")
    if found == FileType.TEXT and text is not None:
        return _named_type(filename, text) or found
    return found


def _as_text(head: bytes) -> str | None:
    """The head as text; None where it is none."""
    try:
        text = decode_as(head, detect_encoding(head, cut=len(head) == HEAD_BYTES))
    except DamagedFile:
        return None
    return None if holds_binary(text) else text


def _refuse_false_name(content_type: str, found: str, filename: str) -> str:
    """An error page that was saved under the name of another kind of file is not what its name says, and nobody
    wants it found."""
    suffix = PurePath(filename).suffix.lower()
    if suffix in BINARY_SUFFIXES:
        raise UnsupportedType(f"The file is named {suffix}, but it is {found}.")
    return content_type


def _named_type(filename: str, text: str) -> str | None:
    """HTML without the frame of a page, and tables, are plain text but for their name."""
    named = _NAMED_TEXT.get(PurePath(filename).suffix.lower())
    return None if named == HTML and not _A_TAG.search(text) else named


def _office_type(file: IO[bytes], filename: str) -> str:
    from tributary.files.parsing.package import open_package

    try:
        with open_package(file) as package:
            declared = package.content_type(package.main_part())
    except TributaryError:
        # No Office document, or a broken one: the general look names other archives, ...
        file.seek(0)
        try:
            sniff(file, filename)
        except UnsupportedType as other:
            if "(DOCX)" not in other.detail and "(PPTX)" not in other.detail and "(XLSX)" not in other.detail:
                raise
        raise  # ... and of an Office document it is told what is wrong with it
    for content_type, main in _MAIN_PARTS.items():
        if main.search(declared):
            return content_type
    found = next((name for mark, name in _OTHER_MAIN_PARTS if mark in declared), "an Office document of another kind")
    raise UnsupportedType(f"The file is {found}.")


def _compound_refusal(file: IO[bytes]) -> TributaryError:
    """Why an Office file that is no ZIP is not read: it is encrypted, or of the time before 2007."""
    data = file.read()
    sector = int.from_bytes(data[_SECTOR_OFFSET : _SECTOR_OFFSET + 4], "little")
    directory = data[(sector + 1) * 512 :] or data
    if _stream(_ENCRYPTED) in directory or _stream(_ENCRYPTED) in data:
        return DamagedFile("The Office document is protected by a password and can't be read without it.")
    places = {name: place for name in _STREAMS if (place := directory.find(_stream(name))) >= 0}
    if not places:
        return UnsupportedType("The file is an old Office document, or another compound file.")
    return UnsupportedType(f"The file is {_STREAMS[min(places, key=lambda name: places[name])]}.")


def _stream(name: str) -> bytes:
    """As an entry of the directory bears it: UTF-16 with its end."""
    return f"{name}\0".encode("utf-16-le")
