"""Character classes, as the inside of a regular expression's brackets.

They are written out as ranges, since a class of plain ranges becomes one table look-up a character, where `\\w`
among them costs a call. Vowel signs belong to words here, which `\\w` leaves out. Beyond the Basic Multilingual
Plane whole blocks stand in, rare signs along with the letters.
"""

import unicodedata


def _word_characters(first: int, last: int) -> str:
    """Letters, numbers and marks from `first` to `last`, as ranges."""
    ranges: list[list[int]] = []
    for code in range(first, last + 1):
        if unicodedata.category(chr(code))[0] not in "LNM":
            continue
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in ranges)


#: Han, Kana and Hangul: two characters say about as much as a word. Hangul has spaces, but its particles grow
#: onto the words.
IDEOGRAPHIC = (
    _word_characters(0x1100, 0x11FF)
    + _word_characters(0x3005, 0x30FF)
    + "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    + _word_characters(0xFF66, 0xFF9F)
    + "\U00020000-\U0003ffff"
)
#: Thai, Lao, Myanmar and Khmer: alphabets whose words are not set apart.
CONTINUOUS = "".join(
    _word_characters(first, last)
    for first, last in ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F))
)
#: Word characters of all other scripts, ASCII and the underscore with them: what lies between the blocks above.
SPACED = (
    "0-9A-Z_a-z"
    + "".join(
        _word_characters(first, last)
        for first, last in (
            (0x0080, 0x0DFF),
            (0x0F00, 0x0FFF),
            (0x10A0, 0x10FF),
            (0x1200, 0x177F),
            (0x1800, 0x3004),
            (0x3100, 0x31EF),
            (0xA000, 0xA9DF),
            (0xAA00, 0xAA5F),
            (0xAA80, 0xABFF),
            (0xFB00, 0xFF65),
            (0xFFA0, 0xFFFD),
        )
    )
    + "\U00010000-\U0001efff"
)
