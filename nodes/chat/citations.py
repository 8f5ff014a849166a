"""Citation marks in an answer: read in their usual forms, kept where their source exists, removed where not.

A mark is a number (or several) in brackets: `[1]`, `[1][2]`, `[1, 2]`, `[1-3]`, `[Source 2]`, `【1】`, `［1］`, and
`【1†source】`, as some models are trained to write it. Not marks: what stands in code, `[text](url)`, `[text][1]`,
`[1]: url` at the start of a line, `[^1]`, an interval like `[0, 1]`, and `name[9]` that has no source, unless the
answer puts its marks so. Scripts that write no spaces have no such names.
"""

import re
from typing import NamedTuple

_LABEL = r"(?:sources?|quellen?|ref(?:erence)?s?\.?)?\s*:?\s*"
_MARK = re.compile(
    rf"^{_LABEL}#?\d{{1,3}}(?:\s*(?:[,;&，、–-]|and|und)\s*(?:{_LABEL}#?)?\d{{1,3}})*(?:†.*)?$", re.IGNORECASE
)
_PART = re.compile(r"\d{1,3}(?:\s*[–-]\s*\d{1,3})?")
#: The longest bracket that can still be a mark; what is longer is text and goes on at once.
_LONGEST = 48
_OPEN, _CLOSE = "[【［", "]】］"


class CitationSpan(NamedTuple):
    """Where the mark of a source stands in an answer, in characters: `answer[start:end]` is `[number]`."""

    start: int
    end: int
    number: int


def _numbers(inner: str) -> list[int]:
    numbers: list[int] = []
    for part in _PART.findall(inner.partition("†")[0]):
        ends = [int(end) for end in re.split(r"\s*[–-]\s*", part)]
        numbers.extend(range(ends[0], min(ends[-1], ends[0] + 50) + 1))
    return list(dict.fromkeys(numbers))


def is_mark(inner: str) -> bool:
    """Whether a bracket that holds `inner` reads as a citation mark."""
    return _MARK.match(inner.strip()) is not None


class CitationFilter:
    """Reads an answer as it streams and gives it back with every mark in the form `[n]`, unknown ones removed.

    What `feed` and `finish` return, joined, is the same however the text was cut into pieces.
    """

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._pending = ""
        #: The text since the last line break, as it came in: code fences and link definitions are told by it.
        self._line = ""
        self._fence = ""
        self._ticks = 0
        self._last = ""
        self._after_text_bracket = False
        #: Whether a mark of a source stood right behind a word: then those of none do as well.
        self._puts_attached = False
        self.cited: set[int] = set()
        #: The marks in what was given back, in their order.
        self.spans: list[CitationSpan] = []
        self._length = 0
        self._marked: list[int] = []

    def feed(self, piece: str) -> str:
        """The part of the answer that is certain so far."""
        self._pending += piece
        return self._drain(final=False)

    def finish(self) -> str:
        """The rest."""
        return self._drain(final=True)

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        while self._pending:
            taken = self._step(final=final)
            if taken is None:
                break
            out.append(taken)
            self._length += len(taken)
            self._locate()
        return "".join(out)

    def _locate(self) -> None:
        """The marks that the last unit ended with."""
        start = self._length - sum(len(f"[{number}]") for number in self._marked)
        for number in self._marked:
            end = start + len(f"[{number}]")
            self.spans.append(CitationSpan(start, end, number))
            start = end
        self._marked = []

    def _step(self, *, final: bool) -> str | None:
        """Consumes one unit of the pending text and returns what becomes of it; None to wait for more."""
        head = self._pending[0]
        if head == "`" or (head == "~" and not self._line.strip()):
            return self._code_mark(final=final)
        if self._fence or self._ticks:
            return self._emit(1)
        if head in " \t":
            return self._blank(final=final)
        if head in _OPEN:
            return self._bracket(final=final, attached=self._last.isascii() and self._last.isalnum())
        return self._emit(1)

    def _emit(self, length: int) -> str:
        text, self._pending = self._pending[:length], self._pending[length:]
        for character in text:
            if character != "\n":
                self._line += character
                continue
            if not self._line.strip():
                self._ticks = 0  # a code span ends with its paragraph at the latest
            self._line = ""
        self._last = text[-1]
        self._after_text_bracket = False
        return text

    def _code_mark(self, *, final: bool) -> str | None:
        mark = self._pending[0]
        length = len(self._pending) - len(self._pending.lstrip(mark))
        if length == len(self._pending) and not final:
            return None
        if length >= 3 and not self._line.strip() and not self._ticks:
            if not self._fence:
                self._fence = mark * length
            elif self._fence[0] == mark and length >= len(self._fence):
                self._fence = ""
        elif mark == "`" and not self._fence:
            self._ticks = 0 if self._ticks == length else (self._ticks or length)
        return self._emit(length)

    def _blank(self, *, final: bool) -> str | None:
        """Blanks wait for what follows them: a mark that is removed takes them along."""
        rest = self._pending.lstrip(" \t")
        if not rest and not final:
            return None
        width = len(self._pending) - len(rest)
        if rest and rest[0] in _OPEN:
            blanks, self._pending = self._pending[:width], rest
            replaced = self._bracket(final=final, attached=False)
            if replaced is None:
                self._pending = blanks + rest
                return None
            if replaced == "":
                return ""
            return blanks + replaced
        return self._emit(width)

    def _bracket(self, *, final: bool, attached: bool) -> str | None:
        closing = _CLOSE[_OPEN.index(self._pending[0])]
        window, line_break, _ = self._pending[: _LONGEST + 2].partition("\n")
        end = window.find(closing)
        if end < 0:
            no_mark = final or len(window) > _LONGEST or line_break
            return self._emit(1) if no_mark else None
        if end + 1 == len(self._pending) and not final:
            return None
        return self._closed(self._pending[1:end], end + 1, attached=attached)

    def _closed(self, inner: str, length: int, *, attached: bool) -> str:
        if not is_mark(inner) or self._is_link(length):
            text = self._emit(length)
            self._after_text_bracket = True
            return text
        numbers = _numbers(inner)
        known = [number for number in numbers if 1 <= number <= self._sources]
        index = attached and not known and not self._puts_attached
        if index or (0 in numbers and len(numbers) > 1):
            return self._emit(length)
        self._puts_attached |= attached
        self._pending = self._pending[length:]
        self.cited.update(known)
        self._marked = known
        marks = "".join(f"[{number}]" for number in known)
        self._line += marks
        self._last = "]" if marks else self._last
        return marks

    def _is_link(self, length: int) -> bool:
        following = self._pending[length : length + 1]
        if following == "(" or self._after_text_bracket:
            return True
        return following == ":" and not self._line.strip()


def clean_citations(answer: str, sources: int) -> str:
    """The answer with every mark in the form `[n]`, and marks of sources that don't exist removed."""
    reader = CitationFilter(sources)
    return reader.feed(answer) + reader.finish()


def citation_spans(answer: str, sources: int) -> list[CitationSpan]:
    """The marks of an answer that `CitationFilter` has given back, in their order."""
    reader = CitationFilter(sources)
    reader.feed(answer)
    reader.finish()
    return reader.spans


def cited_numbers(answer: str, sources: int) -> frozenset[int]:
    """The numbers of the sources that the answer cites."""
    reader = CitationFilter(sources)
    reader.feed(answer)
    reader.finish()
    return frozenset(reader.cited)
