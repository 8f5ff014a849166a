"""Bytes to text: which encoding, and the text as it is stored and shown."""

import codecs
import re
import unicodedata
from collections import Counter

from tributary.domain.errors import DamagedFile

#: Detection looks at this much, so that its time does not grow with the file.
SAMPLE_BYTES = 64 * 1024
LETTER_SAMPLE_BYTES = 16 * 1024
#: One damaged byte in a long UTF-8 text must not turn all of it into another encoding.
UTF8_CHARACTERS_FOR_A_FAULT = 10
#: Below this, letters don't tell the encoding and statistics must.
PLAUSIBLE = 0.95
#: A text with fewer odd bytes than this is still text: a log with a stray byte.
STRAY_BYTES_ARE_ONE_IN = 20

_BOMS = (
    (b"\xef\xbb\xbf", "utf_8_sig"),
    (b"\xff\xfe\x00\x00", "utf_32"),
    (b"\x00\x00\xfe\xff", "utf_32"),
    (b"\xff\xfe", "utf_16"),
    (b"\xfe\xff", "utf_16"),
)
_WITHOUT_BOM = (("utf_32_le", 4), ("utf_32_be", 4), ("utf_16_le", 2), ("utf_16_be", 2))
#: Escape sequences that switch character sets: text in these encodings is pure ASCII bytes.
_ISO_2022 = (
    (b"\x1b$)C", "iso2022_kr"),
    (b"\x1b$B", "iso2022_jp"),
    (b"\x1b$@", "iso2022_jp"),
    (b"\x1b(J", "iso2022_jp"),
)
#: What statistics choose from: encodings in which people still keep files.
_DETECTABLE = (
    *("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874"),
    *("iso8859_2", "iso8859_5", "iso8859_7", "iso8859_8", "iso8859_9", "koi8_r", "koi8_u", "mac_cyrillic", "mac_greek"),
    *("mac_roman", "cp437", "cp850", "cp852", "cp855", "cp866", "cp037", "cp500"),
    *("gb18030", "big5", "cp932", "euc_jp", "cp949"),
)
#: Ends of ranges of Unicode, and what is in them, coarsely.
_SCRIPTS = (
    (0x80, "ascii"),
    (0x2000, "letters"),
    (0x2C00, "sign"),
    (0x2E80, "letters"),
    (0x3130, "ideographs"),
    (0x3190, "hangul"),
    (0xA000, "ideographs"),
    (0xAC00, "rare"),
    (0xD7B0, "hangul"),
    (0xFF00, "rare"),
    (0x10000, "ideographs"),
    (0x1F000, "rare"),
)
#: UTF-16 without a mark is believed where nearly all characters are of one script, ...
ONE_SCRIPT = 0.95
#: ... and white space or other ASCII stands between so many of them.
LONGEST_RUN = 200
#: Controls other than NUL that text has no use for. Logs of terminals hold a few.
_CONTROLS = re.compile(r"[\x01-\x07\x0e-\x19\x1c-\x1f\x7f]")
CONTROLS_ARE_ONE_IN = 100
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]{1,3}")


def decode_text(data: bytes) -> str:
    """The text in `data`: without a BOM, line ends as `\\n`, without NULs and lone surrogates.

    Bytes that are wrong in the encoding found become U+FFFD. Bounded: the encoding is found from a sample.

    Raises:
        DamagedFile: these are not the bytes of a text in any encoding.
    """
    return decode_as(data, detect_encoding(data))


def decode_as(data: bytes, encoding: str) -> str:
    """As `decode_text`, for an encoding that is known. No decoder yields a lone surrogate: it is a fault in UTF-8
    and UTF-16, and becomes U+FFFD like any other."""
    text = data.decode(encoding, errors="replace")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\x00", "")


def holds_binary(text: str) -> bool:
    """Whether there is a NUL in it, or more controls than any text has."""
    return "\x00" in text or len(_CONTROLS.findall(text)) * CONTROLS_ARE_ONE_IN > len(text)


