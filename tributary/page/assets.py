"""The files of the page, held in memory once somebody asks for them, under addresses that name their content."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tributary.page.linking import linked

STATIC = Path(__file__).with_name("static")
INDEX = "index.html"
#: Where the page begins; and all of its modules, and all of its styles, as the one file that browsers ask for.
ENTRY, SCRIPT, STYLE = "app.js", "page.js", "page.css"
#: In the order in which they count.
STYLES = tuple(f"styles/{name}.css" for name in ("tokens", "base", "shell", "chat", "knowledge", "prose", "records"))
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
    index = files.pop(INDEX).body.decode()
    texts = {name: asset.body.decode() for name, asset in files.items() if name.endswith(".js")}
    styles = "\n".join(files[name].body.decode() for name in STYLES)
    files[SCRIPT] = Asset(linked(texts, ENTRY).encode(), TYPES[".js"])
    files[STYLE] = Asset(styles.encode(), TYPES[".css"])
    digest = hashlib.sha256()
    for name, asset in files.items():
        digest.update(f"{name} {asset.tag}\n".encode())
    address = f"page/{digest.hexdigest()[:16]}/"
    return Assets(files, digest.hexdigest()[:16], Asset(index.replace("{{page}}", address).encode(), TYPES[".html"]))
