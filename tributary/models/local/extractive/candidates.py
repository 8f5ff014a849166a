"""The sentences that an answer can be made of."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tributary.models.local.extractive.prompt import Passage
from tributary.models.local.extractive.question import Question
from tributary.text.sentences import sentence_spans
from tributary.text.summaries import plain, shorten
from tributary.text.words import keys, terms

#: A file longer than this is searched in windows first, and only the best of them are read; in characters.
LONG_FILE = 40_000
_WINDOW = 2_000
_WINDOWS = 12
#: Longer than this a sentence is cut when it is quoted, in characters.
LONGEST_QUOTE = 420

# A number in brackets would read as a citation of ours, whoever wrote it.
_BRACKETED_NUMBER = re.compile(r"[\[【](\s*\^?\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*)[\]】]")
_TO_ROUND = str.maketrans("[]【】", "()()")
_SECTION_MARK = re.compile(r"-{2,}\s*(?:END )?[A-Z ]+-{2,}")
_CELL = re.compile(r"\s*\|\s*")
_VISIBLE = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Candidate:
    """`place` counts the sentences of the passage; `text` is what would be quoted, on one line."""

    passage: int
    place: int
    text: str
    keys: frozenset[str]


def read_candidates(passages: Sequence[Passage], question: Question) -> list[Candidate]:
    """All sentences that can be quoted, passage by passage in their order. Of a long file, those of the windows
    that share most with the question."""
    return [
        Candidate(number, place, text, found)
        for number, passage in enumerate(passages)
        for place, (text, found) in enumerate(_sentences(_excerpt(passage.text, question)))
    ]


def _sentences(text: str) -> Iterator[tuple[str, frozenset[str]]]:
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        if _VISIBLE.search(sentence):
            yield quotable(sentence), frozenset(keys(sentence))


def quotable(sentence: str) -> str:
    """A sentence as an answer can hold it: one line, no markup, nothing that reads as a citation or a section."""
    text = _SECTION_MARK.sub("—", plain(sentence))
    if "|" in text:
        text = _CELL.sub(" | ", text.strip("| "))
    text = _BRACKETED_NUMBER.sub(r"(\1)", text)
    if text.endswith(("]", "】")):
        # Before our mark, a last bracket would make a link of it.
        text = text.translate(_TO_ROUND)
    return shorten(text, LONGEST_QUOTE)


def _excerpt(text: str, question: Question) -> str:
    if len(text) <= LONG_FILE:
        return text
    wanted = {**question.earlier, **question.own}
    windows = list(_windows(text))
    found = [wanted.keys() & frozenset(terms(text[start:end])) for start, end in windows]
    spread = Counter(key for each in found for key in each)
    scores = [sum(wanted[key] / spread[key] ** 0.5 for key in each) for each in found]
    best = sorted(range(len(windows)), key=lambda number: (-scores[number], number))[:_WINDOWS]
    return "\n\n".join(text[slice(*windows[number])] for number in sorted(best))


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """The text in parts of about `_WINDOW` characters that end with a line, or a space where lines are long."""
    start = 0
    while start < len(text):
        end = min(len(text), start + _WINDOW)
        if end < len(text):
            end = max(text.rfind("\n", start + _WINDOW // 2, end), text.rfind(" ", end - 100, end)) + 1 or end
        yield start, end
        start = end
