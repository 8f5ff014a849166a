"""The labels of a Word document's lists and numbered headings, which are counted and stand nowhere in its text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tributary.files.parsing.xml import Element, attribute, child, children, number, value_of

_PLACE = re.compile(r"%([1-9])")
_DEPTHS = 9
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST_ROMAN = 4_999


@dataclass(frozen=True, slots=True)
class _Level:
    format: str
    text: str
    start: int


def _roman(count: int) -> str:
    if not 0 < count <= _MOST_ROMAN:
        return str(count)
    digits = ""
    for value, letters in _ROMAN:
        times, count = divmod(count, value)
        digits += letters * times
    return digits


def _letter(count: int) -> str:
    """a to z, then aa to zz, as Word counts."""
    if count < 1:
        return str(count)
    times, place = divmod(count - 1, 26)
    return chr(ord("a") + place) * min(times + 1, 10)


_FORMATS: Mapping[str, Callable[[int], str]] = {
    "lowerLetter": _letter,
    "upperLetter": lambda count: _letter(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "decimalZero": lambda count: f"{count:02}",
    "none": lambda _: "",
}


class Numbering:
    """Counts the paragraphs of lists in the order in which they are asked for."""

    def __init__(self, root: Element | None) -> None:
        definitions = {attribute(each, "abstractNumId") or "": each for each in children(root, "abstractNum")}
        self._lists: dict[str, str] = {}
        self._levels: dict[str, dict[int, _Level]] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        for each in children(root, "num"):
            list_id, definition_id = attribute(each, "numId") or "", value_of(each, "abstractNumId") or ""
            self._lists[list_id] = definition_id
            self._levels[list_id] = _levels(definitions.get(definition_id)) | _overridden(each)
            self._restarts[list_id] = _restarts(each)
        self._counts: dict[str, list[int | None]] = {}

    def label(self, list_id: str, depth: int) -> str | None:
        """The next label at this depth: `-` for a bullet, `2.` or `2.1` else; None where there is no such list."""
        level = self._levels.get(list_id, {}).get(depth)
        if level is None or not 0 <= depth < _DEPTHS:
            return None
        if level.format == "bullet":
            return "-"
        counts = self._count(list_id, depth)
        return _PLACE.sub(lambda place: self._told(list_id, int(place[1]) - 1, counts), level.text).strip()

    def _count(self, list_id: str, depth: int) -> list[int | None]:
        """Lists of one definition share their counts, but for those that start again."""
        counts = self._counts.setdefault(self._lists[list_id], [None] * _DEPTHS)
        restart = self._restarts[list_id].pop(depth, None)
        before = counts[depth]
        if restart is not None:
            counts[depth] = restart
        else:
            counts[depth] = self._levels[list_id][depth].start if before is None else before + 1
        counts[depth + 1 :] = [None] * (_DEPTHS - depth - 1)
        return counts

    def _told(self, list_id: str, depth: int, counts: list[int | None]) -> str:
        level = self._levels[list_id].get(depth)
        if level is None:
            return ""
        count = counts[depth]
        return _FORMATS.get(level.format, str)(level.start if count is None else count)


def _levels(definition: Element | None) -> dict[int, _Level]:
    return {number(attribute(each, "ilvl")): _level(each) for each in children(definition, "lvl")}


def _overridden(instance: Element) -> dict[int, _Level]:
    overrides = ((each, child(each, "lvl")) for each in children(instance, "lvlOverride"))
    return {number(attribute(each, "ilvl")): _level(level) for each, level in overrides if level is not None}


def _restarts(instance: Element) -> dict[int, int]:
    starts = ((each, value_of(each, "startOverride")) for each in children(instance, "lvlOverride"))
    return {number(attribute(each, "ilvl")): number(start, 1) for each, start in starts if start is not None}


def _level(element: Element) -> _Level:
    return _Level(
        format=value_of(element, "numFmt") or "decimal",
        text=value_of(element, "lvlText") or "",
        start=number(value_of(element, "start"), 1),
    )
