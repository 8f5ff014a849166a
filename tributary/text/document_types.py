"""What kind of document a text is, by its name and its form: an honest guess, "document" where nothing tells."""

import re
from collections.abc import Callable, Sequence
from pathlib import PurePath

from tributary.text.lines import is_code, is_table_row
from tributary.text.samples import sample_text
from tributary.text.wordlists import word_set

_READ = 40_000
_EXTENSIONS = {
    "image": word_set("jpg jpeg png webp gif bmp tif tiff svg"),
    "table": word_set("csv tsv xls xlsx ods"),
    "code": word_set(
        "py js ts java c h cpp hpp cs go rs rb php sh sql swift kt scala css json yaml yml toml xml ipynb"
    ),
}
#: In the name one word is enough. German, French, Spanish and Russian beside English.
_NAMES = {
    "faq": r"faqs?|q&a|questions",
    "policy": r"polic(?:y|ies)|terms|privacy|richtlinien?|politique|pol[ií]ticas?|политика",
    "manual": r"manuals?|handbook|guides?|instructions?|tutorials?|howto|readme|handbuch|anleitung|manuel|руководство",
    "report": r"reports?|whitepaper|bericht|rapport|informe|отч[её]т",
    "notes": r"notes?|minutes|todo|journal|notizen|protokoll|notas|заметки",
    "article": r"articles?|papers?|essay|blog",
}
#: In the text several must come together.
_CONTENTS = {
    "policy": r"\b(?:polic(?:y|ies)|must not|shall|comply|compliance|violations?|disciplinary|eligib\w+|confidential\w*"
    r"|richtlinie|politique|pol[ií]tica)\b",
    "manual": r"\b(?:step \d|click|install\w*|configur\w+|select|press|troubleshoot\w*|set up|how to|installieren"
    r"|klicken|cliquez|haga clic|нажмите)\b|^\s*\d+[.)] [A-Z]",
    "report": r"\b(?:executive summary|findings|quarter(?:ly)?|fiscal|revenue|recommendations|year over year|figure \d"
    r"|ergebnisse|résultats|resultados)\b",
    "article": r"\b(?:abstract|introduction|related work|references|et al\.?|doi|keywords|methods|conclusions?)\b",
}
_ITEM = re.compile(r"\s*(?:[-*+•]|\[[ x]\]|\d{1,3}[.)])\s")
#: Marks per thousand characters from which the wording decides, and marks at least.
_DENSE = 1.5
_FEW = 4


def document_type(text: str, filename: str) -> str:
    """One of "manual", "report", "policy", "faq", "article", "code", "table", "notes", "image", "document"."""
    path = PurePath(filename.casefold())
    extension = path.suffix.removeprefix(".")
    for kind, extensions in _EXTENSIONS.items():
        if extension in extensions:
            return kind
    for kind, words in _NAMES.items():
        if re.search(rf"(?<![^\W_])(?:{words})(?![^\W_])", path.stem):
            return kind
    read = sample_text(text, _READ)
    lines = [line for line in map(str.strip, read.splitlines()) if line]
    return _by_lines(lines) or _by_wording(read) or _by_prose(lines)


def _by_lines(lines: Sequence[str]) -> str:
    def share(test: Callable[[str], object]) -> float:
        return sum(1 for line in lines if test(line)) / len(lines)

    if not lines:
        return "document"
    if share(is_table_row) > 0.5:
        return "table"
    if share(is_code) > 0.4:
        return "code"
    questions = sum(line.endswith(("?", "？", "؟")) for line in lines)
    if questions >= 3 and questions / len(lines) > 0.1:
        return "faq"
    return "notes" if len(lines) > 3 and share(_ITEM.match) > 0.6 else ""


def _by_wording(text: str) -> str:
    counts = {kind: len(re.findall(pattern, text, re.IGNORECASE | re.MULTILINE)) for kind, pattern in _CONTENTS.items()}
    best = max(counts, key=lambda kind: counts[kind])
    dense = counts[best] >= _FEW and counts[best] * 1000 >= _DENSE * len(text)
    return best if dense else ""


def _by_prose(lines: Sequence[str]) -> str:
    """Long running prose is an article; a page of it, or less, is just a document."""
    size = sum(map(len, lines))
    return "article" if size > 3000 and size / len(lines) > 120 else "document"
