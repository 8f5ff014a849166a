"""Names of files: shown as they were given, and harmless."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tributary.files.names import content_disposition, display_name


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("report.pdf", "report.pdf"),
        ("Größe 10 % (final).pdf", "Größe 10 % (final).pdf"),
        ('say "hello".txt', 'say "hello".txt'),
        ("👨‍👩‍👧 family.png", "👨‍👩‍👧 family.png"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\photo.jpg", "photo.jpg"),
        ("folder/", "folder"),
        ("a\x00b.txt", "ab.txt"),
        ("a\r\nSet-Cookie: x.txt", "aSet-Cookie: x.txt"),
        ("photo\u202egnp.exe", "photognp.exe"),
        ("\ufeff\u200bnote.txt", "note.txt"),
        ("e\u0301te\u0301.txt", "été.txt"),
        ("half\ud83d.txt", "half.txt"),
        ("  spaced.txt  ", "spaced.txt"),
        (".gitignore", ".gitignore"),
        ("", "file"),
        (None, "file"),
        (".", "file"),
        ("..", "file"),
        ("a/..", "file"),
        ("///", "file"),
        ("\x00\r\n", "file"),
        ("\u200d", "file"),
    ],
)
def test_the_shown_name_is_the_user_s_without_its_dangers(raw: str | None, shown: str) -> None:
    assert display_name(raw) == shown


@pytest.mark.parametrize("stem", ["x", "名", "👍🏽", "e\u0323\u0302"])
def test_a_long_name_is_shortened_and_keeps_its_extension(stem: str) -> None:
    name = display_name(stem * 300 + ".docx")
    assert 240 <= len(name.encode()) <= 255
    assert name.endswith(".docx")
    assert "\ufffd" not in name


def test_a_long_name_without_an_extension_is_shortened() -> None:
    assert display_name("x" * 300) == "x" * 255
    assert display_name("." + "x" * 300) == "." + "x" * 254


@given(st.text(max_size=400))
def test_any_name_becomes_one_safe_line_and_stays_what_it_became(raw: str) -> None:
    name = display_name(raw)
    assert 0 < len(name.encode()) <= 255
    assert name not in {".", ".."}
    assert not set(name) & set("/\\\x00\r\n\u2028\u2029\u202e")
    assert not any(unicodedata.category(character) == "Cc" for character in name)
    assert display_name(name) == name


@pytest.mark.parametrize(
    ("filename", "header"),
    [
        ("report.pdf", 'attachment; filename="report.pdf"'),
        ("a b;c,d.txt", 'attachment; filename="a b;c,d.txt"'),
        ('q"t.txt', "attachment; filename=\"q_t.txt\"; filename*=UTF-8''q%22t.txt"),
        ("été.txt", "attachment; filename=\"ete.txt\"; filename*=UTF-8''%C3%A9t%C3%A9.txt"),
        ("100%.txt", "attachment; filename=\"100_.txt\"; filename*=UTF-8''100%25.txt"),
        ("日本.txt", "attachment; filename=\"__.txt\"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.txt"),
        ("it's (1)*.txt", 'attachment; filename="it\'s (1)*.txt"'),
    ],
)
def test_a_download_carries_the_name_in_both_forms(filename: str, header: str) -> None:
    assert content_disposition(filename) == header


@given(st.text(max_size=100))
def test_the_header_of_a_download_is_one_line_of_ascii(raw: str) -> None:
    header = content_disposition(display_name(raw))
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
