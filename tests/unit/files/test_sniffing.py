"""What a file is, told from its bytes."""

import io
import zipfile
import zlib

import pytest

from tests.support.files import id3, jpeg, mp3, pdf, png, wav, webp
from tributary.domain.attachments import FileType
from tributary.domain.errors import EmptyFile, UnsupportedType
from tributary.files.sniff import ALLOWED, sniff


def type_of(data: bytes, filename: str = "file") -> FileType:
    return sniff(io.BytesIO(data), filename)


def found_in(data: bytes, filename: str = "file") -> str:
    """What the refusal says that it found."""
    with pytest.raises(UnsupportedType) as caught:
        type_of(data, filename)
    assert ALLOWED in caught.value.detail
    return caught.value.detail.removesuffix(f". Accepted are {ALLOWED}.").removeprefix("The file is ")


def archive(*members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for member in members:
            file.writestr(member, "content")
    return buffer.getvalue()


@pytest.mark.parametrize("filename", ["right.dat", "photo.gif", "letter.txt", "..", "noname"])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (jpeg(), FileType.JPEG),
        (png(), FileType.PNG),
        (webp(), FileType.WEBP),
        (pdf(), FileType.PDF),
        (wav(), FileType.WAV),
        (mp3(), FileType.MP3),
    ],
)
def test_a_binary_file_is_what_its_bytes_say_under_any_name(data: bytes, expected: FileType, filename: str) -> None:
    assert type_of(data, filename) is expected


@pytest.mark.parametrize("filename", ["notes.md", "NOTES.MD", "notes.markdown"])
def test_text_under_a_markdown_name_is_markdown(filename: str) -> None:
    assert type_of(b"# Title\n\nwords\n", filename) is FileType.MARKDOWN


@pytest.mark.parametrize("filename", ["notes.txt", "notes", "run.sh", "data.json", "table.csv", "notes.md.txt"])
def test_text_under_any_other_name_is_plain_text(filename: str) -> None:
    assert type_of(b"# Title\n\nwords\n", filename) is FileType.TEXT


@pytest.mark.parametrize(
    "text",
    [
        "#!/bin/sh\nrm -rf build\n",
        "#!/usr/bin/env python3\nprint('hello')\n",
        '{"key": [1, 2, 3]}\n',
        "a;b;c\n1;2;3\n",
        '<p align="center">A Markdown page may begin with an element</p>\n\n# Title\n',
        "<!-- a comment -->\n# Title\n",
        "MZ is how programs begin, BM how bitmaps do.",
        "PK stands for Philip Katz.",
        "ID3 tags hold titles.",
        "RIFF is a container. WAVE and WEBP use it.",
        "A PDF begins with\n%PDF-1.7\nand ends with an end mark.",
    ],
)
def test_text_that_people_read_as_it_stands_is_text(text: str) -> None:
    assert type_of(text.encode(), "file.txt") is FileType.TEXT


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_text_is_text_in_any_encoding(encoding: str) -> None:
    assert type_of("Grüße aus Köln,\nschöne Straßen.\n".encode(encoding), "gruss.txt") is FileType.TEXT


