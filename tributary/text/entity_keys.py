"""When two names mean the same: the key that they resolve to, and the keys that a question may hold."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

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
_TOKEN = re.compile(rf"(?P<run>[{CONTINUOUS}{IDEOGRAPHIC}]+)|(?:(?![{CONTINUOUS}{IDEOGRAPHIC}_])\w)+(?:\+\+|#)?")
_POSSESSIVE = re.compile(r"['’ʼ]s\b|(?<=s)['’ʼ](?=\s|$)")
_DOTTED = re.compile(r"\b(?:\w\.){2,}")
_ARTICLES = frozenset(("the", "a", "an", "der", "die", "das", "le", "la", "les", "el", "los", "las", "il"))
_PLURAL = re.compile(r"(?<=[a-z][a-z][^\Wsui_])s$")


@lru_cache(maxsize=16_384)
def entity_key(name: str) -> str:
    """The resolved form of a name: without case, accents, punctuation, a leading article, a possessive, and the
    plural of its last word. Empty where the name has no letter or digit."""
    tokens = [token for token, _, _ in _tokens(name)]
    if len(tokens) > 1 and tokens[0] in _ARTICLES:
        del tokens[0]
    if tokens:
        tokens[-1] = _PLURAL.sub("", tokens[-1])
    return " ".join(tokens)[:MAX_KEY_LENGTH]


def phrase_keys(text: str) -> dict[str, tuple[int, int]]:
    """The keys of all phrases that may name an entity, with the characters of the normalised text that they cover
    first; longer phrases first. At most `MAX_KEYS`."""
    text = unicodedata.normalize("NFKC", text)
    tokens = list(_tokens(text))
    keys: dict[str, tuple[int, int]] = {}
    for size in range(min(LONGEST_PHRASE, len(tokens)), 0, -1):
        for first in range(len(tokens) - size + 1):
            part = tokens[first : first + size]
            if size == 1 and _says_nothing(text, *part[0]):
                continue
            key = entity_key(" ".join(token for token, _, _ in part))
            keys.setdefault(key, (part[0][1], part[-1][2]))
    for token, start, _ in tokens:
        for first, behind in _windows(token):
            keys.setdefault(entity_key(token[first:behind]), (start + first, start + behind))
    keys.pop("", None)
    ordered = sorted(keys.items(), key=lambda item: item[1][0] - item[1][1])
    return dict(ordered[:MAX_KEYS])


def _tokens(text: str) -> Iterator[tuple[str, int, int]]:
    """Folded tokens with their place in the normalised text."""
    plain = unicodedata.normalize("NFKC", text)
    plain = _DOTTED.sub(lambda found: found[0].replace(".", "").ljust(len(found[0])), plain)
    plain = _POSSESSIVE.sub(lambda found: " " * len(found[0]), plain)
    for found in _TOKEN.finditer(plain):
        folded = found[0] if found["run"] else fold(found[0])
        if folded:
            yield folded, found.start(), found.end()


def _windows(token: str) -> Iterator[tuple[int, int]]:
    """Parts of a run of a script that sets no words apart: any of them may be a name."""
    if not re.match(f"[{CONTINUOUS}{IDEOGRAPHIC}]", token):
        return
    for size in range(min(LONGEST_RUN, len(token) - 1), 1, -1):
        for first in range(len(token) - size + 1):
            yield first, first + size


def _says_nothing(text: str, token: str, start: int, end: int) -> bool:
    """Whether a word alone names nothing: function words do not, unless written as an acronym (`WHO`)."""
    return len(token) == 1 or (is_stopword(token) and not text[start:end].isupper())
