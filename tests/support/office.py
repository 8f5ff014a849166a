"""Office documents, made with the libraries that people make them with, and changed where those can't."""

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import openpyxl
from docx import Document as WordDocument
from PIL import Image
from pptx import Presentation

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"


def picture(colour: str, size: tuple[int, int] = (120, 90), form: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize(size).convert("RGB").save(buffer, form)
    image = Image.open(buffer)
    tinted = Image.blend(image, Image.new("RGB", size, colour), 0.5)
    buffer = io.BytesIO()
    tinted.save(buffer, form)
    return buffer.getvalue()


def docx(write: Callable[[Any], None]) -> bytes:
    """A Word document as `write` fills it."""
    document = WordDocument()
    write(document)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def pptx(write: Callable[[Any], None]) -> bytes:
    presentation = Presentation()
    write(presentation)
    buffer = io.BytesIO()
    presentation.save(buffer)
    return buffer.getvalue()


def xlsx(sheets: Mapping[str, Sequence[Sequence[object]]], change: Callable[[Any], None] | None = None) -> bytes:
    """A workbook with these rows; `change` may do more to it."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    if change is not None:
        change(workbook)
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def word_of(body: str, parts: Mapping[str, tuple[str, str]] | None = None, main_type: str = MAIN_TYPE) -> bytes:
    """A Word document of this body (WordprocessingML with the prefix `w`). `parts` are further ones by their file's
    name in `word/`: the kind of the relation and the XML."""
    document = f'<w:document xmlns:w="{W}" xmlns:r="{_OFFICE}"><w:body>{body}</w:body></w:document>'
    return package(document, parts or {}, main_type)


def package(document: str, parts: Mapping[str, tuple[str, str]], main_type: str = MAIN_TYPE) -> bytes:
    """A package whose main part is `word/document.xml`."""
    relations = "".join(
        f'<Relationship Id="r{number}" Type="{_OFFICE}/{kind}" Target="{name}"/>'
        for number, (name, (kind, _)) in enumerate(parts.items())
    )
    members = {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/>'
        f'<Override PartName="/word/document.xml" ContentType="{main_type}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_RELATIONS}"><Relationship Id="r" Type="{_OFFICE}/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": document,
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_RELATIONS}">{relations}</Relationships>',
        **{f"word/{name}": xml for name, (_, xml) in parts.items()},
    }
    return archive(members)


def archive(members: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return buffer.getvalue()


def paragraph(text: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def compound(*streams: str) -> bytes:
    """The beginning of a compound file whose directory names these streams."""
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40) + (0).to_bytes(4, "little")
    entries = b"".join(f"{name}\0".encode("utf-16-le").ljust(128, b"\0") for name in ("Root Entry", *streams))
    return header.ljust(512, b"\0") + entries.ljust(1024, b"\0")


def changed(content: bytes, member: str, *replacements: bytes) -> bytes:
    """The archive with a member in which each first of two `replacements` became the second."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members: dict[str, str | bytes] = {name: file.read(name) for name in file.namelist()}
    text = members[member]
    assert isinstance(text, bytes)
    for old, new in zip(replacements[::2], replacements[1::2], strict=True):
        text = text.replace(old, new)
    return archive(members | {member: text})
