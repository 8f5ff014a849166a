"""The words of a Word paragraph: without deleted and hidden ones, field codes and comments."""

from collections.abc import Callable
from dataclasses import dataclass, field

from tributary.files.parsing.xml import Element, attribute, child, is_on, name_of

#: Elements whose text is no text of the document. Deleted text stands in `del` and `moveFrom`, a field's code in
#: `instrText`, the reading aids of East Asian texts in `rt`, what old readers show instead of a drawing in `Fallback`.
_SKIPPED_NAMES = """
    del moveFrom pPr rPr instrText delText delInstrText Fallback sdtPr sdtEndPr rt ffData fldData tcPr trPr tblPr
    sectPr oMathParaPr ctrlPr commentReference annotationRef
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_PICTURED = frozenset({"drawing", "pict", "object"})
_PRIVATE = range(0xE000, 0xF900)


@dataclass(slots=True)
class Words:
    """What was read of a paragraph: its text, the drawings in it, and the notes that it refers to, in order."""

    parts: list[str] = field(default_factory=list)
    drawings: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.parts)


class WordReader:
    """Reads the words of paragraphs of one document. `mark` makes the mark of a note, by its kind and id."""

    def __init__(self, mark: Callable[[str, str], str]) -> None:
        self._mark = mark

    def read(self, element: Element) -> Words:
        words = Words()
        self._read(element, words)
        return words

    def _read(self, element: Element, words: Words) -> None:
        for each in element:
            name = name_of(each)
            if name in _SKIPPED:
                continue
            if name == "t":
                words.parts.append(each.text or "")
            elif name in _PICTURED:
                words.drawings.append(each)
            elif name in _SIGNS:
                words.parts.append(_SIGNS[name](each))
            elif name in {"footnoteReference", "endnoteReference"}:
                self._refer(name.removesuffix("Reference"), each, words)
            elif not _is_hidden(name, each):
                self._read(each, words)

    def _refer(self, kind: str, reference: Element, words: Words) -> None:
        note = attribute(reference, "id") or ""
        words.notes.append((kind, note))
        words.parts.append(self._mark(kind, note))


def _is_hidden(name: str, element: Element) -> bool:
    if name == "r":
        return is_on(child(element, "rPr"), "vanish")
    # What a form shows before anybody filled it in is no text of the document.
    return name == "sdt" and child(element, "sdtPr", "showingPlcHdr") is not None


def _symbol(element: Element) -> str:
    try:
        code = int(attribute(element, "char") or "", 16)
    except ValueError:
        return ""
    return chr(code) if 0x20 <= code < 0xD800 and code not in _PRIVATE else ""


_SIGNS: dict[str, Callable[[Element], str]] = {
    "tab": lambda _: "\t",
    "ptab": lambda _: "\t",
    "br": lambda _: "\n",
    "cr": lambda _: "\n",
    "noBreakHyphen": lambda _: "-",
    "softHyphen": lambda _: "",
    "sym": _symbol,
}
