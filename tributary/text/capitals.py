"""Names by their capitals, where a script has them: which words belong to a name, and which are capitalised only for
where they stand."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tributary.text.words import is_stopword


@dataclass(frozen=True, slots=True)
class Word:
    """A word at `text[start:end]`. `joined`: only a space or a hyphen parts it from the word before. `opens`: it
    begins a sentence, an item or what follows a colon, where any word may be capitalised."""

    text: str
    start: int
    end: int
    joined: bool
    opens: bool
    capital: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words of a sentence. `heading`: its capitals say nothing by themselves."""

    words: tuple[Word, ...]
    heading: bool


_WORD = re.compile(r"[^\W_](?:[\w&]|[-'’./](?=[^\W_]))*(?:\+\+|#)?")
_CODE = re.compile(r"[^\W\d_]*[a-zа-яё][A-ZА-ЯЁ]\w*|\w+_\w+|[A-Za-z]+-?\d[\w.-]*|[A-Za-z]\w*(?:\+\+|#)")
_NUMBER = re.compile(r"\d{1,4}")
_POSSESSIVE = re.compile(r"['’]s$")
_JOINING = re.compile(r"-|[^\S\n]*\n?[^\S\n]*")
_OPENING = re.compile(r"[:|*•–—>]")
_ENDING = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")
#: Small words that stand inside names, between two of their capitals. "And" is not among them: it mostly stands
#: between two names.
_INSIDE = frozenset(
    ("of", "the", "for", "de", "del", "della", "di", "du", "des", "la", "le", "les", "van", "von", "der", "den", "al",
     "bin", "ibn", "da", "do", "dos", "&")
)  # fmt: skip
_CALENDAR = frozenset(
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "jan", "feb", "mar",
     "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec")
)  # fmt: skip
#: What follows a number that measures, so that the number is no part of a name.
_UNITS = frozenset(
    ("percent", "million", "billion", "thousand", "years", "days", "hours", "minutes", "seconds", "people", "usd",
     "eur", "dollars", "euros", "miles", "feet", "kb", "mb", "gb", "tb", "km", "m", "cm", "mm", "kg", "g", "ms", "s",
     "h")
)  # fmt: skip
_LONGEST_NAME = 7
#: From this share of capitalised words on, a line without a full stop is a heading.
_HEADING_SHARE = 0.6
_HEADING_WORDS = 3
#: A word before a name belongs to it unless the name mostly stands without the word.
_MOSTLY_WITHOUT = 3


def read_sentence(text: str, start: int, end: int) -> Sentence:
    """The words of `text[start:end]`."""
    words: list[Word] = []
    opening = True
    for match in _WORD.finditer(text, start, end):
        found = match[0]
        between = text[words[-1].end : match.start()] if words else ""
        opening = opening or _OPENING.search(between) is not None
        if found[-1] == "s":
            found = _POSSESSIVE.sub("", found)
        joined = bool(between) and _JOINING.fullmatch(between) is not None
        is_unit = joined and found.lower() in _UNITS and (words[-1].text[0].isdigit() or words[-1].text in _UNITS)
        capital = not is_unit and (found[0].isupper() or _CODE.fullmatch(found) is not None)
        words.append(Word(found, match.start(), match.start() + len(found), joined, opening, capital))
        opening = opening and not found[0].isalpha()
    return Sentence(tuple(words), _is_heading(words, text[start:end]))


def _is_heading(words: Sequence[Word], sentence: str) -> bool:
    if len(words) < _HEADING_WORDS or _ENDING.search(sentence):
        return False
    telling = [word for word in words if word.text[0].isalpha() and not is_stopword(word.text)]
    return sum(word.text[0].isupper() for word in telling) >= _HEADING_SHARE * len(telling)


class CapitalUse:
    """How a text uses capitals: which words it also writes small, and which it capitalises in mid-sentence."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._small: Counter[str] = Counter()
        self._capital: Counter[str] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        for sentence in sentences:
            for word in sentence.words:
                if word.text[0].islower():
                    self._small[word.text] += 1
                elif not word.opens and not sentence.heading and word.text[0].isupper():
                    self._capital[word.text.lower()] += 1
            for first, second in pairwise(sentence.words):
                if second.joined and first.capital and second.capital:
                    self._pairs[first.text.lower(), second.text.lower()] += 1

    def confirms(self, word: str) -> bool:
        """Whether a capital that its place alone could explain is a name's: the text capitalises the word in
        mid-sentence more often than it writes it small."""
        return self._capital[word.lower()] > self._small[word.lower()]

    def opens_name(self, word: Word, following: Word) -> bool:
        """Whether a word that opens a sentence belongs to the name behind it."""
        if self.confirms(word.text):
            return True
        together = self._pairs[word.text.lower(), following.text.lower()]
        alone = self._capital[following.text.lower()]
        return following.capital and word.text.lower() not in self._small and alone <= _MOSTLY_WITHOUT * together


def name_runs(sentence: Sentence, use: CapitalUse) -> Iterator[tuple[int, int]]:
    """Where names stand in a sentence, as characters of the text."""
    run: list[Word] = []
    for word in sentence.words:
        if run and not (word.joined and _goes_on(run, word)):
            yield from _name(run, word if word.joined else None, use, sentence.heading)
            run = []
        if word.capital or (run and _stands_inside(word)):
            run.append(word)
    if run:
        yield from _name(run, None, use, sentence.heading)


def _goes_on(run: Sequence[Word], word: Word) -> bool:
    """Whether a name of these words may hold the next one. Behind its number it ends."""
    if len(run) >= _LONGEST_NAME or _NUMBER.fullmatch(run[-1].text):
        return False
    return word.capital or _stands_inside(word)


def _stands_inside(word: Word) -> bool:
    return word.text in _INSIDE or _NUMBER.fullmatch(word.text) is not None


def _name(run: list[Word], behind: Word | None, use: CapitalUse, heading: bool) -> Iterator[tuple[int, int]]:
    """The name that a run is, without what only happens to stand at its ends."""
    while run and not run[-1].capital and not _numbers(run, behind):
        behind = run.pop()
    if run and run[0].opens and _only_opens(run, use):
        run = run[1:]
        while run and not run[0].capital:
            run = run[1:]
    if run and _is_name(run, use, heading):
        yield run[0].start, run[-1].end


def _numbers(run: Sequence[Word], behind: Word | None) -> bool:
    """Whether a run ends like `Windows 11`: in a number right behind a capital, which measures nothing."""
    if len(run) < 2 or not _NUMBER.fullmatch(run[-1].text) or not run[-2].capital:
        return False
    return behind is None or behind.text.lower() not in _UNITS


def _only_opens(run: Sequence[Word], use: CapitalUse) -> bool:
    """Whether the first word is capitalised for opening the sentence only."""
    first = run[0]
    acronym = first.text.isupper() and len(first.text) > 1
    if acronym or not first.text[0].isupper() or any(letter.isdigit() for letter in first.text):
        return False
    if is_stopword(first.text):
        return True
    return not (use.opens_name(first, run[1]) if len(run) > 1 else use.confirms(first.text))


def _is_name(run: Sequence[Word], use: CapitalUse, heading: bool) -> bool:
    if run[0].text.lower() in _CALENDAR and all(_NUMBER.fullmatch(word.text) for word in run[1:]):
        return False
    if len(run) == 1 and (len(run[0].text) < 2 or (is_stopword(run[0].text) and not run[0].text.isupper())):
        return False
    # What a heading capitalises is a name where the running text agrees.
    return not heading or all(use.confirms(word.text) for word in run if word.text[0].isupper())
