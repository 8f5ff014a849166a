"""The form of a backup: a plain tar that is written and read in one go, whatever its size.

    backup.json         what made it and what is in it (`Manifest`)
    database/000000 …   pieces of a dump of the database, in PostgreSQL's custom format
    data/…              small files that stand in the data folder itself
    files/…             stored files, under their storage keys
    SHA256SUMS          a checksum of each member before it, as `sha256sum --check` reads them

The last member is the proof that the archive is whole. The dump is compressed, files mostly are by what they are.
"""

import hashlib
import io
import re
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from stores.blobs.keys import checked_key
from tributary.domain.errors import Conflict, DamagedFile

#: Of the archive's form; a reader refuses what is newer.
FORMAT = 1
MANIFEST, SUMS = "backup.json", "SHA256SUMS"
DATABASE, DATA, FILES = "database/", "data/", "files/"
#: Bytes of the dump that one member holds, and so what writing takes of memory.
PIECE_BYTES = 8 * 2**20
_COPY_BYTES = 256 * 1024
_MANIFEST_BYTES = 2**20
_PIECE = re.compile(r"database/\d{6}")
#: Of a file in the data folder itself.
OWN_NAME = re.compile(r"\.?[a-z0-9][a-z0-9._-]{0,100}")


class Manifest(BaseModel):
    """What stands in `backup.json`."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)

    format: int = FORMAT
    #: Of Tributary.
    version: str
    #: Revision of the database's schema.
    schema_revision: str
    made_at: str
    #: Rows by table.
    rows: dict[str, int]
    #: How many files follow.
    files: int
    #: Storage keys whose bytes were gone before the backup began.
    missing: list[str]


@dataclass(frozen=True, slots=True)
class Member:
    """One entry while it is read: its bytes can be read once, before the next entry is asked for."""

    name: str
    content: IO[bytes]


class _Hashing(io.RawIOBase):
    """Reads from `source` and sums up what went through."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        piece = self._source.read(size)
        self.digest.update(piece)
        return piece


class ArchiveWriter:
    """Writes members in their order; `close` adds the checksums."""

    def __init__(self, file: IO[bytes]) -> None:
        self._tar = tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - `close` closes it
        self._sums = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it

    def add(self, name: str, content: IO[bytes], size: int) -> None:
        """Raises `OSError` when `content` has fewer than `size` bytes."""
        source = _Hashing(content)
        self._add(name, source, size)
        self._sums.write(f"{source.digest.hexdigest()}  {name}\n".encode())

    def add_bytes(self, name: str, data: bytes) -> None:
        self.add(name, io.BytesIO(data), len(data))

    def add_database(self, dump: IO[bytes]) -> None:
        """All of the dump, in pieces."""
        for number in count():
            piece = dump.read(PIECE_BYTES)
            if not piece:
                return
            self.add_bytes(f"{DATABASE}{number:06}", piece)

    def close(self) -> None:
        size = self._sums.tell()
        self._sums.seek(0)
        self._add(SUMS, self._sums, size)
        self._tar.close()
        self._sums.close()

    def abandon(self) -> None:
        self._sums.close()

    def _add(self, name: str, content: "IO[bytes] | _Hashing", size: int) -> None:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode = size, 0o600
        self._tar.addfile(entry, content)
        _forget(self._tar)


@contextmanager
def members(path: Path) -> Iterator[Iterator[Member]]:
    """The entries of an archive in their order.

    Raises:
        DamagedFile: it can't be read to its end, or holds what no backup holds.
    """
    try:
        with tarfile.open(path, mode="r|") as tar:
            yield _members(tar)
    except (tarfile.TarError, EOFError) as error:
        raise DamagedFile(f"{path.name} is no backup, or is cut off: {error}") from error


def _members(tar: tarfile.TarFile) -> Iterator[Member]:
    while (entry := tar.next()) is not None:
        if entry.type != tarfile.REGTYPE or entry.issparse() or not _known(entry.name):
            raise DamagedFile(f"The archive holds {entry.name!r}, which no backup holds")
        content = tar.extractfile(entry)
        assert content is not None, "a regular file has content"
        yield Member(entry.name, content)
        _forget(tar)


def _forget(tar: tarfile.TarFile) -> None:
    """It would keep each member in mind to its end."""
    tar.members.clear()  # type: ignore[attr-defined] # left out of typeshed


def _known(name: str) -> bool:
    """Whether a backup may have a member of this name. Storage keys have no part that is empty, hidden or `..`."""
    if name.startswith(FILES):
        try:
            checked_key(name.removeprefix(FILES))
        except ValueError:
            return False
        return True
    if name.startswith(DATA):
        return OWN_NAME.fullmatch(name.removeprefix(DATA)) is not None
    return name in (MANIFEST, SUMS) or _PIECE.fullmatch(name) is not None


def read_manifest(path: Path) -> Manifest:
    """What the archive says of itself, without reading on.

    Raises:
        DamagedFile: it says nothing that can be read.
        Conflict: its form is that of a newer version.
    """
    with members(path) as found:
        first = next(found, None)
        if first is None or first.name != MANIFEST:
            raise DamagedFile(f"{path.name} is no backup of Tributary")
        return _manifest(first.content.read(_MANIFEST_BYTES))


def _manifest(data: bytes) -> Manifest:
    try:
        manifest = Manifest.model_validate_json(data)
    except ValidationError as error:
        raise DamagedFile(f"The backup's {MANIFEST} is not as described") from error
    if manifest.format > FORMAT:
        raise Conflict(f"The backup was made by the newer version {manifest.version}: upgrade Tributary to restore it")
    return manifest


def verify(path: Path, *, told: Callable[[int], None] = lambda _: None) -> Manifest:
    """Reads the whole archive and compares it with its checksums; `told` hears of the bytes that were read.

    Raises:
        DamagedFile: something is missing, more than it should be, or changed.
        Conflict: its form is that of a newer version.
    """
    manifest = read_manifest(path)
    files = 0
    with tempfile.TemporaryFile() as sums, members(path) as found:
        for member in found:
            if member.name == SUMS:
                _compare(sums, member.content)
                break
            files += member.name.startswith(FILES)
            sums.write(f"{_sum(member.content, told)}  {member.name}\n".encode())
        else:
            raise DamagedFile("The backup is cut off: its checksums are missing")
        if next(found, None) is not None:
            raise DamagedFile("The backup goes on behind its end")
    if files != manifest.files:
        raise DamagedFile(f"The backup has {files} files in place of {manifest.files}")
    return manifest


def _sum(content: IO[bytes], told: Callable[[int], None]) -> str:
    digest = hashlib.sha256()
    while piece := content.read(_COPY_BYTES):
        digest.update(piece)
        told(len(piece))
    return digest.hexdigest()


def _compare(counted: IO[bytes], stored: IO[bytes]) -> None:
    counted.seek(0)
    for line in counted:
        if stored.read(len(line)) != line:
            name = line.decode().rstrip("\n").partition("  ")[2]
            raise DamagedFile(f"The backup is damaged: {name} is not what its checksum says")
    if stored.read(1):
        raise DamagedFile("The backup is damaged: members are missing")
