"""What stands in a data folder beside the database and the stored files."""

from collections.abc import Iterator
from pathlib import Path

from tributary.backup.archives import OWN_NAME
from tributary.domain.errors import Conflict

#: Of a folder that a restore is filling: until it is done, the folder is nobody's to use.
MARK = ".restoring"
_OWN_BYTES = 2**20
#: Logs, and backups that somebody puts here, the one that is being written among them.
_OF_OTHERS = frozenset({".log", ".tar", ".part"})


def require_whole(data: Path) -> None:
    """Raises `Conflict` where a restore is at work, or was cut off."""
    if (data / MARK).exists():
        raise Conflict(
            f"A backup is being restored into {data}, or a restore was cut off there: wait for its end, or empty the "
            "folder and restore again"
        )


def own_files(data: Path) -> Iterator[Path]:
    """The small files of the folder itself: marks, and what else is remembered there."""
    for path in sorted(data.iterdir()):
        if not OWN_NAME.fullmatch(path.name) or path.name == MARK or path.suffix in _OF_OTHERS:
            continue
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _OWN_BYTES:
            yield path
