"""A PDF page's characters as readable text, without losing where each of them came from.

What pdfium reads from a page ("raw" text) becomes the page's text by five rules, each of which drops characters,
replaces one by one, or adds a line break of ours; nothing is ever moved:

1. lines end with `\\n`, without blanks around them; lines with nothing in them go;
2. a blank line is put where the step from one baseline to the next shows a new paragraph;
3. control characters, soft hyphens and code points that no database takes are dropped;
4. no-break spaces become spaces, and bullets of symbol fonts become `•`;
5. at a word broken over a line end, which pdfium marks and joins, the hyphen is dropped or kept.

So a page's stored text can be laid over the page again: `origins_of` replays the rules against it, which gives
the raw offset of every character, hence its box. A ligature is already spelt out by pdfium.
"""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

#: What pdfium writes for a hyphen at a line end; it also takes away the line break behind it.
LINE_END_HYPHEN = "\ufffe"
#: Origin of a character that is not on the page: a line break that rule 2 put there.
NOT_ON_PAGE = -1

_SPECIAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xa0\xad\ufeff\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\uf0a7\uf0b7\uf0d8\uf0fc]"
)
_REPLACED = {"\xa0": " ", "\uf0a7": "•", "\uf0b7": "•", "\uf0d8": "•", "\uf0fc": "•"}
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_BROKEN = re.compile(rf"[\w-]*{LINE_END_HYPHEN}[\w-]*")
_BROKEN_WORD = re.compile(rf"(?P<left>[^\W\d_]+){LINE_END_HYPHEN}(?P<right>[^\W\d_]+)")
_WORD_BEFORE = re.compile(r"[^\W_]+(?:-[^\W_]+)*$")

#: A step between baselines this much over the usual one opens a paragraph.
_PARAGRAPH_STEP = 1.35
#: A change of the type's height by more than this does as well.
_PARAGRAPH_HEIGHT = 1.12
#: Fewer lines than this end in a hyphen where only compounds do.
_FEW_HYPHENS = 0.03

#: Given the parts of a broken word and where its hyphen would stand in the page's text: does it keep it?
HyphenRule = Callable[[str, str, int], bool]
#: Given a line's number in the page and where the break before it stands in the text: does it open a paragraph?
ParagraphRule = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class RawLine:
    """A line of `RawPage.text`, `[start:end]` without blanks around it. Lengths are in points of the page.

    `top` and `bottom` are the baselines of its first and its last character (they differ where pdfium joined
    lines at a hyphen); `height` is that of the type.
    """

    start: int
    end: int
    top: float
    bottom: float
    height: float
    bold: bool


@dataclass(frozen=True, slots=True)
class RawPage:
    text: str
    lines: tuple[RawLine, ...]


@dataclass(frozen=True, slots=True)
class PageText:
    """`origins[i]` is the offset in the raw text of `text[i]`; `line_starts[k]` where the page's line k begins."""

    text: str
    origins: list[int]
    line_starts: list[int]


