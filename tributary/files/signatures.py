"""Names for what is not accepted, from the first bytes: a refusal says what was found.

A table of our own, since the answer is a sentence for people and none of the detection libraries at hand has one (the
one that comes with a dependency names some 80 media types, guesses from two letters, and last changed in 2022).
Two- and three-letter marks count only in files that are not text, which the caller has found out before.
"""

import re
from collections.abc import Callable

Test = bytes | Callable[[bytes], bool]


def _at(offset: int, mark: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[offset : offset + len(mark)] == mark


def _riff(form: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[:4] == b"RIFF" and head[8:12] == form


def _brand(*brands: bytes) -> Callable[[bytes], bool]:
    """An ISO base media file (MP4 and its kin) whose major brand begins so."""
    return lambda head: head[4:8] == b"ftyp" and head[8:12].startswith(brands)


def _zip_with(*parts: bytes) -> Callable[[bytes], bool]:
    """A ZIP archive with a member of such a name near its beginning."""
    return lambda head: head[:4] == b"PK\x03\x04" and any(part in head for part in parts)


#: The first that matches names the file, so the particular stands before the general.
BINARY: tuple[tuple[Test, str], ...] = (
    (b"GIF8", "a GIF image"),
    (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"),
    (_brand(b"heic", b"heix", b"heim", b"hevc", b"mif1", b"msf1"), "a HEIC image"),
    (_brand(b"avif", b"avis"), "an AVIF image"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image"),
    (b"\xff\x0a", "a JPEG XL image"),
    (b"8BPS", "a Photoshop image"),
    (b"\x00\x00\x01\x00", "an icon"),
    (b"BM", "a BMP image"),
    (b"OggS", "Ogg audio or video"),
    (b"fLaC", "FLAC audio"),
    (b"MThd", "a MIDI file"),
    (b"#!AMR", "AMR audio"),
    (_at(8, b"AIFF"), "AIFF audio"),
    (_at(8, b"AIFC"), "AIFF audio"),
    (b"RF64", "RF64 audio (the WAV form for recordings over 4 GB)"),
    (b"BW64", "BW64 audio (the WAV form for recordings over 4 GB)"),
    (b"RIFX", "RIFX audio (a big-endian WAV)"),
    (_brand(b"M4A", b"M4B", b"M4P"), "M4A audio"),
    (_riff(b"AVI "), "an AVI video"),
    (_brand(b"qt  "), "a QuickTime video"),
    (_at(4, b"ftyp"), "an MP4 video"),
    (_at(4, b"moov"), "a QuickTime video"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (b"FLV\x01", "a Flash video"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "a Windows Media file"),
    (b"\x00\x00\x01\xba", "an MPEG video"),
    (b"\x00\x00\x01\xb3", "an MPEG video"),
    (b"RIFF", "a RIFF file that holds neither WebP nor WAV"),
    (_zip_with(b"word/"), "a Word document (DOCX)"),
    (_zip_with(b"xl/"), "an Excel workbook (XLSX)"),
    (_zip_with(b"ppt/"), "a PowerPoint presentation (PPTX)"),
    (_zip_with(b"application/vnd.oasis.opendocument"), "an OpenDocument file"),
    (_zip_with(b"application/epub"), "an EPUB book"),
    (_zip_with(b"[Content_Types].xml"), "an Office document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old or password-protected Office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"MSCF\x00", "a Windows cabinet"),
    (_at(257, b"ustar"), "a tar archive"),
    (b"MZ", "a Windows program"),
    (b"\x7fELF", "a Linux program"),
    (b"\xfe\xed\xfa", "a macOS program"),
    (b"\xce\xfa\xed\xfe", "a macOS program"),
    (b"\xcf\xfa\xed\xfe", "a macOS program"),
    (b"\xca\xfe\xba\xbe", "a Java class or macOS program"),
    (b"\x00asm", "a WebAssembly program"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF\r\n", "an HDF5 file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"OTTO\x00", "a font"),
    (b"\x00\x01\x00\x00\x00", "a font"),
    (b"bplist00", "a binary property list"),
    (b"AT&TFORM", "a DjVu document"),
    (_at(128, b"DICM"), "a DICOM image"),
)

#: Text that is the source of another document: its readers don't see these characters, and a browser may run them.
#: A Markdown file often begins with an HTML element or a comment, so only what opens a whole page counts.
_MARKUP = (
    (re.compile(r"<!doctype\s+html|<(?:html|head|body|script|frameset)[\s>/]", re.I), "an HTML page"),
    (re.compile(r"<svg[\s>]|<!doctype\s+svg", re.I), "an SVG image"),
    (re.compile(r"<\?xml[\s?]", re.I), "an XML document"),
    (re.compile(r"\{\\rtf1?(?![a-z])"), "a Rich Text document"),
    (re.compile(r"%!PS"), "a PostScript document"),
    (re.compile(r"GIF8[79]a"), "a GIF image"),
)
_BEFORE_MARKUP = re.compile(r"(?:\ufeff|\s|<!--.*?-->)*", re.S)
_SVG_ROOT = re.compile(r"<svg[\s>]|<!doctype\s+svg", re.I)
_HTML_ROOT = re.compile(r"<html[\s>]|<!doctype\s+html", re.I)


def name_of_binary(head: bytes) -> str | None:
    """What a file that is not text is, as it is said in a sentence; None where nobody knows."""
    for test, name in BINARY:
        if head.startswith(test) if isinstance(test, bytes) else test(head):
            return name
    return None


def name_of_markup(head: str) -> str | None:
    """What a text is the source of, by how it begins; None for text that is to be read as it stands."""
    prelude = _BEFORE_MARKUP.match(head)
    start = prelude.end() if prelude else 0
    for pattern, name in _MARKUP:
        if pattern.match(head, start):
            return _name_of_xml(head) if name == "an XML document" else name
    return None


def _name_of_xml(head: str) -> str:
    if _SVG_ROOT.search(head):
        return "an SVG image"
    return "an HTML page" if _HTML_ROOT.search(head) else "an XML document"
