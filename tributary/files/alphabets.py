"""Which letters belong together: what tells one legacy encoding of a short text from another.

The same bytes are letters in many encodings, but only in the right one are they the letters of one language, beside
letters of the same script, with capitals where capitals stand. A statistical detector needs a few hundred bytes
to see that; this often needs one word.
"""

from collections import Counter
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Script:
    """The letters beyond ASCII of some languages. Where `latin` is false the letters never touch an ASCII letter,
    and each alphabet begins with its most common ones."""

    alphabets: tuple[str, ...]
    latin: bool = True


_WESTERN = Script(
    (
        "àâæçéèêëîïôœùûüÿ",  # French
        "áéíñóúüç",  # Spanish, with the cedilla of Catalan names
        "áâãàçéêíóôõúü",  # Portuguese
        "àçèéíïòóúü",  # Catalan
        "àèéìíîòóùú",  # Italian
        "äöüßéàè",  # German, with its loans
        "áéèëïóöü",  # Dutch
        "æøåéèòóôöäü",  # Danish, Norwegian
        "åäöéàüšž",  # Swedish, Finnish
        "áðéíóúýþæö",  # Icelandic
        "éèêëïöñçâôüàáíóú",  # loans and names in English
    )
)
_CENTRAL = Script(
    (
        "ąćęłńóśźż",  # Polish
        "áčďéěíňóřšťúůýž",  # Czech
        "áäčďéíĺľňóôŕšťúýž",  # Slovak
        "áéíóöőúüű",  # Hungarian
        "ăâîşţ",  # Romanian
        "čćđšž",  # Croatian, Slovene
    )
)
_TURKISH = Script(("çğıöşüâîûi",))  # İ becomes a plain i with a mark of its own
_BALTIC = Script(("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž"))
_RUSSIAN = Script(("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",), latin=False)
_CYRILLIC = Script(
    (
        *_RUSSIAN.alphabets,
        "оанивртесклмудпьзяйбгюшчцїжєхщфґ",  # Ukrainian
        "аиеонсртјвкдупмљзгбцшћчжњђхфџ",  # Serbian
    ),
    latin=False,
)
_GREEK = Script(("αοιετσνηυρπκμλςόίάγδέήωθχύφβώξζψϊϋΐΰ",), latin=False)
_HEBREW = Script(("יוהלאתרבמשנדחעקפטגזסכצםןךףץ",), latin=False)
_ARABIC = Script(("المينرتوبعدهقسفكحةجشصىخطذضأإئءزثغظآؤ",), latin=False)

#: Encodings that are told apart by their letters, the more common first: it wins a tie.
CANDIDATES: tuple[tuple[str, Script], ...] = (
    ("cp1252", _WESTERN),
    ("cp1251", _CYRILLIC),
    ("cp1250", _CENTRAL),
    ("cp1254", _TURKISH),
    ("cp1253", _GREEK),
    ("koi8_r", _RUSSIAN),
    ("cp1255", _HEBREW),
    ("cp1256", _ARABIC),
    ("iso8859_2", _CENTRAL),
    ("cp1257", _BALTIC),
    ("mac_roman", _WESTERN),
    ("cp850", _WESTERN),
    ("cp852", _CENTRAL),
    ("cp866", _RUSSIAN),
)

_SIGNS = frozenset("\xa0“”„‚‹›«»–—…•¿¡№€£¢¥©®™°±µ§¶†‡‰²³¹½¼¾×÷ªº")
_INSIDE_WORDS = frozenset("’‘·\xad")
#: Where letters of two readings are all in place, the one with the more common letters is right.
_RARE_LETTERS_COST = 0.04
_COMMON = 12


@dataclass(slots=True)
class _Count:
    total: int = 0
    settled: int = 0
    letters: Counter[str] = field(default_factory=Counter)


def _count(text: str, latin: bool) -> _Count:
    """Counts the characters beyond ASCII, those that need no alphabet to be in place, and the letters that are
    in place if the alphabet has them."""
    count = _Count()
    for before, character, after in zip(" " + text, text, text[1:] + " ", strict=False):
        if character.isascii():
            continue
        count.total += 1
        if character in _SIGNS:
            count.settled += not (before.isalpha() and after.isalpha())
        elif character in _INSIDE_WORDS:
            count.settled += 1
        elif _letter_fits(before, character, after, latin):
            count.letters[character.lower()[0]] += 1
    return count


def _letter_fits(before: str, letter: str, after: str, latin: bool) -> bool:
    if letter.isupper() and before.islower():
        return False
    return latin or not ((before.isascii() and before.isalpha()) or (after.isascii() and after.isalpha()))


def plausibility(text: str, script: Script) -> float:
    """How far the characters beyond ASCII in `text` stand where a reader expects them, in [0, 1], for the best of
    the script's alphabets; 1 for a text without any."""
    count = _count(text, script.latin)
    if count.total == 0:
        return 1.0
    best = 0.0
    for alphabet in script.alphabets:
        known = sum(count.letters[letter] for letter in alphabet)
        score = (count.settled + known) / count.total
        if known and not script.latin:
            common = sum(count.letters[letter] for letter in alphabet[:_COMMON])
            score -= _RARE_LETTERS_COST * (1 - common / known)
        best = max(best, score)
    return best


def likely_encoding(sample: bytes, *, at_least: float) -> str | None:
    """The candidate under which `sample` reads best; None when none reaches `at_least`."""
    best_name, best_score = None, 0.0
    for name, script in CANDIDATES:
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        score = plausibility(text, script)
        if score > best_score:
            best_name, best_score = name, score
    return best_name if best_score >= at_least else None
