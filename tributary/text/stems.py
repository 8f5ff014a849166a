"""Folding and light stemming of single words.

The stem is cut at `STEM_LENGTH` letters, which already joins most forms of a word in most languages. The rules
only serve words too short for the cut to reach their ending. Snowball's stemmers in their place rank no better in
`bench/lexical_terms.py`, take seventy times as long and can't be shared by threads.
"""

import re
import unicodedata

#: Six letters hold apart what words are about and drop the endings of languages that have no rules here.
STEM_LENGTH = 6
# What is left of a word must be able to carry its meaning.
_MIN_STEM = 3

_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ё": "е",
        "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ـ": None,
    }
)  # fmt: skip
# Accents are optional in these scripts; a Devanagari or Thai vowel sign is not.
_OPTIONAL_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_ARABIC = re.compile("[\u0620-\u06ff]")

_ENGLISH_PLURAL = re.compile(r"(?<=..[^us])s$|(?<=ss|ch|sh)es$|(?<=[xz])es$")
_ENGLISH_VERB = re.compile(r"(?:ing|ed)(?:ly)?$")
_VOWEL = re.compile(r"[aeiouy]")
_RUSSIAN_ENDING = re.compile(
    "(?:иями|ями|ами|ией|иям|иях|ого|его|ому|ему|ыми|ими|ешь|ишь|ете|ите|ая|яя|ую|юю|ой|ей|ый|ий|ые|ие|ое|ее|ых"
    "|их|ым|им|ом|ем|ам|ям|ах|ях|ов|ев|ия|ью|ии|ию|ет|ит|ут|ют|ат|ят|ла|ло|ли|ть|ти|ал|ял|ил|ел|[аяоеыиуюьй])$"
)
_ARABIC_PREFIX = re.compile("^(?:[وبكف]?ال|لل|و(?=...))(?=..)")
_ARABIC_ENDING = re.compile("(?<=..)(?:ها|ان|ات|ون|ين|يه|ية|[هةي])$")


def fold(word: str) -> str:
    """A word without case and without the marks that people leave out. Expects NFKC."""
    if word.isascii():
        return word.lower()
    folded = word.casefold().translate(_LETTERS)
    if _CYRILLIC.search(folded):
        # й is a letter of its own there, not an accented и; only stress marks go.
        return folded.replace("\u0301", "")
    return unicodedata.normalize("NFC", _OPTIONAL_MARKS.sub("", unicodedata.normalize("NFD", folded)))


def stem(word: str) -> str:
    """The beginning that the forms of a folded word share, at most `STEM_LENGTH` characters."""
    if word.isascii():
        return _english(word)[:STEM_LENGTH]
    if _CYRILLIC.search(word):
        return _russian(word)[:STEM_LENGTH]
    if _ARABIC.search(word):
        return _ARABIC_ENDING.sub("", _ARABIC_PREFIX.sub("", word))[:STEM_LENGTH]
    return word[:STEM_LENGTH]


def _english(word: str) -> str:
    """Plurals, -ed, -ing, -ly and a final -e; a final -y becomes -i, as the plural already has it."""
    if len(word) <= _MIN_STEM:
        return word
    word = _ENGLISH_PLURAL.sub("", word)
    verb = _ENGLISH_VERB.search(word)
    if verb and verb.start() > 1 and _VOWEL.search(word, 0, verb.start()):
        word = word[: verb.start()]
        if len(word) > _MIN_STEM and word[-1] == word[-2] and word[-1] not in "lsz":
            word = word[:-1]
    if len(word) > STEM_LENGTH:
        # A shorter word may have no other ending: supply, family.
        word = word.removesuffix("ly")
    if len(word) > _MIN_STEM:
        if word[-1] == "e":
            return word[:-1]
        if word[-1] == "y":
            return word[:-1] + "i"
    return word


def _russian(word: str) -> str:
    if len(word) > _MIN_STEM + 2:
        word = word.removesuffix("ся").removesuffix("сь")
    ending = _RUSSIAN_ENDING.search(word, _MIN_STEM)
    if ending:
        word = word[: ending.start()]
    if word.endswith("нн"):
        return word[:-1]
    return word[:-1] if len(word) > _MIN_STEM + 1 and word[-1] in "иь" else word
