"""Bytes to text, whatever wrote them."""

import pytest

from tributary.domain.errors import DamagedFile
from tributary.files.text import SAMPLE_BYTES, decode_text, detect_encoding

GERMAN = "Der Käufer bestätigt, daß die Ware geprüft wurde – „wie besehen“.\n"
RUSSIAN = "Однажды, в студёную зимнюю пору, я из лесу вышел.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("plain words\n", "ascii"),
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "utf-32-le"),
        ("今天天气很好。\n", "utf-16-le"),
        (GERMAN, "cp1252"),
        ("Café au lait", "cp1252"),
        ("El niño comió mañana en España.", "cp1252"),
        ("São Paulo não é a capital", "cp1252"),
        ("À bientôt, où êtes-vous allés ?", "cp1252"),
        ("Blåbærgrød på øen", "cp1252"),
        ("½ cup sugar, 21 °C, 30 € – see “terms”…", "cp1252"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
        ("Gdańsk, Łódź i Kraków są w Polsce.", "cp1250"),
        ("Těch policistů, řekl mluvčí, šlo žádat", "iso8859_2"),
        ("İstanbul'da güneşli bir gün, çocuklar parkta oynuyor.", "cp1254"),
        ("Lietuvių kalba yra įdomi, žmonės šneka greitai", "cp1257"),
        ("Привет, мир", "cp1251"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp866"),
        (RUSSIAN * 20, "mac_cyrillic"),
        ("Καλημέρα κόσμε", "cp1253"),
        ("مرحبا بالعالم", "cp1256"),
        ("รหัสสำหรับอักขระไทยที่ใช้กับคอมพิวเตอร์\n" * 3, "cp874"),
        ("今天天气很好,我们去公园散步吧。", "gb18030"),
        ("今天天氣很好,我們去公園散步吧。", "big5"),
        ("今日は天気がいいですね。", "cp932"),
        ("今日は天気がいいですね。", "euc_jp"),
        ("今日は天気がいいですね。", "iso2022_jp"),
        ("안녕하세요 세계, 오늘은 날씨가 좋습니다.", "cp949"),
        ("北朝鮮 사람들은 흔히 자국을 조선(朝鮮)이나 공화국으로 부른다.", "cp949"),
    ],
)
def test_a_text_comes_out_as_it_was_written(text: str, encoding: str) -> None:
    assert decode_text(text.encode(encoding)) == text


def test_line_ends_become_one_character() -> None:
    assert decode_text(b"one\r\ntwo\rthree\n") == "one\ntwo\nthree\n"


def test_a_mark_of_the_encoding_is_no_part_of_the_text() -> None:
    assert decode_text("\ufeffwords".encode()) == "words"
    assert decode_text("\ufeffwords".encode("utf-16-be")) == "words"


def test_nothing_that_a_database_refuses_comes_out() -> None:
    text = decode_text(b"\xff\xfe" + "a\x00b".encode("utf-16-le") + b"\x00\xd8" + "c".encode("utf-16-le"))
    assert text == "ab\ufffdc"
    text.encode()


@pytest.mark.parametrize("fault", [b"\xff", b"\xe2\x82"])
def test_a_damaged_byte_in_a_utf_8_text_harms_itself_alone(fault: bytes) -> None:
    text = decode_text((GERMAN * 20).encode() + fault + b"\n" + (GERMAN * 20).encode())
    assert text == GERMAN * 20 + "\ufffd\n" + GERMAN * 20


def test_a_utf_8_text_that_was_cut_within_a_character_stays_utf_8() -> None:
    assert decode_text((GERMAN * 5 + "ä").encode()[:-1]) == GERMAN * 5 + "\ufffd"


def test_a_stray_byte_in_a_long_log_does_not_make_it_unreadable() -> None:
    log = b"2024-05-01 12:00:00 started worker\n" * 200
    text = decode_text(log + b"got \x81\x8d from the line\n" + log)
    assert text.count("started worker") == 400


def test_what_no_encoding_reads_is_refused() -> None:
    with pytest.raises(DamagedFile, match="no text in any encoding"):
        decode_text(bytes(range(0x80, 0x100)) * 8 + b"\xff\x81\x8d\x90\x9d" * 400)


def test_the_encoding_is_found_in_a_sample_however_far_the_first_letter_beyond_ascii() -> None:
    data = b"0123456789 abcdef\n" * (4 * SAMPLE_BYTES // 18) + GERMAN.encode("cp1252")
    assert detect_encoding(data) == "cp1252"


def test_a_cut_sample_of_utf_8_is_utf_8() -> None:
    sample = ("x" * 100 + "ä").encode()[:-1]
    assert detect_encoding(sample, cut=True) == "utf_8"
