import io
from pathlib import Path

import pytest
from PIL import Image, PngImagePlugin

from tributary.domain.errors import CallerError, DamagedFile, EmptyFile, UnsupportedType
from tributary.files.parsing.image import parse_image
from tributary.files.parsing.registry import FORMATS, document_type_of, parse_document, title_from
from tributary.files.sandbox import Sandbox

PNG = "image/png"


def stored(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "0b5e"
    path.write_bytes(content)
    return path


def encode(form: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(buffer, form, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "filename", "content_type"),
    [
        (b"some words", "notes.txt", "text/plain"),
        (b"# some words", "notes.md", "text/markdown"),
        (b"%PDF-1.7\n%%EOF", "wrong.txt", "application/pdf"),
        (encode("PNG"), "wrong.jpg", "image/png"),
        (encode("WEBP"), "a.webp", "image/webp"),
        (encode("JPEG"), "a", "image/jpeg"),
    ],
)
def test_the_bytes_tell_the_format(tmp_path: Path, content: bytes, filename: str, content_type: str) -> None:
    assert document_type_of(stored(tmp_path, content), filename) == content_type
    assert content_type in FORMATS


@pytest.mark.parametrize(
    "content", [b"RIFF\x24\x00\x00\x00WAVEfmt ", b"PK\x03\x04" + bytes(40), b"\x7fELF" + bytes(60)]
)
def test_what_is_not_taken_is_refused_with_what_is(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnsupportedType, match=r"PDF.*Markdown") as refusal:
        document_type_of(stored(tmp_path, content), "a.bin")
    assert "MP3" not in refusal.value.detail.partition(". ")[2]


def test_no_bytes_are_an_empty_file(tmp_path: Path) -> None:
    with pytest.raises(EmptyFile):
        document_type_of(stored(tmp_path, b""), "a.txt")


def test_an_unknown_type_is_not_parsed(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedType):
        parse_document(stored(tmp_path, b"x"), "audio/mpeg", "a.mp3")


def test_a_document_without_a_title_is_called_after_its_file(tmp_path: Path) -> None:
    path = stored(tmp_path, b"words and more words. And others.")
    assert parse_document(path, "text/plain", "travel_notes 2024.txt").title == "travel notes 2024"
    titled = stored(tmp_path, b"# On Rivers\n")
    assert parse_document(titled, "text/markdown", "notes.md").title == "On Rivers"


def test_a_picture_is_found_by_its_name(tmp_path: Path) -> None:
    document = parse_document(stored(tmp_path, encode("PNG")), PNG, "red_square.png")
    assert document.text == document.title == "red square"


def test_a_picture_s_caption_belongs_to_its_text(tmp_path: Path) -> None:
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Title", "Sunset")
    texts.add_text("Description", "Seen from\nthe pier")
    document = parse_document(stored(tmp_path, encode("PNG", pnginfo=texts)), PNG, "img_1.png")
    assert document.title == "Sunset"
    assert document.text == "Sunset\n\nimg 1\n\nSeen from the pier"


def test_captions_of_photos_are_read_and_camera_names_are_not(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "A red door"
    assert parse_image(stored(tmp_path, encode("JPEG", exif=exif))).text == "A red door"
    exif[0x010E] = "OLYMPUS DIGITAL CAMERA         "
    exif[0x9C9B] = "Türen".encode("utf-16-le") + b"\x00\x00"
    document = parse_image(stored(tmp_path, encode("JPEG", exif=exif)))
    assert (document.title, document.text) == ("Türen", "")


def test_a_broken_picture_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(DamagedFile):
        parse_document(stored(tmp_path, encode("JPEG")[:300]), "image/jpeg", "a.jpg")


@pytest.mark.parametrize(
    ("filename", "title"),
    [
        ("annual_report.final.pdf", "annual report.final"),
        ("C:\\docs\\a.txt", "a"),
        ("../../etc/passwd", "passwd"),
        ("a\r\nb\u202e.txt", "a b"),
        ("Übersicht 😀.md", "Übersicht 😀"),
        (".txt", ".txt"),
        ("x" * 300 + ".pdf", "x" * 200),
    ],
)
def test_a_file_s_name_as_a_title(filename: str, title: str) -> None:
    assert title_from(filename) == title


async def test_parsing_runs_in_the_sandbox(tmp_path: Path) -> None:
    path = stored(tmp_path, b"# On Rivers\n\nThey flow.\n")
    with Sandbox(workers=1) as sandbox:
        document = await sandbox.run(parse_document, path, "text/markdown", "a.md", timeout=30)
        assert document.title == "On Rivers"
        with pytest.raises(CallerError, match="no text"):
            await sandbox.run(parse_document, stored(tmp_path, b" \n"), "text/plain", "a.txt", timeout=30)
