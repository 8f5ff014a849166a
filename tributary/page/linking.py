"""The page's modules as one file: a browser that asks for seventy one by one shows nothing before the last.

What is written stays what is served, module by module: this only puts each into a function of its own, and says `$need`
where it said `import`. It reads the forms of import and export that the page uses, and refuses others aloud. Modules
that load others late, by a call of `import`, get them from the same file, so that each runs once; what stands apart,
large things that few visits need, stays a request of its own.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import PurePosixPath

#: What is loaded late from here is not linked: formulas, highlighting.
APART = "vendor/"

# A word of its own; the letters come first, since a pattern that begins with letters is found ten times as fast.
_IMPORTS, _EXPORTS = r"import(?<![\w.$]import)", r"export(?<![\w.$]export)"
_FROM = r"""\s*from\s*["'](?P<source>\.{1,2}/[^"']+)["'];?"""
_IMPORT = re.compile(_IMPORTS + r"\s*(?:(?P<default>[\w$]+)|\*\s*as\s+(?P<whole>[\w$]+)|\{(?P<names>[^}]*)\})" + _FROM)
_BARE_IMPORT = re.compile(r"""^import\s*["'](?P<source>\.{1,2}/[^"']+)["'];?""", re.MULTILINE)
_PASSED_ON = re.compile(_EXPORTS + r"\s*\{(?P<names>[^}]*)\}" + _FROM)
_EXPORTED = re.compile(_EXPORTS + r"\s*\{(?P<names>[^}]*)\};?")
_DECLARED = re.compile(
    r"^export\s+(?P<declared>(?:(?:async\s+)?function\s*\*?\s*|class\s+|const\s+)(?P<name>[\w$]+))", re.MULTILINE
)
_DEFAULT = re.compile(_EXPORTS + r"\s+default\s+")
_LATE = re.compile(_IMPORTS + r"""\((?P<quote>["'`])(?P<source>\.{1,2}/[^"'`]+)(?P=quote)\)""")
_LEFT = re.compile(r"^(?:import|export)\b(?![(.]).*", re.MULTILINE)
_META = "import.meta.url"

_RUNTIME = """\
const $made = new Map();
function $need(name) {
  let out = $made.get(name);
  if (!out) $made.set(name, (out = {})), $modules[name](out);
  return out;
}
function $tell(out, told) {
  for (const name in told) Object.defineProperty(out, name, { get: told[name], enumerable: true });
}
const $late = async (name) => $need(name);
const $modules = {
"""


def linked(texts: Mapping[str, str], entry: str) -> str:
    """The entry with all that it loads, as one module. `texts` are modules by their paths.

    Raises:
        ValueError: a module imports what is not there, or in a form that is not read here.
    """
    names = reached(texts, entry)
    parts = [f"{_quoted(name)}($out) {{\n{_Module(name, texts, names).wrapped()}\n}},\n" for name in names]
    return f"{_RUNTIME}{''.join(parts)}}};\n$need({_quoted(entry)});\n"


def reached(texts: Mapping[str, str], entry: str) -> list[str]:
    """The modules that are linked, the entry first."""
    found: dict[str, None] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop(0)
        if name in found:
            continue
        if name not in texts:
            raise ValueError(f"a module imports {name}, which is not there")
        found[name] = None
        text, folder = texts[name], PurePosixPath(name).parent
        waiting += [
            joined(folder, match["source"])
            for pattern in (_IMPORT, _BARE_IMPORT, _PASSED_ON)
            for match in pattern.finditer(text)
        ]
        late = [joined(folder, match["source"]) for match in _LATE.finditer(text)]
        waiting += [each for each in late if not each.startswith(APART) and each in texts]
    return list(found)


def joined(folder: PurePosixPath, address: str) -> str:
    """The path of a module that one of this folder names."""
    parts: list[str] = []
    for part in (folder / address).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


class _Module:
    """One module on its way into a function's body."""

    def __init__(self, name: str, texts: Mapping[str, str], linked: Collection[str]) -> None:
        self._name = name
        self._text = texts[name]
        self._linked = linked
        self._told: list[str] = []

    def wrapped(self) -> str:
        text = _PASSED_ON.sub(self._passed_on, self._text)
        text = _IMPORT.sub(self._imported, text)
        text = _BARE_IMPORT.sub(lambda match: f"{self._need(match)};", text)
        text = _EXPORTED.sub(self._exported, text)
        text = _DECLARED.sub(self._declared, text)
        text = _DEFAULT.sub("$out.default = ", text)
        text = _LATE.sub(self._late, text)
        text = text.replace(_META, f"new URL({_quoted(self._name)}, {_META}).href")
        if left := _LEFT.search(text):
            raise ValueError(f"{self._name}: this form is not read: {left[0][:80]}")
        # First of all, for modules that import each other.
        return f"$tell($out, {{ {', '.join(self._told)} }});\n{text}"

    def _path(self, match: re.Match[str]) -> str:
        return joined(PurePosixPath(self._name).parent, match["source"])

    def _need(self, match: re.Match[str]) -> str:
        return f"$need({_quoted(self._path(match))})"

    def _imported(self, match: re.Match[str]) -> str:
        if match["default"]:
            return f"const {match['default']} = {self._need(match)}.default;"
        if match["whole"]:
            return f"const {match['whole']} = {self._need(match)};"
        names = ", ".join(f"{theirs}: {ours}" for theirs, ours in _pairs(match["names"]))
        return f"const {{ {names} }} = {self._need(match)};"

    def _passed_on(self, match: re.Match[str]) -> str:
        self._told += [f"{ours}: () => {self._need(match)}.{theirs}" for theirs, ours in _pairs(match["names"])]
        return f"{self._need(match)};"

    def _exported(self, match: re.Match[str]) -> str:
        self._told += [f"{theirs}: () => {ours}" for ours, theirs in _pairs(match["names"])]
        return ""

    def _declared(self, match: re.Match[str]) -> str:
        self._told.append(f"{match['name']}: () => {match['name']}")
        return match["declared"]

    def _late(self, match: re.Match[str]) -> str:
        path = self._path(match)
        if path in self._linked:
            return f"$late({_quoted(path)})"
        return f"import({match['quote']}./{path}{match['quote']})"


def _pairs(names: str) -> list[tuple[str, str]]:
    """`a, b as c` as what is named, and what it is named."""
    pairs = []
    for each in filter(None, (part.strip() for part in names.split(","))):
        first, _, second = each.partition(" as ")
        pairs.append((first.strip(), second.strip() or first.strip()))
    return pairs


def _quoted(name: str) -> str:
    return f'"{name}"'
