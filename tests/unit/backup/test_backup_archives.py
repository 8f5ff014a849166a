"""The form of a backup: what is written reads back, and what was tampered with is told."""

import hashlib
import io
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from tributary.backup import archives
from tributary.backup.archives import MANIFEST, SUMS, ArchiveWriter, Manifest, members, read_manifest, verify
from tributary.domain.errors import Conflict, DamagedFile

FILE = "files/documents/a/b"


def manifest(**changes: object) -> Manifest:
    values = {"version": "1", "schema_revision": "r0001", "made_at": "now", "rows": {}, "files": 1, "missing": []}
    return Manifest.model_validate(values | changes)


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole one of three pieces of a dump and one file."""
    monkeypatch.setattr(archives, "PIECE_BYTES", 5_000)
    path = tmp_path / "backup.tar"
    with path.open("wb") as file:
        writer = ArchiveWriter(file)
        writer.add_bytes(MANIFEST, manifest().model_dump_json(by_alias=True).encode())
        writer.add_database(io.BytesIO(b"d" * (2 * archives.PIECE_BYTES + 1)))
        writer.add_bytes(FILE, b"the bytes")
        writer.close()
    return path


def write(path: Path, entries: Sequence[tuple[str | tarfile.TarInfo, bytes]]) -> Path:
    """An archive that somebody else made, with the checksums that belong to it."""
    sums = "".join(f"{hashlib.sha256(data).hexdigest()}  {_info(name).name}\n" for name, data in entries)
    with tarfile.open(path, "w") as tar:
        for name, data in (*entries, (SUMS, sums.encode())):
            entry = _info(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return path


def _info(name: str | tarfile.TarInfo) -> tarfile.TarInfo:
    return name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)


def test_an_archive_reads_back_member_by_member(archive: Path) -> None:
    with members(archive) as found:
        read = [(member.name, len(member.content.read())) for member in found]
    piece = archives.PIECE_BYTES
    assert [(name, size) for name, size in read if name not in (MANIFEST, SUMS)] == [
        *(("database/000000", piece), ("database/000001", piece), ("database/000002", 1)),
        (FILE, 9),
    ]
    assert verify(archive) == read_manifest(archive) == manifest()


def test_an_archive_can_be_checked_with_common_tools(archive: Path, tmp_path: Path) -> None:
    subprocess.run(["tar", "xf", archive], cwd=tmp_path, check=True)
    subprocess.run(["sha256sum", "--check", "--quiet", SUMS], cwd=tmp_path, check=True)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9, 0.999])
def test_an_archive_that_is_cut_off_is_told(archive: Path, share: float) -> None:
    data = archive.read_bytes()
    # A tar ends in blocks of zeros, without which it still is whole.
    archive.write_bytes(data[: int(len(data.rstrip(b"\0")) * share)])
    with pytest.raises(DamagedFile):
        verify(archive)


@pytest.mark.parametrize("place", [b"the bytes", b"d" * 100, b'"r0001"', FILE.encode()])
def test_one_changed_byte_is_told(archive: Path, place: bytes) -> None:
    data = bytearray(archive.read_bytes())
    data[data.index(place) + 1] ^= 1
    archive.write_bytes(data)
    with pytest.raises(DamagedFile):
        verify(archive)


@pytest.mark.parametrize(
    "name",
    [
        *("files/../../etc/passwd", "/etc/passwd", "files//etc/passwd", "../x", "files/.hidden", "files/a/./b"),
        *("data/../x", "data/a/b", "data/", "database/1", "database/000000/x", "other", "files/a\\b", "files/A"),
    ],
)
def test_a_member_under_a_name_that_is_not_ours_is_refused(tmp_path: Path, name: str) -> None:
    data = manifest().model_dump_json(by_alias=True).encode()
    with pytest.raises(DamagedFile, match="which no backup holds"):
        verify(write(tmp_path / "evil.tar", [(MANIFEST, data), (name, b"x")]))


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_member_that_is_no_plain_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    entry = tarfile.TarInfo(FILE)
    entry.type, entry.linkname = kind, "/etc/passwd"
    data = manifest().model_dump_json(by_alias=True).encode()
    with pytest.raises(DamagedFile):
        verify(write(tmp_path / "evil.tar", [(MANIFEST, data), (entry, b"")]))


def test_files_that_were_left_out_are_told(tmp_path: Path) -> None:
    data = manifest(files=2).model_dump_json(by_alias=True).encode()
    with pytest.raises(DamagedFile, match="1 files in place of 2"):
        verify(write(tmp_path / "short.tar", [(MANIFEST, data), (FILE, b"x")]))


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("notes")
    for path in (text, write(tmp_path / "other.tar", [(FILE, b"x")])):
        with pytest.raises(DamagedFile, match="is no backup"):
            verify(path)


def test_a_newer_form_is_refused_by_its_version(tmp_path: Path) -> None:
    data = manifest(format=2, version="9.9").model_dump_json(by_alias=True).encode()
    with pytest.raises(Conflict, match=r"newer version 9\.9"):
        verify(write(tmp_path / "new.tar", [(MANIFEST, data), (FILE, b"x")]))