def usual_step(pages: Sequence[RawPage]) -> float:
    """The usual step from one baseline to the next within a paragraph, in heights of the type.

    The lower quartile: even in a document of lists and headings the lines of its paragraphs make up so many.
    """
    steps = sorted(
        (above.bottom - line.top) / line.height
        for page in pages
        for above, line in zip(page.lines, page.lines[1:], strict=False)
        if above.bottom > line.top and _same_height(above, line)
    )
    return steps[len(steps) // 4] if steps else 1.0


def starts_paragraph(above: RawLine, line: RawLine, step: float) -> bool:
    """Whether the layout shows a new paragraph. Upwards (a new column) and sideways (a table's cells) it doesn't."""
    distance = above.bottom - line.top
    if distance <= 0.3 * line.height:
        return False
    return not _same_height(above, line) or distance > _PARAGRAPH_STEP * step * line.height


def lay_out(page: RawPage, opens_paragraph: ParagraphRule, keeps_hyphen: HyphenRule) -> PageText:
    """The page's text by the rules above. Linear in its length."""
    parts: list[str] = []
    origins: list[int] = []
    line_starts: list[int] = []
    for number, line in enumerate(page.lines):
        if number:
            breaks = 2 if opens_paragraph(number, len(origins)) else 1
            parts.append("\n" * breaks)
            origins.extend([NOT_ON_PAGE] * breaks)
        line_starts.append(len(origins))
        _lay_line(page.text, line, keeps_hyphen, parts, origins)
    return PageText("".join(parts), origins, line_starts)


def origins_of(page: RawPage, text: str) -> list[int]:
    """The raw offset of each character of `text`, which `lay_out` once made of this page; `NOT_ON_PAGE` for ours.

    What was judged over the whole document then (paragraphs, hyphens) is read off the text now.

    Raises:
        ValueError: the text is not this page's.
    """
    replayed = lay_out(
        page,
        lambda _number, at: text.startswith("\n\n", at),
        lambda _left, _right, at: text.startswith("-", at),
    )
    if replayed.text != text:
        raise ValueError("the text was not laid out from this page")
    return replayed.origins


def paragraph_rule(page: RawPage, step: float) -> ParagraphRule:
    """The rule for one page of a document with this `usual_step`."""
    return lambda number, _at: starts_paragraph(page.lines[number - 1], page.lines[number], step)


def hyphen_rule(pages: Sequence[RawPage]) -> HyphenRule:
    """How this document writes its words decides whether a broken one is a compound (`long-term`) or not.

    A spelling that stands elsewhere in the document wins. Otherwise a hyphen stays before anything but a small
    letter, in a word that has one already, and between two words that the document also uses by themselves; what
    is left goes by whether the document breaks words at all.
    """
    words = {word.lower() for page in pages for word in _WORD.findall(_BROKEN.sub(" ", page.text))}
    breaks_words = _breaks_words(pages, words)

    def keeps_hyphen(left: str, right: str, _at: int) -> bool:
        spelt = _spelling(words, left, right)
        if spelt is not None:
            return spelt
        left, lowered = left.lower(), right.lower()
        if not (left.isalpha() and right[:1].islower()):
            return True
        if left in words and lowered in words and min(len(left), len(lowered)) > 1:
            return True
        return not breaks_words

    return keeps_hyphen


def _spelling(words: Set[str], left: str, right: str) -> bool | None:
    """Whether the word has a hyphen where it stands elsewhere; None where it stands nowhere else."""
    left, right = left.lower(), right.lower()
    if f"{left}-{right}" in words:
        return True
    return False if left + right in words else None


def _breaks_words(pages: Sequence[RawPage], words: Set[str]) -> bool:
    """Whether the document breaks words at line ends, as justified text does, or only compounds at their hyphens."""
    broken = [(found["left"], found["right"]) for page in pages for found in _BROKEN_WORD.finditer(page.text)]
    spelt = [spelling for left, right in broken if (spelling := _spelling(words, left, right)) is not None]
    if spelt:
        return spelt.count(False) >= spelt.count(True)
    return len(broken) > _FEW_HYPHENS * sum(len(page.lines) for page in pages)


def _lay_line(raw: str, line: RawLine, keeps_hyphen: HyphenRule, parts: list[str], origins: list[int]) -> None:
    copied = line.start
    for special in _SPECIAL.finditer(raw, line.start, line.end):
        at = special.start()
        parts.append(raw[copied:at])
        origins.extend(range(copied, at))
        copied = at + 1
        replaced = _REPLACED.get(special[0], "")
        if special[0] == LINE_END_HYPHEN and _hyphen_stays(raw, line, at, len(origins), keeps_hyphen):
            replaced = "-"
        if replaced:
            parts.append(replaced)
            origins.append(at)
    parts.append(raw[copied : line.end])
    origins.extend(range(copied, line.end))


def _hyphen_stays(raw: str, line: RawLine, at: int, written: int, keeps_hyphen: HyphenRule) -> bool:
    left = _WORD_BEFORE.search(raw, max(line.start, at - 64), at)
    right = _WORD.match(raw, at + 1, line.end)
    if left is None or right is None:
        return True
    return keeps_hyphen(left[0], right[0], written)


def _same_height(above: RawLine, line: RawLine) -> bool:
    taller, lower = max(above.height, line.height), min(above.height, line.height)
    return taller <= lower * _PARAGRAPH_HEIGHT
