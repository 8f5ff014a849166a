"""When two names mean the same: the key that they resolve to, and the keys that a question may hold.

A key is made of its name alone, so it is the same whatever else is known and in whatever order it comes: what a
document says can be taken out again. It joins only what is one for certain. Forms that most likely mean the same are
further names (`near_keys`): a question finds an entity by them, and entities that share one lead to each other.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC
from tributary.text.stems import fold
from tributary.text.words import is_stopword

#: Longer names are sentences; cut, they stay the same for the same name.
MAX_KEY_LENGTH = 120
#: Words, and characters of scripts without spaces, of the longest name that is looked for in a question.
LONGEST_PHRASE = 6
LONGEST_RUN = 12
#: A question longer than this is a pasted text: its first names are looked for.
MAX_KEYS = 2000

# A plus or a sharp makes another name (C, C++, C#); all other signs only separate.
# A single letter and a hyphen begin a word (e-mail, X-ray).
_TOKEN = re.compile(
    rf"(?P<run>[{CONTINUOUS}{IDEOGRAPHIC}]+)"
    rf"|(?:(?![{CONTINUOUS}{IDEOGRAPHIC}_])\w)+(?:(?<=\b[^\W\d_])[-‐‑](?=[^\W\d_]{{3}})"
    rf"(?:(?![{CONTINUOUS}{IDEOGRAPHIC}_])\w)+)?(?:\+\+|#)?"
)
_DIGIT = re.compile(r"\d")
_HYPHEN = re.compile("[-‐‑]")
_POSSESSIVE = re.compile(r"['’ʼ]s\b|(?<=s)['’ʼ](?=\s|$)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}")
_ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il"))
_PLURAL = re.compile(r"(?<=[a-z][a-z][^\Wsui_])s$")
#: Of the last of several words; alone, `Rockies` and `Rocky` are two.
_PLURAL_OF_PHRASE = re.compile(r"(?<=[a-z]{2})(?:(?P<y>[^\W\daeiou_])ies|(?P<es>ss|x|tch|sh)es)$")
_IE = frozenset(("movies", "cookies", "zombies", "calories", "selfies", "series", "species", "brownies", "rookies"))
#: What stands before a person's name and is no part of it: by its small letters or its point, since DR and MR stand for
#: other things. Not Mrs: with her husband's name it means another person.
_TITLE = re.compile(r"(?:(?:Dr|Prof|Professor|Mr|Ms|Sir|Dame|Herr)\b\.?|(?i:dr|prof|mr|ms)\.)\s*")
_PERSON = re.compile(r"[^\W\d_][\w.’'-]*(?:\s+[^\W\d_][\w.’'-]*)+")
_LEGAL_FORMS = {
    "corp": "corporation", "inc": "incorporated", "ltd": "limited", "co": "company", "bros": "brothers",
    "corporation": "corporation", "incorporated": "incorporated", "limited": "limited", "company": "company",
    "llc": "llc", "plc": "plc", "gmbh": "gmbh", "pty": "pty",
}  # fmt: skip
_NUMERALS = {"ii": "2", "iii": "3", "vii": "7", "viii": "8"}
_AND = frozenset(("and", "und"))
#: Letters that a number belongs to, whatever stands between: `F-16`, `F 16` and `F16` are one.
_MODEL_LETTERS = 3
_SOLID = re.compile(r"(?P<word>[^\W\d_]{4,})(?P<number>\d+)")
_APART = re.compile(r"(?P<word>[^\W\d_]{4,}) (?P<number>\d+)$")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "å": "aa", "Å": "Aa"})


class _Token(NamedTuple):
    """A folded word with its place in the normalised text. `apart`: with a blank where it has a hyphen; `raw`: as it
    stands there; `marked`: with letters that can be written out."""

    key: str
    apart: str
    raw: str
    start: int
    end: int
    marked: bool


@lru_cache(maxsize=16_384)
def entity_key(name: str) -> str:
    """The resolved form of a name: without case, accents, punctuation, a leading article or a person's title, a
    possessive, `and`, and the plural of its last word; legal forms and some numerals in one form. Empty where the name
    has no letter or digit."""
    return _resolved([token.key for token in _tokens(_without_titles(name.strip()))])


def _resolved(tokens: list[str]) -> str:
    """The key of a name's folded words."""
    if len(tokens) > 1:
        tokens = _without_ands(_without_article(tokens))
    if len(tokens) > 1:
        _spell_out(tokens)
        tokens[-1] = _NUMERALS.get(tokens[-1]) or _singular(tokens[-1])
        tokens = _with_models(tokens)
    elif tokens:
        tokens[0] = _PLURAL.sub("", tokens[0])
    return " ".join(tokens)[:MAX_KEY_LENGTH]


@lru_cache(maxsize=16_384)
def plain_key(name: str) -> str:
    """The resolved form by less: case, accents, punctuation, article, possessive and a plain plural. It was the key in
    earlier versions, and graphs that they wrote have it still."""
    return _plain([token.apart for token in _tokens(name)])


def _plain(tokens: list[str]) -> str:
    tokens = " ".join(tokens).split(" ")
    if len(tokens) > 1:
        tokens = _without_article(tokens)
    tokens[-1] = _PLURAL.sub("", tokens[-1])
    return " ".join(tokens)[:MAX_KEY_LENGTH]


