"""In which language, or group of languages, a text is written: a guess by script and function words."""

import re

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC
from tributary.text.stems import fold
from tributary.text.stopwords import BY_LANGUAGE

_READ = 2_000
_WORD = re.compile(r"[^\W\d_]+")
#: Scripts that one language, or one we can't tell from others, is written in; in the order they are asked for,
#: since Japanese holds Han and Korean text may.
_SCRIPTS = {
    "japanese": re.compile("[\u3041-\u30ff]"),
    "korean": re.compile("[\u1100-\u11ff\uac00-\ud7a3]"),
    "chinese": re.compile(f"[{IDEOGRAPHIC}]"),
    "thai": re.compile("[\u0e01-\u0e7f]"),
    "south-east asian": re.compile(f"[{CONTINUOUS}]"),
    "cyrillic": re.compile("[\u0400-\u052f]"),
    "arabic": re.compile("[\u0600-\u06ff]"),
    "hebrew": re.compile("[\u0590-\u05ff]"),
    "greek": re.compile("[\u0370-\u03ff]"),
    "devanagari": re.compile("[\u0900-\u097f]"),
    "latin": re.compile("[A-Za-z\u00c0-\u024f]"),
}
#: Of all letters; below it a script only lends a name or a quotation.
_SHARE = 0.3


def language_of(text: str) -> str:
    """A name for the language as far as it can be told: "english", "german", "cyrillic" …; "" where nothing tells.

    Two texts with different names differ in language; two with the same may still do so.
    """
    read = text[:_READ]
    letters = sum(map(len, _WORD.findall(read)))
    script = next(
        (name for name, letter in _SCRIPTS.items() if letters and len(letter.findall(read)) > _SHARE * letters), ""
    )
    return _latin_language(read) if script == "latin" else script


def _latin_language(text: str) -> str:
    words = [fold(word) for word in _WORD.findall(text)]
    counts = {language: sum(word in listed for word in words) for language, listed in BY_LANGUAGE.items()}
    first, second = sorted(counts, key=lambda language: -counts[language])[:2]
    return first if counts[first] > counts[second] else ""
