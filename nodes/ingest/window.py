"""What fits the embedder's window: the text a chunk is embedded as, and the sizes of units beside it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nodes.ingest.blocks import PATH_SEPARATOR
from nodes.ingest.units import Unit, cut_unit
from tributary.domain.knowledge import ChunkDraft

#: Tokens of each text, as the embedder's window counts them.
TokenCounter = Callable[[Sequence[str]], list[int]]
Path = tuple[str, ...]

#: Characters of a document's title that are embedded with each of its chunks.
TITLE_CHARACTERS = 80
#: The share of the window that a heading path may take.
_PATH_SHARE = 0.25
#: A unit with more characters than this for each token of the window is cut before it is first counted.
_CHARACTERS_PER_TOKEN = 8
#: Characters of a piece of a unit that had to be cut.
_PIECE_CHARACTERS = 96
#: Joining two texts may cost a token more than they have apart.
_SEAM = 2

_NOT_A_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Measured:
    """A unit with its size in tokens and the `room` that a chunk has which begins at it."""

    unit: Unit
    tokens: int
    room: int


def embedding_text(draft: ChunkDraft, title: str) -> str:
    """What is embedded and indexed for a chunk: the document's title and the headings above, then the text."""
    context = context_of(title, draft.heading)
    return f"{context}\n\n{draft.text}" if context else draft.text


def context_of(title: str, heading: str) -> str:
    """Title and heading path as one line; a path that begins with the title says it once."""
    title = " ".join(title.split())[:TITLE_CHARACTERS].rstrip()
    if not heading or not title:
        return title or heading
    told, path = _letters(title), _letters(heading)
    return heading if path.startswith(told) else f"{title}{PATH_SEPARATOR}{heading}"


class Window:
    """The embedder's window, for the chunks of one document. Counting is batched: a call a step, not a text."""

    def __init__(self, count_tokens: TokenCounter, max_tokens: int, title: str) -> None:
        self._count_tokens = count_tokens
        self._max_tokens = max_tokens
        self._title = title

    def headings(self, paths: Iterable[Path]) -> dict[Path, str]:
        """Each path as a heading line of at most its share of the window; the outermost parts go first."""
        limit = int(_PATH_SHARE * self._max_tokens)
        kept = {path: path for path in paths}
        while True:
            lines = {path: PATH_SEPARATOR.join(parts) for path, parts in kept.items()}
            sizes = self._count_each(lines.values())
            over = [path for path, line in lines.items() if sizes[line] > limit]
            if not over:
                return lines
            for path in over:
                parts = kept[path]
                kept[path] = parts[1:] if len(parts) > 1 else (parts[0][: len(parts[0]) // 2].rstrip(),)

    def rooms(self, headings: Mapping[Path, str]) -> dict[Path, int]:
        """Tokens that are left for the text of a chunk under each path.

        Raises:
            ValueError: the title leaves none.
        """
        contexts = {path: context_of(self._title, heading) for path, heading in headings.items()}
        sizes = self._count_each(contexts.values())
        rooms = {path: self._max_tokens - sizes[context] - _SEAM for path, context in contexts.items()}
        if min(rooms.values(), default=1) < 1:
            raise ValueError(f"a window of {self._max_tokens} tokens can't hold the title and any text")
        return rooms

    def measure(self, text: str, units: Iterable[Unit], rooms: Mapping[Path, int]) -> list[Measured]:
        """The units with their sizes; one over its room in pieces that are not."""
        size = max(1, min(_PIECE_CHARACTERS, self._max_tokens // 2))
        longest = _CHARACTERS_PER_TOKEN * self._max_tokens
        pending = list(_cut_longer(text, units, longest, size))
        measured: list[Measured] = []
        while pending:
            counts = self._count([text[unit.start : unit.end] for unit in pending])
            over: list[Unit] = []
            for unit, tokens in zip(pending, counts, strict=True):
                if tokens <= rooms[unit.path] or unit.end - unit.start == 1:
                    measured.append(Measured(unit, tokens, rooms[unit.path]))
                else:
                    over.append(unit)
            pending = [piece for unit in over for piece in cut_unit(text, unit, _smaller(unit, size))]
        measured.sort(key=lambda each: each.unit.start)
        return measured

    def over(self, drafts: Sequence[ChunkDraft]) -> list[bool]:
        """Which drafts, as they are embedded, exceed the window by the embedder's own count."""
        counts = self._count([embedding_text(draft, self._title) for draft in drafts])
        return [tokens > self._max_tokens for tokens in counts]

    def _count(self, texts: Sequence[str]) -> list[int]:
        return self._count_tokens(texts) if texts else []

    def _count_each(self, texts: Iterable[str]) -> dict[str, int]:
        distinct = list(dict.fromkeys(texts))
        return dict(zip(distinct, self._count(distinct), strict=True))


def _cut_longer(text: str, units: Iterable[Unit], longest: int, size: int) -> Iterator[Unit]:
    for unit in units:
        if unit.end - unit.start > longest:
            yield from cut_unit(text, unit, size)
        else:
            yield unit


def _smaller(unit: Unit, size: int) -> int:
    length = unit.end - unit.start
    return size if length > size else max(1, length // 2)


def _letters(text: str) -> str:
    return _NOT_A_LETTER.sub(" ", text).strip().casefold()
