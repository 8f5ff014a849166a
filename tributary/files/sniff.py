"""The true type of a file, from its bytes.

Names and declared types come from strangers and decide nothing, but for one thing that the bytes can't tell: Markdown
and plain text are the same bytes, so `.md` names the first. And a name that promises another kind of file is
believed to the extent that a file of plain text under it is refused: an error page saved as `report.pdf`.
"""

import re
from pathlib import PurePath
from typing import IO

from tributary.domain.attachments import FileType
from tributary.domain.errors import DamagedFile, EmptyFile, UnsupportedType
from tributary.files.mpeg import chain_at, find_frames, frame_at, skip_id3
from tributary.files.signatures import name_of_binary, name_of_markup
from tributary.files.text import decode_as, detect_encoding, holds_binary, unicode_encoding

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 2048
#: A PDF's header may stand behind other bytes, within the first 1,024.
PDF_HEADER_WITHIN = 1024

ALLOWED = "JPEG, PNG and WebP images, PDF, plain text (.txt), Markdown (.md), MP3 and WAV audio"
MARKDOWN_SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkd"})
#: Kinds of file that are never plain text.
_BINARY_SUFFIXES = """
    .pdf .png .jpg .jpeg .jpe .jfif .webp .gif .bmp .tif .tiff .heic .heif .avif .ico .psd
    .mp3 .wav .wave .ogg .oga .opus .flac .m4a .aac .wma .mp4 .m4v .mov .avi .mkv .webm
    .zip .gz .tgz .bz2 .xz .7z .rar .tar .dmg .iso .jar .apk .exe .dll .so .bin .class .wasm
    .doc .docx .xls .xlsx .ppt .pptx .odt .ods .odp .epub .ttf .otf .woff .sqlite .parquet
"""
BINARY_SUFFIXES = frozenset(_BINARY_SUFFIXES.split())
_PDF_HEADER = re.compile(rb"(?:^|[\r\n])%PDF-")
UNKNOWN = "in a binary format that is not known here"


def sniff(file: IO[bytes], filename: str) -> FileType:
    """The type of the open file, which is read at its beginning and end only. That it begins like that type does
    not make it sound: see `tributary.files.soundness`.

    Raises:
        EmptyFile: there are no bytes.
        UnsupportedType: it is something else; `detail` names what was found and what is allowed.
    """
    head = file.read(HEAD_BYTES)
    if not head:
        raise EmptyFile("The file is empty.")
    found = _marked_type(file, head)
    if found is not None:
        return found
    if _is_binary(head):
        return _binary_type(file, head)
    return _text_type(head, filename)


def unsupported(found: str) -> UnsupportedType:
    return UnsupportedType(f"The file is {found}. Accepted are {ALLOWED}.")


def _marked_type(file: IO[bytes], head: bytes) -> FileType | None:
    """The type whose mark the file bears."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileType.PNG
    if head.startswith(b"\xff\xd8\xff"):
        return FileType.JPEG
    if head.startswith(b"RIFF") and head[8:12] in {b"WEBP", b"WAVE"}:
        return FileType.WEBP if head[8:12] == b"WEBP" else FileType.WAV
    if _bears_pdf_header(file, head):
        return FileType.PDF
    return None


def _bears_pdf_header(file: IO[bytes], head: bytes) -> bool:
    if head.lstrip(b"\xef\xbb\xbf\x00\t\n\r ").startswith(b"%PDF-"):
        return True
    if not _PDF_HEADER.search(head[:PDF_HEADER_WITHIN]):
        return False
    # A text about PDF may quote the header; only a real one ends like a PDF as well.
    size = file.seek(0, 2)
    file.seek(max(0, size - TAIL_BYTES))
    tail = file.read(TAIL_BYTES)
    return b"startxref" in tail and b"%%EOF" in tail


def _is_binary(head: bytes) -> bool:
    """Whether no text is made of such bytes."""
    if unicode_encoding(head) is not None:
        return False
    return holds_binary(head.decode("latin_1")) or chain_at(head, 0, at_least=2)


def _binary_type(file: IO[bytes], head: bytes) -> FileType:
    start = skip_id3(file)
    if start:
        file.seek(start)
        behind = file.read(HEAD_BYTES)
        name = _name_of_audio(behind) or name_of_binary(behind)
        if name is not None and frame_at(behind, 0) is None:
            raise unsupported(name)
        return FileType.MP3
    if frame_at(head, 0) is not None:
        return FileType.MP3
    name = _name_of_audio(head) or name_of_binary(head)
    if name is not None:
        raise unsupported(name)
    if find_frames(head, at_least=4) is not None:
        return FileType.MP3
    raise unsupported(UNKNOWN)


def _name_of_audio(head: bytes) -> str | None:
    """MPEG audio that is not MP3, by its two first bytes."""
    if head[:1] != b"\xff" or len(head) < 2:
        return None
    if head[1] in {0xF0, 0xF1, 0xF8, 0xF9}:
        return "AAC audio"
    return "MPEG audio of layer II (MP2)" if head[1] in {0xFC, 0xFD, 0xF4, 0xF5} else None


def _text_type(head: bytes, filename: str) -> FileType:
    try:
        text = decode_as(head, detect_encoding(head, cut=len(head) == HEAD_BYTES))
    except DamagedFile as error:
        raise unsupported(UNKNOWN) from error
    markup = name_of_markup(text)
    if markup is not None:
        raise unsupported(markup)
    if holds_binary(text):
        raise unsupported(UNKNOWN)
    suffix = PurePath(filename).suffix.lower()
    if suffix in BINARY_SUFFIXES:
        raise UnsupportedType(f"The file is named {suffix}, but its bytes are plain text. Accepted are {ALLOWED}.")
    return FileType.MARKDOWN if suffix in MARKDOWN_SUFFIXES else FileType.TEXT