def detect_encoding(data: bytes, *, cut: bool = False) -> str:
    """The name of the Python codec that reads `data` best; with `cut`, the data may end within a character.

    Raises:
        DamagedFile: no text is seen in it.
    """
    encoding = unicode_encoding(data[:SAMPLE_BYTES])
    if encoding is not None:
        return encoding
    try:
        codecs.getincrementaldecoder("utf_8")().decode(data, final=not cut)
    except UnicodeDecodeError as fault:
        return _faulty_utf8(data, fault.start) or _legacy_encoding(_sample_around(data, fault.start))
    escape = data.find(b"\x1b")
    return _escaped_encoding(data, escape) or "utf_8"


def unicode_encoding(sample: bytes) -> str | None:
    """The codec that a BOM names, or UTF-16 or UTF-32 without one; None for anything else. `sample` is the head
    of the file."""
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            return encoding
    if b"\x00" not in sample:
        return None
    for encoding, width in _WITHOUT_BOM:
        if _reads_as_text(sample[: len(sample) // width * width], encoding):
            return encoding
    return None


def _reads_as_text(sample: bytes, encoding: str) -> bool:
    """Whether all of `sample` is characters of one script that texts are made of. Other bytes scatter over all scripts,
    and soon give a control character or an unassigned code."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as fault:
        if fault.start < len(sample) - 4:  # a pair that the sample's end cut is no fault
            return False
        text = sample[: fault.start].decode(encoding)
    if not text or holds_binary(text):
        return False
    if any(unicodedata.category(character) in {"Cn", "Co", "Cs"} for character in set(text)):
        return False
    scripts = Counter(_script(ord(character)) for character in text)
    of_any_script = scripts.pop("ascii", 0), scripts.pop("sign", 0)
    spaced = of_any_script[0] * LONGEST_RUN >= len(text)
    return spaced and sum(of_any_script) + max(scripts.values(), default=0) >= len(text) * ONE_SCRIPT


def _script(code: int) -> str:
    for end, script in _SCRIPTS:
        if code < end:
            return script
    return "sign"  # emoji and the like


def _escaped_encoding(data: bytes, escape: int) -> str | None:
    if escape < 0:
        return None
    sample = data[escape : escape + SAMPLE_BYTES]
    for sequence, encoding in _ISO_2022:
        if sequence in sample and _decodes(data, encoding):
            return encoding
    return None


def _decodes(data: bytes, encoding: str) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _faulty_utf8(data: bytes, first_fault: int) -> str | None:
    """UTF-8 where the text is that but for a few bytes, such as a file cut within a character."""
    start = max(0, first_fault - SAMPLE_BYTES // 2)
    sample = data[start : start + SAMPLE_BYTES]
    text = sample.decode("utf_8", errors="replace")
    good = len(_MULTIBYTE.findall(sample))
    return "utf_8" if good >= UTF8_CHARACTERS_FOR_A_FAULT * text.count("\ufffd") else None


def _sample_around(data: bytes, position: int) -> bytes:
    """A sample that has the first byte beyond ASCII in it and begins at a line, so at a character."""
    start = data.rfind(b"\n", max(0, position - SAMPLE_BYTES // 4), position) + 1
    return data[max(start, position - SAMPLE_BYTES // 4) :][:SAMPLE_BYTES]


def _legacy_encoding(sample: bytes) -> str:
    """From the letters of one word to the statistics of a page: whatever is sure first."""
    from tributary.files.alphabets import likely_encoding
    from tributary.files.ideographs import ideographic_encoding

    short = sample[:LETTER_SAMPLE_BYTES]
    encoding = likely_encoding(short, at_least=PLAUSIBLE) or ideographic_encoding(short) or _by_statistics(sample)
    if encoding is not None:
        return encoding
    beyond_ascii = sum(byte > 0x7F for byte in sample)
    if beyond_ascii * STRAY_BYTES_ARE_ONE_IN > len(sample):
        raise DamagedFile("The file is no text in any encoding that is known here.")
    return "cp1252"


def _by_statistics(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    match = from_bytes(sample, cp_isolation=list(_DETECTABLE)).best()
    return None if match is None else str(match.encoding)
