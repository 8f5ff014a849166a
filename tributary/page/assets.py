"""The files of the page, held in memory once somebody asks for them, under addresses that name their content."""

import gzip
import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

STATIC = Path(__file__).with_name("static")
INDEX = "index.html"
#: What a first visit needs before it shows anything: these, and what they import.
ENTRIES = ("app.js", "rooms/chat/room.js")
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
#: Bytes below which packing saves nothing.
_SMALL = 1_000
#: Of a module: static imports, and what it passes on. Calls of `import` wait until they are made.
_IMPORT = re.compile(r"""(?<![\w.$])(?:import|export)\b[^;'"()]*?["'](\.{1,2}/[^"']+)["']""")


@dataclass(frozen=True)
class Asset:
    """A file as it is served."""

    body: bytes
    media_type: str

    @cached_property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'

    @cached_property
    def packed(self) -> bytes | None:
        """The same in gzip; None where that is not smaller by a tenth. CPU work of some milliseconds, once."""
        if len(self.body) < _SMALL or self.media_type == TYPES[".woff2"]:
            return None
        packed = gzip.compress(self.body, compresslevel=9, mtime=0)
        return packed if len(packed) < len(self.body) * 0.9 else None


@dataclass(frozen=True)
class Assets:
    """All files of one state of the page. `digest` names that state, so that a file's address never changes what it
    means, and browsers keep it for good."""

    files: dict[str, Asset]
    digest: str
    index: Asset


class Page:
    """The page in a folder. It is read anew when a file of it changes: whoever works on it only reloads."""

    def __init__(self, folder: Path = STATIC) -> None:
        self._folder = folder
        self._read: tuple[frozenset[tuple[str, int, int]], Assets] | None = None

    def current(self) -> Assets:
        """Reads the disk: a look at each file of the folder, and all of them where one has changed."""
        state = frozenset(
            (path.as_posix(), stat.st_mtime_ns, stat.st_size)
            for path in self._folder.rglob("*")
            if path.suffix in TYPES and (stat := path.stat())
        )
        if self._read is None or self._read[0] != state:
            self._read = state, _read(self._folder)
        return self._read[1]

    def known(self) -> Assets:
        """The state that was served last, without a look at the disk where there is one."""
        return self._read[1] if self._read else self.current()


def _read(folder: Path) -> Assets:
    files = {
        path.relative_to(folder).as_posix(): Asset(path.read_bytes(), TYPES[path.suffix])
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES
    }
    digest = hashlib.sha256()
    for name, asset in files.items():
        digest.update(f"{name} {asset.tag}\n".encode())
    address = f"page/{digest.hexdigest()[:16]}/"
    preloads = "\n".join(f'<link rel="modulepreload" href="{address}{name}">' for name in imported(files, *ENTRIES))
    text = files.pop(INDEX).body.decode().replace("{{page}}", address).replace("{{preloads}}", preloads)
    return Assets(files, digest.hexdigest()[:16], Asset(text.encode(), TYPES[".html"]))


def imported(files: dict[str, Asset], *entries: str) -> list[str]:
    """The modules that the entries import, themselves included, by static imports of whatever depth."""
    found: list[str] = []
    waiting = list(entries)
    while waiting:
        name = waiting.pop(0)
        if name in found or name not in files:
            continue
        found.append(name)
        text = files[name].body.decode()
        waiting += [_joined(PurePosixPath(name).parent, each) for each in _IMPORT.findall(text)]
    return found


def _joined(folder: PurePosixPath, address: str) -> str:
    parts: list[str] = []
    for part in (folder / address).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