def near_keys(name: str) -> tuple[str, ...]:
    """Keys that most likely mean the same as a name, without its own: its plain form, and its umlauts written out."""
    forms = (plain_key(name), entity_key(name.translate(_UMLAUTS)))
    own = entity_key(name)
    return tuple(key for key in dict.fromkeys(forms) if key and key != own)


def bare_key(key: str) -> str:
    """A company's key without the legal forms behind it; empty where it has none, or is nothing else."""
    tokens = key.split(" ")
    while len(tokens) > 1 and tokens[-1] in _LEGAL_FORMS:
        tokens.pop()
    bare = " ".join(tokens)
    return bare if bare != key and bare not in _LEGAL_FORMS else ""


def _without_article(tokens: list[str]) -> list[str]:
    return tokens[1:] if tokens[0] in _ARTICLES else tokens


def _without_titles(name: str) -> str:
    """A person's name: behind the titles stand two words or more, the last with a capital."""
    while found := _TITLE.match(name):
        rest = name[found.end() :]
        if not _PERSON.fullmatch(rest) or not rest.split()[-1][0].isupper():
            break
        name = rest
    return name


def _without_ands(tokens: list[str]) -> list[str]:
    """`Procter & Gamble` has none either."""
    if _AND.isdisjoint(tokens):
        return tokens
    return [token for at, token in enumerate(tokens) if token not in _AND or at in (0, len(tokens) - 1)]


def _with_models(tokens: list[str]) -> list[str]:
    """Numbers on the few letters before them."""
    if not any(token.isdigit() for token in tokens):
        return tokens
    joined = tokens[:1]
    for token in tokens[1:]:
        before = joined[-1]
        if token.isdigit() and len(before) <= _MODEL_LETTERS and before.isalpha() and before.isascii():
            joined[-1] += token
        else:
            joined.append(token)
    return joined


def _spell_out(tokens: list[str]) -> None:
    """Legal forms at the end in one form, such as those of `Co., Ltd.`."""
    at = len(tokens) - 1
    while at > 0 and (full := _LEGAL_FORMS.get(tokens[at])):
        tokens[at] = full
        at -= 1


def _singular(word: str) -> str:
    if not word.endswith("s"):
        return word
    found = None if word in _IE else _PLURAL_OF_PHRASE.search(word)
    if found is None:
        return _PLURAL.sub("", word)
    return word[: found.start()] + (found["es"] or f"{found['y']}y")


def _forms(tokens: Sequence[_Token]) -> Iterator[str]:
    """The keys by which what a phrase names may be known."""
    key = _resolved([token.key for token in tokens])
    yield key
    yield _plain([token.apart for token in tokens])
    if _DIGIT.search(key):
        yield _SOLID.sub(r"\g<word> \g<number>", key)
        yield _APART.sub(r"\g<word>\g<number>", key)
    if any(token.marked for token in tokens):
        yield _resolved([fold(token.raw.translate(_UMLAUTS)) for token in tokens])


def phrase_keys(text: str) -> dict[str, tuple[int, int]]:
    """The keys of all phrases that may name an entity, with the characters of the normalised text that they cover
    first; longer phrases first. At most `MAX_KEYS`."""
    text = unicodedata.normalize("NFKC", text)
    tokens = list(_tokens(text))
    keys: dict[str, tuple[int, int]] = {}
    for size in range(min(LONGEST_PHRASE, len(tokens)), 0, -1):
        for first in range(len(tokens) - size + 1):
            part = tokens[first : first + size]
            if size == 1 and _says_nothing(text, part[0]):
                continue
            for key in _forms(part):
                keys.setdefault(key, (part[0].start, part[-1].end))
    for token in tokens:
        for first, behind in _windows(token.key):
            keys.setdefault(entity_key(token.key[first:behind]), (token.start + first, token.start + behind))
    keys.pop("", None)
    ordered = sorted(keys.items(), key=lambda item: item[1][0] - item[1][1])
    return dict(ordered[:MAX_KEYS])


def _tokens(text: str) -> Iterator[_Token]:
    plain = unicodedata.normalize("NFKC", text)
    plain = _DOTTED.sub(lambda found: found[0].replace(".", "").ljust(len(found[0])), plain)
    plain = _POSSESSIVE.sub(lambda found: " " * len(found[0]), plain)
    for found in _TOKEN.finditer(plain):
        raw = found[0]
        folded = raw if found["run"] else fold(raw)
        if not folded:
            continue
        key, apart = folded, folded
        if hyphen := _HYPHEN.search(folded):
            key, apart = folded.replace(hyphen[0], ""), folded.replace(hyphen[0], " ")
        marked = not raw.isascii() and raw.translate(_UMLAUTS) != raw
        yield _Token(key, apart, raw, found.start(), found.end(), marked)


def _windows(token: str) -> Iterator[tuple[int, int]]:
    """Parts of a run of a script that sets no words apart: any of them may be a name."""
    if not re.match(f"[{CONTINUOUS}{IDEOGRAPHIC}]", token):
        return
    for size in range(min(LONGEST_RUN, len(token) - 1), 1, -1):
        for first in range(len(token) - size + 1):
            yield first, first + size


def _says_nothing(text: str, token: _Token) -> bool:
    """Whether a word alone names nothing: function words do not, unless written as an acronym (`WHO`)."""
    return len(token.key) == 1 or (is_stopword(token.key) and not text[token.start : token.end].isupper())
