"""Whether a file is sound, and what is learnt from it."""

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.files import (
    MPEG1_FRAME_BYTES,
    encoded,
    id3,
    jpeg,
    mp3,
    pdf,
    pdf_with_passwords,
    picture,
    png,
    png_that_claims,
    wav,
    webp,
)
from tributary.domain.attachments import FileType
from tributary.domain.errors import DamagedFile, EmptyFile, FileTooLarge, UnsupportedType
from tributary.files import images
from tributary.files.sandbox import Sandbox
from tributary.files.soundness import FileFacts, check_file, inspect_file


@pytest.fixture
def facts_of(tmp_path: Path) -> "Look":
    return Look(tmp_path)


class Look:
    """Writes bytes to a file and looks into it, without a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, data: bytes, filename: str = "file") -> FileFacts:
        path = self._folder / "stored"
        path.write_bytes(data)
        return check_file(path, filename)


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_a_jpeg_of_any_colours_is_sound(facts_of: Look, mode: str) -> None:
    assert facts_of(jpeg(mode)) == FileFacts(FileType.JPEG, width=40, height=30)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "L", "LA", "P", "1", "I;16"])
def test_a_png_of_any_depth_is_sound(facts_of: Look, mode: str) -> None:
    image = picture("L").convert("I;16") if mode == "I;16" else picture(mode)
    assert facts_of(encoded(image, "PNG")) == FileFacts(FileType.PNG, width=40, height=30)


def test_an_animation_is_sound_by_its_first_frame(facts_of: Look) -> None:
    assert facts_of(webp(frames=3)) == FileFacts(FileType.WEBP, width=40, height=30)


@pytest.mark.parametrize("orientation", [5, 6, 7, 8])
def test_the_size_of_a_photo_is_that_of_the_upright_picture(facts_of: Look, orientation: int) -> None:
    assert facts_of(jpeg(orientation=orientation)) == FileFacts(FileType.JPEG, width=30, height=40)


@pytest.mark.parametrize("data", [jpeg(size=(200, 200)), png(size=(200, 200)), webp(size=(200, 200))])
def test_a_picture_that_was_cut_short_is_damaged(facts_of: Look, data: bytes) -> None:
    for length in (len(data) // 2, len(data) * 9 // 10, 16):
        with pytest.raises(DamagedFile):
            facts_of(data[:length])


@pytest.mark.parametrize("side", [10_001, 30_000, 2**31 - 1])
def test_a_picture_of_too_many_pixels_is_refused_before_they_are_decoded(facts_of: Look, side: int) -> None:
    with pytest.raises(FileTooLarge, match="at most 100 million"):
        facts_of(png_that_claims(side, side))


def test_a_webp_may_have_fewer_pixels_since_its_decoder_needs_more_memory(
    facts_of: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "MAX_WEBP_PIXELS", 1000)
    assert images.MAX_PIXELS == 100_000_000
    with pytest.raises(FileTooLarge, match="40 × 30 pixels"):
        facts_of(webp((40, 30)))
    assert facts_of(webp((40, 25))).height == 25


def test_a_pdf_tells_its_pages(facts_of: Look) -> None:
    assert facts_of(pdf(pages=3)) == FileFacts(FileType.PDF, pages=3)


def test_a_pdf_without_pages_is_refused(facts_of: Look) -> None:
    with pytest.raises(DamagedFile):
        facts_of(pdf(pages=0))


def test_a_pdf_with_the_owner_s_password_only_is_readable(facts_of: Look) -> None:
    assert facts_of(pdf_with_passwords("", "owner")) == FileFacts(FileType.PDF, pages=1)


def test_a_pdf_that_asks_for_a_password_is_refused_with_that_reason(facts_of: Look) -> None:
    with pytest.raises(DamagedFile, match="needs a password"):
        facts_of(pdf_with_passwords("user", "owner"))


@pytest.mark.parametrize("data", [b"%PDF-", b"%PDF-1.7\n", pdf()[:60], b"%PDF-1.7\n%%EOF\n"])
def test_the_mark_of_a_pdf_alone_is_no_pdf(facts_of: Look, data: bytes) -> None:
    with pytest.raises(DamagedFile):
        facts_of(data, "x.pdf")


def test_a_pdf_with_a_wrong_cross_reference_is_repaired(facts_of: Look) -> None:
    assert facts_of(pdf().replace(b"startxref\n", b"startxref\n9")).pages == 1


def test_a_wav_tells_how_long_it_plays(facts_of: Look) -> None:
    assert facts_of(wav(seconds=0.5)) == FileFacts(FileType.WAV, seconds=0.5)


def test_a_wav_that_was_cut_short_counts_what_is_there(facts_of: Look) -> None:
    assert facts_of(wav(seconds=1)[: 44 + 8000]).seconds == 0.5


def test_a_wav_written_to_a_pipe_counts_what_is_there(facts_of: Look) -> None:
    data = wav(seconds=0.5)
    assert facts_of(data[:4] + b"\xff" * 4 + data[8:40] + b"\xff" * 4 + data[44:]).seconds == 0.5


@pytest.mark.parametrize("padding", [b"", b"\x00"])
def test_odd_chunks_before_the_samples_are_stepped_over(facts_of: Look, padding: bytes) -> None:
    data = wav(seconds=0.5)
    extra = b"LIST" + struct.pack("<I", 5) + b"INFOx" + padding
    assert facts_of(data[:36] + extra + data[36:]).seconds == 0.5


def test_a_wav_of_another_codec_is_sound(facts_of: Look) -> None:
    mu_law = struct.pack("<HHIIHH", 7, 1, 8000, 8000, 1, 8)
    data = (
        b"RIFF\x00\x00\x00\x00WAVEfmt " + struct.pack("<I", 16) + mu_law + b"data" + struct.pack("<I", 800) + bytes(800)
    )
    assert facts_of(data).seconds == 0.1


@pytest.mark.parametrize(
    "data", [wav()[:12], wav()[:44], wav()[:30], wav()[:12] + b"data\x04\x00\x00\x00\x01\x02\x03\x04"]
)
def test_a_wav_without_samples_or_format_is_damaged(facts_of: Look, data: bytes) -> None:
    with pytest.raises(DamagedFile):
        facts_of(data)


@pytest.mark.parametrize("before", [b"", id3(), id3(300_000), bytes(50)])
@pytest.mark.parametrize("behind", [b"", b"TAG" + bytes(125), b"APETAGEX" + bytes(50), bytes(30)])
def test_an_mp3_tells_how_long_its_frames_play(facts_of: Look, before: bytes, behind: bytes) -> None:
    facts = facts_of(before + mp3(10) + behind)
    assert facts == FileFacts(FileType.MP3, seconds=round(10 * 1152 / 44100, 3))


def test_an_mp3_of_mpeg_2_5_is_sound(facts_of: Look) -> None:
    frame = b"\xff\xe3\x48\x64" + bytes(284)
    assert facts_of(frame * 5).seconds == round(5 * 576 / 8000, 3)


def test_an_mp3_with_a_damaged_stretch_counts_the_frames_around_it(facts_of: Look) -> None:
    whole_frames = 4 + 5  # the one before the damage can't be told from noise
    assert facts_of(mp3(5) + b"\xff\xfb" * 500 + mp3(5)).seconds == round(whole_frames * 1152 / 44100, 3)


@pytest.mark.parametrize(
    "data", [id3(), id3() + bytes(500), mp3(1)[:-1], mp3(1), mp3(1) + b"\xff\xfb\x90\x64", id3(500)[:200]]
)
def test_a_tag_or_a_single_frame_is_no_recording(facts_of: Look, data: bytes) -> None:
    with pytest.raises(DamagedFile):
        facts_of(data)


def test_random_bytes_behind_a_frame_header_are_no_mp3(facts_of: Look) -> None:
    noise = bytes(number * 73 % 251 for number in range(4 * MPEG1_FRAME_BYTES))
    with pytest.raises(DamagedFile):
        facts_of(b"\xff\xfb\x90\x64\x00" + noise)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"plain words", "utf_8"),
        ("Grüße".encode(), "utf_8"),
        ("\ufeffGrüße".encode(), "utf_8_sig"),
        ("Grüße aus Köln".encode("utf-16-le"), "utf_16_le"),
        ("Grüße aus Köln".encode("cp1252"), "cp1252"),
        (b" \n\n ", "utf_8"),
    ],
)
def test_a_text_tells_its_encoding(facts_of: Look, data: bytes, encoding: str) -> None:
    assert facts_of(data, "a.md") == FileFacts(FileType.MARKDOWN, encoding=encoding)


def test_a_nul_far_into_a_text_makes_it_binary(facts_of: Look) -> None:
    with pytest.raises(UnsupportedType):
        facts_of(b"words and words\n" * 10_000 + b"\x00" + b"more words\n", "a.txt")


def test_a_mark_of_an_encoding_alone_is_an_empty_file(facts_of: Look) -> None:
    with pytest.raises(EmptyFile):
        facts_of("\ufeff".encode(), "a.txt")


def test_a_text_whose_encoding_promises_more_than_it_holds_is_damaged(facts_of: Look) -> None:
    with pytest.raises(DamagedFile, match="too many bytes"):
        facts_of(b"\xff\xfe" + b"\x00\xdc" * 50 + "ab".encode("utf-16-le"), "a.txt")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(workers=2) as sandbox:
        yield sandbox


async def test_files_are_looked_into_in_a_process_of_their_own(sandbox: Sandbox, tmp_path: Path) -> None:
    contents = {"a.jpg": jpeg(), "b.pdf": pdf(2), "c.md": b"# Title\n", "d.mp3": mp3(4), "e.wav": wav()}
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    found = await asyncio.gather(*(inspect_file(tmp_path / name, name, sandbox) for name in contents))
    assert [facts.file_type for facts in found] == [
        FileType.JPEG,
        FileType.PDF,
        FileType.MARKDOWN,
        FileType.MP3,
        FileType.WAV,
    ]


async def test_a_refusal_from_the_sandbox_is_that_of_the_check(sandbox: Sandbox, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"<!doctype html><title>x</title>")
    with pytest.raises(UnsupportedType, match="an HTML page"):
        await inspect_file(path, "a.txt", sandbox)
