"""What paragraph styles say of a Word document's outline: headings, titles, code, tables of contents, numbering."""

import re
from dataclasses import dataclass

from tributary.files.parsing.xml import Element, attribute, child, children, number, value_of

_HEADING_NAME = re.compile(r"(?i)heading ?([1-9])$")
_CONTENTS_NAME = re.compile(r"(?i)(toc ?[1-9]|toc heading|table of figures)$")
_CODE_NAME = re.compile(r"(?i)(source )?code( block)?$|html preformatted$|preformatted text$|macro text$|verbatim$")
_BODY_LEVEL = 9


@dataclass(frozen=True, slots=True)
class Style:
    """`level` is the outline's, from 1, or 0 for body text; `list` and `depth` name the numbering that it brings."""

    name: str
    level: int = 0
    list: str = ""
    depth: int = 0

    @property
    def is_title(self) -> bool:
        return self.name.lower() == "title"

    @property
    def is_contents(self) -> bool:
        return _CONTENTS_NAME.match(self.name) is not None

    @property
    def is_code(self) -> bool:
        return _CODE_NAME.match(self.name) is not None


BODY = Style("")


class Styles:
    """The paragraph styles of a document by their id. A style has what it doesn't say from the one it is based on."""

    def __init__(self, root: Element | None) -> None:
        self._elements = {attribute(each, "styleId") or "": each for each in children(root, "style")}
        self._styles: dict[str, Style] = {"": BODY}

    def of(self, paragraph: Element) -> Style:
        """The paragraph's style, with the outline level that it gives itself."""
        properties = child(paragraph, "pPr")
        style = self._style(value_of(properties, "pStyle") or "", 0)
        own = value_of(properties, "outlineLvl")
        return style if own is None else Style(style.name, _level(own), style.list, style.depth)

    def _style(self, style_id: str, depth: int) -> Style:
        if style_id in self._styles or depth > 20:  # styles of strangers may be based on each other in a circle
            return self._styles.get(style_id, BODY)
        element = self._elements.get(style_id)
        name = value_of(element, "name") or style_id
        base = self._style(value_of(element, "basedOn") or "", depth + 1)
        outline = value_of(element, "pPr", "outlineLvl")
        named = _HEADING_NAME.match(name)
        level = _level(outline) if outline is not None else int(named[1]) if named else base.level
        list_id = value_of(element, "pPr", "numPr", "numId")
        own_depth = value_of(element, "pPr", "numPr", "ilvl")
        style = Style(
            name=name,
            level=level,
            list=base.list if list_id is None else list_id,
            depth=base.depth if own_depth is None else number(own_depth),
        )
        self._styles[style_id] = style
        return style


def _level(outline: str) -> int:
    level = number(outline, _BODY_LEVEL)
    return level + 1 if 0 <= level < _BODY_LEVEL else 0
