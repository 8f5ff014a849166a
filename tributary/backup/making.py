"""Making a backup, beside whoever serves."""

import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from stores.blobs.pins import Pins
from stores.postgres.dumps import Snapshot, snapshot
from stores.postgres.embedded import EmbeddedPostgres
from stores.postgres.migrate import require_known
from tributary import __version__
from tributary.backup.archives import DATA, FILES, MANIFEST, ArchiveWriter, Manifest
from tributary.backup.marks import own_files, require_whole
from tributary.domain.errors import Conflict, DependencyUnavailable
from tributary.settings import Settings

logger = logging.getLogger(__name__)

#: Looks at the database and its files before a backup gives in. Each but the first is needed only where a document
#: was stored and deleted again between two of them.
ROUNDS = 20

Told = Callable[[str], None]


def make_backup(settings: Settings, target: Path, *, told: Told = lambda _: None) -> Manifest:
    """Writes the database and the stored files of the data folder into `target`, as they are at one moment.

    `target` appears when it is whole, and only for its owner; `told` hears what is being done.

    Raises:
        Conflict: `target` exists, the database is not the embedded one, there is none, or a newer version made it.
        DependencyUnavailable: the target can't be written, or PostgreSQL failed.
    """
    _require_embedded(settings)
    with ExitStack() as stack:
        file = stack.enter_context(_appearing(target))
        embedded = stack.enter_context(EmbeddedPostgres(settings.data / "postgres"))
        pins = Pins(settings.files)
        stack.callback(pins.remove)
        told("Looking at the database and its files")
        moment, missing = stack.enter_context(_moment(embedded, pins))
        manifest = Manifest(
            version=__version__,
            schema_revision=moment.revision,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            rows=moment.rows,
            files=pins.count(),
            missing=sorted(missing),
        )
        _write(file, manifest, moment, pins, settings.data, told)
    return manifest


def _require_embedded(settings: Settings) -> None:
    if settings.database_url is not None:
        raise Conflict(
            "DATABASE_URL is set, and backup covers the embedded database: use pg_dump, and copy the files of "
            f"{settings.files} after it"
        )
    require_whole(settings.data)
    if not (settings.data / "postgres" / "PG_VERSION").is_file():
        raise Conflict(f"There is nothing to back up in {settings.data}")


@contextmanager
def _moment(embedded: EmbeddedPostgres, pins: Pins) -> Iterator[tuple[Snapshot, set[str]]]:
    """A moment all of whose files are pinned, and the keys of those that were gone long before.

    A file is deleted after its row: what a row speaks of is there, or the row goes as well, and the next look does not
    find it. A file that is missing in two looks at a row that stayed is lost.
    """
    missing: set[str] | None = None
    for _ in range(ROUNDS):
        with snapshot(embedded.dsn, embedded.tools) as moment:
            require_known(moment.revision)
            gone = pins.pin(moment.storage_keys())
            if not gone or (missing is not None and gone <= missing):
                yield moment, gone
                return
            missing = gone
    raise DependencyUnavailable("Documents come and go too fast for a backup: try again when it is quieter")


def _write(file: IO[bytes], manifest: Manifest, moment: Snapshot, pins: Pins, data: Path, told: Told) -> None:
    writer = ArchiveWriter(file)
    try:
        writer.add_bytes(MANIFEST, manifest.model_dump_json(by_alias=True, indent=2).encode())
        told("Writing the database")
        with moment.dump() as dump:
            writer.add_database(dump)
        # From here on no snapshot holds up the clearing of old rows.
        moment.connection.close()
        for path in own_files(data):
            writer.add_bytes(f"{DATA}{path.name}", path.read_bytes())
        for number, pinned in enumerate(pins.pinned(), 1):
            if number % 100 == 1:
                told(f"Writing file {number} of {manifest.files}")
            with pinned.path.open("rb") as content:
                writer.add(f"{FILES}{pinned.key}", content, pinned.size)
        writer.close()
    finally:
        writer.abandon()


@contextmanager
def _appearing(target: Path) -> Iterator[IO[bytes]]:
    """A file that is at `target` when the block has come to its end, and nowhere when it has not."""
    if target.exists():
        raise Conflict(f"{target} exists: a backup overwrites nothing")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _place(beside, target)
    except OSError as error:
        raise DependencyUnavailable(f"The backup can't be written: {error}") from error
    finally:
        beside.unlink(missing_ok=True)


def _place(beside: Path, target: Path) -> None:
    """Under its name, unless somebody else took it meanwhile."""
    try:
        os.link(beside, target)
    except FileExistsError as error:
        raise Conflict(f"{target} exists: a backup overwrites nothing") from error
    except OSError:  # a file system without links
        beside.replace(target)