def test_a_utf_16_mark_is_no_mp3() -> None:
    assert type_of("\ufeffFF FE begins UTF-16".encode("utf-16-le"), "a.mp3.txt") is FileType.TEXT


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"<!DOCTYPE html>\n<html><body>x</body></html>", "an HTML page"),
        (b"\n <!-- made by hand --> <HTML><head></head></HTML>", "an HTML page"),
        (b"<script>alert(1)</script>", "an HTML page"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"></svg>', "an SVG image"),
        (b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG image"),
        (b'<?xml version="1.0"?>\n<!DOCTYPE html><html/>', "an HTML page"),
        (b'<?xml version="1.0"?>\n<note><to>you</to></note>', "an XML document"),
        ('<?xml version="1.0" encoding="UTF-16"?><note/>'.encode("utf-16"), "an XML document"),
        (rb"{\rtf1\ansi words}", "a Rich Text document"),
        (b"%!PS-Adobe-3.0\n", "a PostScript document"),
    ],
)
def test_the_source_of_another_document_is_named_whatever_its_name(data: bytes, name: str) -> None:
    assert found_in(data, "harmless.txt") == name
    assert found_in(data, "harmless.md") == name


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"GIF89a\x01\x00\x01\x00\x00\x00\x00;", "a GIF image"),
        (b"GIF89a", "a GIF image"),
        (b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00", "a BMP image"),
        (b"II*\x00\x08\x00\x00\x00", "a TIFF image"),
        (b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00", "a HEIC image"),
        (b"\x00\x00\x00\x18ftypavif\x00\x00\x00\x00", "an AVIF image"),
        (b"\x00\x00\x00\x18ftypM4A \x00\x00\x00\x00", "M4A audio"),
        (b"\x00\x00\x00\x18ftypisom\x00\x00\x00\x00", "an MP4 video"),
        (b"OggS\x00\x02" + bytes(20), "Ogg audio or video"),
        (b"fLaC\x00\x00\x00\x22" + bytes(20), "FLAC audio"),
        (b"\xff\xf1\x50\x80\x00\x1f\xfc" + bytes(20), "AAC audio"),
        (b"\xff\xfd\x90\x04" + bytes(20), "MPEG audio of layer II (MP2)"),
        (b"RF64\xff\xff\xff\xffWAVEds64" + bytes(20), "RF64 audio (the WAV form for recordings over 4 GB)"),
        (b"RIFX\x00\x00\x00\x20WAVEfmt ", "RIFX audio (a big-endian WAV)"),
        (b"RIFF\x20\x00\x00\x00AVI LIST", "an AVI video"),
        (b"RIFF\x20\x00\x00\x00ACONanih", "a RIFF file that holds neither WebP nor WAV"),
        (archive("word/document.xml"), "a Word document (DOCX)"),
        (archive("xl/workbook.xml"), "an Excel workbook (XLSX)"),
        (archive("ppt/presentation.xml"), "a PowerPoint presentation (PPTX)"),
        (archive("readme.txt"), "a ZIP archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(30), "an old or password-protected Office document"),
        (b"\x1f\x8b\x08\x00" + bytes(20), "a gzip archive"),
        (b"7z\xbc\xaf\x27\x1c\x00\x04", "a 7-Zip archive"),
        (b"MZ\x90\x00\x03\x00\x00\x00", "a Windows program"),
        (b"\x7fELF\x02\x01\x01" + bytes(20), "a Linux program"),
        (b"SQLite format 3\x00" + bytes(20), "an SQLite database"),
        (bytes(257) + b"ustar\x00" + bytes(100), "a tar archive"),
        (zlib.compress(b"x" * 999), "in a binary format that is not known here"),
        (bytes(64), "in a binary format that is not known here"),
        (id3() + b"fLaC\x00\x00\x00\x22" + bytes(20), "FLAC audio"),
    ],
)
def test_a_refusal_names_what_was_found(data: bytes, name: str) -> None:
    assert found_in(data, "song.mp3") == name


def test_binary_bytes_named_as_text_are_refused() -> None:
    assert found_in(b"\x00\x01\x02binary\x00\xff", "notes.txt") == "in a binary format that is not known here"


@pytest.mark.parametrize("filename", ["report.pdf", "photo.JPG", "letter.docx", "song.mp3"])
def test_plain_text_under_the_name_of_another_kind_is_refused(filename: str) -> None:
    suffix = "." + filename.rpartition(".")[2].lower()
    assert found_in(b"404 page not found\n", filename) == f"named {suffix}, but its bytes are plain text"


def test_an_empty_file_is_told_as_such() -> None:
    with pytest.raises(EmptyFile):
        type_of(b"", "empty.txt")


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\r\n\r\n", b"\x00\x00", b"junk of a mail gateway\x01\n"])
def test_a_pdf_header_may_stand_behind_a_few_bytes(before: bytes) -> None:
    assert type_of(before + pdf(), "x") is FileType.PDF


@pytest.mark.parametrize("header", [b"\xff\xfb", b"\xff\xfa", b"\xff\xf3", b"\xff\xf2", b"\xff\xe3", b"\xff\xe2"])
def test_an_mp3_may_begin_with_a_frame_of_any_version(header: bytes) -> None:
    assert type_of(header + b"\x48\x64" + bytes(1000), "x") is FileType.MP3


@pytest.mark.parametrize("before", [id3(), id3(200_000), id3() + id3(), bytes(37)])
def test_an_mp3_may_begin_with_tags_or_padding(before: bytes) -> None:
    assert type_of(before + mp3(6), "x") is FileType.MP3


@pytest.mark.parametrize("controls", [b"\x1b[31mred\x1b[0m", b"\x0c", b"\x1a", b"\x0b", b"\x08"])
def test_text_may_hold_the_controls_of_terminals_and_printers(controls: bytes) -> None:
    assert type_of(b"a line of a log\n" * 20 + controls, "log.txt") is FileType.TEXT
