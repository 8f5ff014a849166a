"""The lexical analysis: which terms a text is found by.

One analysis serves documents and questions, so no language is detected and the two always agree. Each word
gives two terms: the word itself without case and diacritics, and a stem of at most `STEM_LENGTH` letters behind
`STEM_MARK`. The stem finds other forms of the word, the word keeps names and exact forms ahead; both together
beat either alone in `bench/lexical_terms.py`. Function words give nothing. Scripts that write no spaces give
overlapping character n-grams, identifiers the whole and their parts, numbers one form whatever separates
their digits.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from itertools import chain
from typing import NamedTuple

from tributary.text.scripts import CONTINUOUS, IDEOGRAPHIC, SPACED
from tributary.text.stems import STEM_LENGTH, fold, stem
from tributary.text.stopwords import STOPWORDS
from tributary.text.wordlists import word_set

__all__ = [
    "MAX_TERM_LENGTH",
    "STEM_LENGTH",
    "STEM_MARK",
    "TermSpan",
    "is_stopword",
    "keys",
    "term_spans",
    "terms",
    "words",
]

#: Leads every stem, so that it never meets a word of the same letters.
STEM_MARK = "~"
#: What is longer is data (a hash, base64), not a word: it is cut here and kept as one term.
MAX_TERM_LENGTH = 64
_CACHE_SIZE = 200_000

# Joiners that stand inside a word without being read: soft hyphen, zero-width (non-)joiner, word joiner.
_JOINERS = "\u00ad\u200c\u200d\u2060"
_APOSTROPHES = "'’ʼ"
# What may follow the characters of a word and still be part of it: the decimals of a number, a clitic, the signs
# of C++ and C#. The first bracket alone decides in nearly all cases.
_TAIL = rf"(?:[.,{_APOSTROPHES}+#](?:(?<=\d[.,])\d+|(?<=[{_APOSTROPHES}])[{SPACED}]+|(?<=\+)\+|(?<=#)))*"
_TOKEN = re.compile(rf"[{SPACED}{_JOINERS}]+{_TAIL}|[{IDEOGRAPHIC}]+|[{CONTINUOUS}]+")
_ASCII_TOKEN = re.compile(r"[0-9A-Z_a-z]+(?:[.,'+#](?:(?<=\d[.,])\d+|(?<=')[0-9A-Z_a-z]+|(?<=\+)\+|(?<=#)))*")
_IDEOGRAPH = re.compile(f"[{IDEOGRAPHIC}]")
_CONTINUOUS = re.compile(f"[{CONTINUOUS}]")
_PIECE = re.compile(rf"\d+(?:[.,]\d+)+|[^\W_](?:\+\+|#)|(?:(?!\d+[.,]\d)[{SPACED}])+")
# English endings after an apostrophe, Romance articles and pronouns before one.
_CLITICS = word_set("s t d m ll re ve l j n c qu")
# What is a name in capitals, and a function word of some language otherwise.
_ACRONYMS = word_set("it us un who la el os ai er est das dos mit des ha ma mas nos na ni il me mi ja je an as par")
_IDENTIFIER_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_THOUSANDS = re.compile(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*(?:[.,]\d+)?")
_DELETE_JOINERS = dict.fromkeys(map(ord, _JOINERS))


class TermSpan(NamedTuple):
    """Where a token stands in the text, and the terms it gives: never empty."""

    start: int
    end: int
    terms: tuple[str, ...]


def terms(text: str) -> list[str]:
    """The terms of a text in reading order, repeated as often as they occur; stop words are left out.

    A text of stop words alone keeps them, so that "The Who" can be found. Any string is accepted; no term holds
    NUL, a surrogate or white space, and none is longer than `MAX_TERM_LENGTH`.
    """
    tokens = _tokens(text)
    found = list(chain.from_iterable(map(_CONTENT.__getitem__, tokens)))
    return found or list(chain.from_iterable(map(_EVERYTHING.__getitem__, tokens)))


def term_spans(text: str) -> list[TermSpan]:
    """As `terms`, with the place of each token: `text[start:end]`. Stop words are always left out."""
    spans = ((found.start(), found.end(), _CONTENT[found[0]]) for found in _expression(text).finditer(text))
    return [TermSpan(start, end, given) for start, end, given in spans if given]


def words(text: str) -> list[str]:
    """The surface forms alone, without stems: folded words, n-grams of scripts without spaces, numbers."""
    return [term for term in terms(text) if term[0] != STEM_MARK]


def keys(text: str) -> list[str]:
    """One term for each thing named: the stem of a word, or the term itself where it has no stem. For comparing
    texts by what they say, where `terms` would count a word twice."""
    found = terms(text)
    following = chain(found[1:], ("",))
    pairs = zip(found, following, strict=False)
    return [term for term, after in pairs if term[0] == STEM_MARK or after[:1] != STEM_MARK]


def is_stopword(word: str) -> bool:
    """Whether a single word is a function word, in any case or diacritics."""
    return not _CONTENT[word] and bool(_EVERYTHING[word])


def _expression(text: str) -> re.Pattern[str]:
    # The same tokens either way; ASCII, which most code and English is, takes the smaller expression.
    return _ASCII_TOKEN if text.isascii() else _TOKEN


def _tokens(text: str) -> list[str]:
    return _expression(text).findall(text)


class _Lexicon(dict[str, tuple[str, ...]]):
    """The terms of each token met so far. Bounded; safe to use from several threads, which at worst analyse
    the same token twice."""

    def __init__(self, keep: Callable[[str, str], bool]) -> None:
        super().__init__()
        self._keep = keep

    def __missing__(self, token: str) -> tuple[str, ...]:
        if not token.isascii():
            # A run without spaces is a whole clause, which will hardly come again: it is not remembered.
            if _IDEOGRAPH.match(token):
                return _ngrams(unicodedata.normalize("NFKC", token), 2)
            if _CONTINUOUS.match(token):
                return _ngrams(token, 3)
        given = tuple(self._analyse(token))
        if len(token) <= MAX_TERM_LENGTH:
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[token] = given
        return given

    def _analyse(self, token: str) -> Iterator[str]:
        if not token.isascii():
            plain = unicodedata.normalize("NFKC", token).translate(_DELETE_JOINERS)
            if plain != token:
                # The compatibility form may hold spaces, signs or capitals of its own: it is read as text.
                yield from chain.from_iterable(self[part] for part in _TOKEN.findall(plain))
                return
        for piece in (token,) if token.isalpha() else _PIECE.findall(token):
            if piece[-1].isdigit() and not piece.isalnum() and "_" not in piece:
                yield _number(piece)
            elif piece[-1] in "+#":
                yield piece.casefold()
            elif len(piece) == len(token) or piece.lower() not in _CLITICS:
                yield from self._word(piece.strip("_"))

    def _word(self, name: str) -> Iterator[str]:
        parts = _parts(name)
        if len(parts) > 1:
            yield fold(name)[:MAX_TERM_LENGTH]
        for part in parts:
            word = fold(part)
            if word and self._keep(part, word):
                yield word[:MAX_TERM_LENGTH]
                yield STEM_MARK + stem(word)


def _ngrams(run: str, width: int) -> tuple[str, ...]:
    return tuple(run[start : start + width] for start in range(max(1, len(run) - width + 1)))


def _parts(name: str) -> list[str]:
    """The words of an identifier in snake_case or camelCase; a plain word is its own only part."""
    if len(name) > MAX_TERM_LENGTH:
        return [name]
    if not name.isascii():
        return [part for part in name.split("_") if part]
    return _IDENTIFIER_PART.findall(name)


def _number(digits: str) -> str:
    """`1,234.50`, `1.234,50` and `1234.50` are one number; `2.1.0` and `3,14` keep their points."""
    thousands = _THOUSANDS.fullmatch(digits)
    if thousands:
        digits = digits.replace(thousands[1], "")
    return digits.replace(",", ".")[:MAX_TERM_LENGTH]


def _is_content(part: str, word: str) -> bool:
    return word not in STOPWORDS or (word in _ACRONYMS and part.isupper())


def _is_anything(_part: str, _word: str) -> bool:
    return True


_CONTENT = _Lexicon(_is_content)
_EVERYTHING = _Lexicon(_is_anything)
