"""Where the sentences of a text stand, by rules for all scripts."""

import re
from collections.abc import Iterator

from tributary.text.abbreviations import BEFORE_NUMBER, NEVER_LAST, ORDINAL_CONTEXT, SOMETIMES_LAST
from tributary.text.lines import Region, regions
from tributary.text.scripts import CONTINUOUS
from tributary.text.words import is_stopword

# Closing quotes and brackets, and the number of a footnote, belong to the sentence before them.
_CLOSING = r"(?:[\"'”’»›)\]}」』）】》〉＂＇]|[ \u00a0\u202f]»|\[\d{1,3}\])*+"
# Say it by themselves.
_MARKS = "。！？｡؟۔।॥።፧။។៕։‼⁇⁈⁉"
# Possessive, and never begun in the middle of a row of marks: a line of a million points takes no longer than others.
# What may come first is one class before all alternatives, since a text is looked through far faster for such a one.
_END = re.compile(
    rf"[{_MARKS}．.!?…](?:"
    rf"(?<=[{_MARKS}])[{_MARKS}]*+{_CLOSING}"
    rf"|(?<=．)(?<!．．)．*+{_CLOSING}(?!\d)"
    rf"|(?<=[.!?…])(?<![.!?…][.!?…])[.!?…]*+{_CLOSING}(?=\s|$)"  # say it before a space
    r")"
)
_NEXT = re.compile(r"\s*[\"'“„‘«‹(\[¿¡「『]{0,3}")
_LAST_WORD = re.compile(r"[^\s\"'“„‘«(\[]+$")
_FIRST_WORD = re.compile(r"\w{1,24}")
_HIRAGANA = re.compile("[\u3041-\u309f]")
# No word that can end with a mere point is longer.
_LOOK_BACK = 24

_CONTINUOUS = re.compile(f"[{CONTINUOUS}]")
_GAP = re.compile(rf"(?<=[{CONTINUOUS}])\s+(?=[{CONTINUOUS}])")
# Thai ends sentences with a space only, and phrases too: shorter than this it is a phrase, in characters.
_SHORTEST_WITHOUT_MARK = 60


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """The sentences in order, each `text[start:end]` without white space at its ends.

    Together they hold every character that is no white space, and none twice. A heading, a row of a table, a line
    of code and an item's marker with its first sentence are spans of their own; a sentence goes over the line
    breaks of a paragraph. The time is linear in the length of the text.
    """
    return [span for region in regions(text) for span in _spans(text, region)]


def _spans(text: str, region: Region) -> Iterator[tuple[int, int]]:
    if region.whole:
        yield region.start, region.end
        return
    start = region.start
    for end in (*_ends(text, region), region.end):
        while start < end and text[start].isspace():
            start += 1
        if start < end:
            yield from _phrases(text, start, end)
            start = end


def _ends(text: str, region: Region) -> Iterator[int]:
    for found in _END.finditer(text, region.body, region.end):
        if found.end() < region.end and _is_end(text, region, found):
            yield found.end()


def _is_end(text: str, region: Region, mark: re.Match[str]) -> bool:
    following = _NEXT.match(text, mark.end(), region.end)
    at = following.end() if following else mark.end()
    if at >= region.end:
        return True
    sign = mark[0][0]
    if sign not in ".!?…":
        # 「…。」と goes on: what was said, and then who said it.
        return len(mark[0]) == 1 or not _HIRAGANA.match(text, mark.end())
    if text[at].islower():
        return False
    if sign != "." or mark[0].startswith(".."):
        return True
    return _ends_at_point(text, region.body, mark.start(), at)


def _ends_at_point(text: str, floor: int, point: int, following: int) -> bool:
    """Whether the single point at `point` ends a sentence, the next one beginning at `following` with no small
    letter."""
    before = text[max(floor, point - _LOOK_BACK) : point]
    found = _LAST_WORD.search(before)
    word = found[0].casefold() if found else ""
    if word in NEVER_LAST:
        return False
    if word in BEFORE_NUMBER:
        return not text[following].isdigit()
    if word.isdigit() and len(word) < 3:
        earlier = before[: -len(word)].split()
        return not earlier or earlier[-1].casefold() not in ORDINAL_CONTEXT
    if word in SOMETIMES_LAST or len(word) == 1 or "." in word:
        # After "U.S." a name goes on, a function word in capitals begins.
        first = _FIRST_WORD.match(text, following)
        return first is not None and is_stopword(first[0].casefold())
    return True


def _phrases(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span itself, or its parts where it is long and its script ends sentences with a space."""
    if end - start > _SHORTEST_WITHOUT_MARK and _CONTINUOUS.search(text, start, end):
        for gap in _GAP.finditer(text, start, end):
            if gap.start() - start >= _SHORTEST_WITHOUT_MARK:
                yield start, gap.start()
                start = gap.end()
    yield start, end
