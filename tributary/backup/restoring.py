"""Making a data folder from a backup."""

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from stores.blobs.keys import checked_key
from stores.postgres.dumps import finish_restoring, restoring
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import head, migrate
from tributary.backup.archives import DATA, DATABASE, FILES, Manifest, Member, members, read_manifest, verify
from tributary.backup.marks import MARK
from tributary.domain.errors import Conflict, DependencyUnavailable, NotFound
from tributary.files.durable import disk_errors
from tributary.settings import Settings

Told = Callable[[str], None]

_MEGABYTE = 2**20
_COPY_BYTES = 256 * 1024
#: What an empty volume has of its own.
_OF_THE_FILE_SYSTEM = frozenset({"lost+found"})


def check_backup(source: Path, *, told: Told = lambda _: None) -> Manifest:
    """Reads all of a backup and says what is in it.

    Raises:
        NotFound: there is no such file.
        DamagedFile: it is not whole.
        Conflict: a newer version made it.
        DependencyUnavailable: it can't be read.
    """
    if not source.is_file():
        raise NotFound("backup", source)
    with _reading(source):
        manifest = read_manifest(source)
        if manifest.schema_revision > head():
            raise Conflict(
                f"The backup was made by the newer version {manifest.version} (schema {manifest.schema_revision}; this "
                f"one knows {head()}): upgrade Tributary to restore it"
            )
        return verify(source, told=_progress(source, told))


def restore_backup(settings: Settings, source: Path, *, told: Told = lambda _: None) -> Manifest:
    """Makes the data folder, which is empty or not there, from a backup; an older version's is brought to this one's
    schema. The whole archive is checked before anything is written. A restore that fails leaves the folder as it was.

    Raises:
        NotFound, DamagedFile: as `check_backup`.
        Conflict: the folder holds something, the database is not the embedded one, or a newer version made the backup.
        DependencyUnavailable: the folder can't be written, or PostgreSQL failed.
    """
    if settings.database_url is not None:
        raise Conflict("DATABASE_URL is set, and restore fills the embedded database: use pg_restore")
    with disk_errors():
        _require_empty(settings.data)
    manifest = check_backup(source, told=told)
    with _filling(settings.data):
        told("Restoring the database")
        with EmbeddedPostgres(settings.data / "postgres") as embedded:
            _fill(source, settings, embedded, told)
            finish_restoring(embedded.dsn, manifest.rows)
            asyncio.run(migrate(embedded.dsn, embedded.dsn))
        os.sync()
    return manifest


def _require_empty(data: Path) -> None:
    if data.is_dir():
        held = sorted({entry.name for entry in data.iterdir()} - _OF_THE_FILE_SYSTEM)
        if held:
            raise Conflict(f"{data} is not empty ({', '.join(held[:5])}): a backup is restored into an empty folder")
    elif data.exists():
        raise Conflict(f"{data} is no folder")


@contextmanager
def _reading(source: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DependencyUnavailable(f"{source} can't be read: {error.strerror or error}") from error


@contextmanager
def _filling(data: Path) -> Iterator[None]:
    """Marks the folder as one that is being filled. A block that does not come to its end leaves nothing in it."""
    existed = data.is_dir()
    try:
        data.mkdir(parents=True, exist_ok=True)
        with (data / MARK).open("x"):
            pass
    except FileExistsError as error:
        raise Conflict(f"Another restore into {data} is at work") from error
    except OSError as error:
        raise DependencyUnavailable(f"{data} can't be written: {error.strerror or error}") from error
    done = False
    try:
        yield
        done = True
    except OSError as error:
        raise DependencyUnavailable(f"The backup can't be restored: {error}") from error
    finally:
        if not done:
            _clear(data)
        (data / MARK).unlink(missing_ok=True)
        if not done and not existed:
            data.rmdir()


def _clear(data: Path) -> None:
    """Takes away again what was put into a folder that was empty."""
    for entry in data.iterdir():
        if entry.name in _OF_THE_FILE_SYSTEM or entry.name == MARK:
            continue
        if entry.is_dir():
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink()


def _fill(source: Path, settings: Settings, embedded: EmbeddedPostgres, told: Told) -> None:
    """The members in their order: the pieces of the dump come before the files."""
    with members(source) as found:
        with restoring(embedded.dsn, embedded.tools) as dump:
            rest = _first_after_dump(found, dump.write)
        told("Restoring the files")
        while rest is not None:
            if rest.name.startswith(FILES):
                _put(settings.files / "blobs" / checked_key(rest.name.removeprefix(FILES)), rest)
            elif rest.name.startswith(DATA):
                _put(settings.data / rest.name.removeprefix(DATA), rest)
            rest = next(found, None)


def _first_after_dump(found: Iterator[Member], write: Callable[[bytes], object]) -> Member | None:
    next(found)  # the manifest
    for member in found:
        if not member.name.startswith(DATABASE):
            return member
        while piece := member.content.read(_COPY_BYTES):
            write(piece)
    return None


def _put(target: Path, member: Member) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as file:
        shutil.copyfileobj(member.content, file, _COPY_BYTES)


def _progress(source: Path, told: Told) -> Callable[[int], None]:
    size = source.stat().st_size // _MEGABYTE
    read = 0

    def count(piece: int) -> None:
        nonlocal read
        before, read = read // _MEGABYTE, read + piece
        if read // _MEGABYTE != before:
            told(f"Checking the backup: {read // _MEGABYTE} of {size} MB")

    return count
