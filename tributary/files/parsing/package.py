"""Office documents as packages: ZIP archives of parts that relate to each other, read under bounds.

Each part is inflated by `zipfile`, which stops at the size that the archive declares; the declared sizes are bounded
before anything is read. So neither a bomb nor an archive that lies about its sizes takes more than these.
"""

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tributary.domain.errors import DamagedFile, FileTooLarge
from tributary.files.parsing.xml import MAX_XML_BYTES, Element, attribute, child, name_of, parse_xml

#: Bytes of all parts, inflated. A file as large as an upload may be holds pictures, which hardly deflate.
MAX_UNPACKED_BYTES = 512 * 2**20
MAX_PARTS = 20_000
_BLOCK = 2**20
_CONTENT_TYPES = "[content_types].xml"


@dataclass(frozen=True, slots=True)
class Relation:
    """What a part refers to: the last word of the relation's type, and the part's name; empty for what lies outside."""

    kind: str
    part: str


class Package:
    """An open package. Names of parts are without a leading slash, and equal whatever their case."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._members = {info.filename.lower().lstrip("/"): info for info in archive.infolist()}
        self._relations: dict[str, dict[str, Relation]] = {}

    def has(self, part: str) -> bool:
        return part.lower() in self._members

    def read(self, part: str, limit: int) -> bytes | None:
        """A part's bytes, or None where it is missing or larger than `limit`."""
        info = self._members.get(part.lower())
        if info is None or info.file_size > limit:
            return None
        with damaged_archive():
            return self._archive.read(info)

    def xml(self, part: str) -> Element | None:
        """A part's root element, or None where it is missing.

        Raises:
            DamagedFile, FileTooLarge: it can't be read.
        """
        info = self._members.get(part.lower())
        if info is None:
            return None
        if info.file_size > MAX_XML_BYTES:
            raise FileTooLarge(
                f"A part of the document has {info.file_size:,} bytes; {MAX_XML_BYTES:,} are read at most."
            )
        with damaged_archive():
            data = self._archive.read(info)
        return parse_xml(data) if data.strip() else None

    def relations(self, part: str) -> dict[str, Relation]:
        """What the part refers to, by the ids that it uses. The package itself is the part ``."""
        if part not in self._relations:
            self._relations[part] = dict(self._read_relations(part))
        return self._relations[part]

    def related(self, part: str, kind: str) -> list[str]:
        """The parts that `part` relates to in this way."""
        return [each.part for each in self.relations(part).values() if each.kind == kind and each.part]

    def main_part(self) -> str:
        """Raises `DamagedFile` where the package doesn't say which part the document is."""
        for part in self.related("", "officeDocument"):
            return part
        raise DamagedFile("The document is damaged: its main part is missing.")

    def content_type(self, part: str) -> str:
        """The declared content type of a part; nothing where there is none."""
        root = self.xml(_CONTENT_TYPES)
        default = ""
        for each in root if root is not None else ():
            declared = attribute(each, "ContentType") or ""
            if name_of(each) == "Override" and (attribute(each, "PartName") or "").lstrip("/").lower() == part.lower():
                return declared
            if (attribute(each, "Extension") or "\0").lower() == part.rpartition(".")[2].lower():
                default = declared
        return default

    def title(self) -> str:
        """The title in the document's properties."""
        for part in self.related("", "core-properties"):
            found = child(self.xml(part), "title")
            return (found.text or "") if found is not None else ""
        return ""

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        """Every part once, inflated block by block, with its name: for readers that open the archive themselves, and
        believe what it declares.

        Raises:
            DamagedFile: a part is not as declared.
        """
        with damaged_archive():
            for name, info in self._members.items():
                with self._archive.open(info) as member:
                    while block := member.read(_BLOCK):
                        yield name, block

    def _read_relations(self, part: str) -> Iterator[tuple[str, Relation]]:
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        for each in root if root is not None else ():
            target = attribute(each, "Target") or ""
            outside = (attribute(each, "TargetMode") or "").lower() == "external"
            path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
            kind = (attribute(each, "Type") or "").rpartition("/")[2]
            yield attribute(each, "Id") or "", Relation(kind, "" if outside else path)


@contextmanager
def open_package(source: Path | IO[bytes]) -> Iterator[Package]:
    """The package in a file.

    Raises:
        DamagedFile: it is no archive that can be read, or its members are encrypted.
        FileTooLarge: its parts, inflated, are more than `MAX_UNPACKED_BYTES`, or there are more than `MAX_PARTS`.
    """
    with damaged_archive():
        archive = zipfile.ZipFile(source)
    with archive:
        members = archive.infolist()
        unpacked = sum(info.file_size for info in members)
        if unpacked > MAX_UNPACKED_BYTES or len(members) > MAX_PARTS:
            raise FileTooLarge(
                f"The document unpacks to {unpacked:,} bytes in {len(members):,} parts; "
                f"{MAX_UNPACKED_BYTES:,} bytes in {MAX_PARTS:,} parts are read at most."
            )
        if any(info.flag_bits & 1 for info in members):
            raise DamagedFile("The document is protected by a password and can't be read without it.")
        yield Package(archive)


@contextmanager
def damaged_archive() -> Iterator[None]:
    """What goes wrong while members are inflated, in our words."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, KeyError) as error:
        raise DamagedFile("The document is damaged: its archive can't be unpacked.") from error
